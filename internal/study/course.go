package study

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"covey/internal/linalg"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/standardize"
)

// Course is where a study stands: the next query, and everything that its releases so
// far decide about it. A Course is never changed: Next gives a new one, so that its
// slices may be shared.
type Course struct {
	Query int `json:"query"` // len(Plan.Queries) when nothing is left to ask
	// History is the link of the last release, or the study's digest before the first. A release
	// holds the link before it, so that one link stands for all releases up to it.
	History proposal.Digest `json:"history"`
	// X is the block in force, as in Ask: x_t, and after the last step the components.
	X      []float64 `json:"x,omitempty"`
	Center []float64 `json:"center,omitempty"` // released so far
	Found  []float64 `json:"found,omitempty"`  // by deflation, so far
	Scale  []float64 `json:"scale,omitempty"`  // learned so far, as in Ask
	// Observed is the share of rows in which each coordinate has a value, as far as the released
	// count says; empty where none is released.
	Observed []float64 `json:"observed,omitempty"`
	// Deviations are those of scores on the components, by released variances, where the study has
	// pictures; empty before they are released.
	Deviations []float64 `json:"deviations,omitempty"`
	// Columns are what is known of each column where constants are learned.
	Columns []standardize.Column `json:"columns,omitempty"`
	// Radii are in force, by the kind of sum. A kind that is not there has none yet.
	Radii map[Kind]float64 `json:"radii,omitempty"`
	// Lambda is the private Λ, 0 before it is chosen.
	Lambda float64 `json:"lambda,omitempty"`
	// Method is decided: MethodPower or MethodCovariance. Empty before auto decides.
	Method string `json:"method,omitempty"`
	// PerUnit is the released mean of kept rows per unit; 0 where each unit is a row and all are
	// kept.
	PerUnit float64 `json:"per_unit,omitempty"`
	// End is set where a released value says that the study cannot go on.
	End Code `json:"end,omitempty"`
}

// defaultRadius is in force where noise left nothing of a histogram.
const defaultRadius = 1

// Start is the course before the first query.
func (p *Plan) Start() Course {
	c := Course{History: p.Digest, X: p.startBlock(0, nil), Radii: map[Kind]float64{}, Method: p.method()}
	if c.Method == proposal.MethodAuto {
		c.Method = ""
	}
	for _, q := range p.Queries {
		if r, public := p.publicRadius(q.Kind); public {
			c.Radii[q.Kind] = r
		}
	}
	return c
}

// Next returns the course after the release of its query. earlier are the releases before it, in
// order: all, or those that Earlier lists. Every site runs it: whoever holds the same releases
// finds the same, but for the last digits of what CheckCourse compares.
func (p *Plan) Next(c Course, r Release, earlier []Release) (Course, error) {
	if r.Query != c.Query || c.Query >= len(p.Queries) || len(r.Noised) != p.Noise.released(p.Queries[c.Query]) {
		return Course{}, mismatch(r.Query, "query", "is not the one that is due, %d, or has %d values", c.Query, len(r.Noised))
	}
	link, err := r.link()
	if err != nil {
		return Course{}, err
	}
	c.History = link
	q := p.Queries[r.Query]
	radii := make(map[Kind]float64) // also where a snapshot left an empty one out
	maps.Copy(radii, c.Radii)
	c.Radii = radii
	t := transition{p, q, r, earlier, &c}
	switch q.Kind {
	case KindHistogram:
		t.radius()
	case KindRows:
		t.rows()
	case KindFilled:
		t.filled()
	case KindMean:
		t.center()
	case KindLevels:
		t.levels()
	case KindOctaves, KindTree, KindMoments:
		t.learn()
	case KindLambda, KindSelect:
		t.lambda()
	case KindPower:
		err = t.step()
	case KindMoment:
		err = t.moment()
	case KindVariance:
		t.variance()
	}
	if err != nil {
		return Course{}, err
	}
	if c.Method == "" && q.Of == KindPower && q.Round == p.decideRound() {
		c.Method, _ = p.decide(c.Radii)
	}
	c.Query = p.Queries.after(r.Query, c.Method)
	return c, nil
}

// transition is what a release makes of the course before it.
type transition struct {
	*Plan
	q       Query
	r       Release // of q
	earlier []Release
	c       *Course // becomes the next
}

// The quantiles of power steps. A clip of |yᵀx|·‖y‖ at 0.9 costs a direction little; on the sphere,
// where no row is longer than others, neither does 0.75.
const (
	powerPlain  = 0.9
	powerSphere = 0.75
)

// radius reads radii off a histogram. A variance is biased by whatever is clipped, so its bound
// lies beyond the last bin that stands out of the noise.
func (t *transition) radius() {
	c, q, r := t.c, t.q, t.r
	set := func(k Kind, edge float64) {
		switch {
		case edge > 0:
			c.Radii[k] = edge
		case c.Radii[k] == 0:
			c.Radii[k] = defaultRadius
		}
	}
	units := int(float64(r.Units) / r.Grid) // in the grid steps of the counts
	// of the kept rows: the others are in the lowest bin
	quantile := func(q float64) float64 {
		return quantileRadius(r.Noised, r.Spread(), 1-(1-q)*t.kept(), units)
	}
	last := 2 * quantileRadius(r.Noised, r.Spread(), 1, units)
	switch q.Of {
	case KindTotal: // also bounds the trace, by which the covariance is clipped
		if _, public := t.publicRadius(KindMoment); !public {
			low, high := t.clips(r)
			if len(t.momentShares()) == 1 {
				low = high
			}
			set(KindMoment, low)
		}
		set(KindTotal, last)
	case KindVariance, KindRows:
		set(q.Of, last)
	case KindPower:
		if t.OnSphere(q) {
			set(q.Of, quantile(powerSphere))
		} else {
			set(q.Of, quantile(powerPlain))
		}
	default:
		set(q.Of, quantile(powerPlain))
	}
}

// center adds the mean of rows less the centre so far. That of an indicator is known better
// from the counts of levels, unless those are of units and a unit is several rows.
func (t *transition) center() {
	c := t.c
	z := t.r.Z()
	for j := range z {
		z[j] /= c.RowsPerUnit() * c.seen(j)
		switch {
		case len(c.Scale) > 0 && t.Layout.counted(j) && t.Proposal.Spec.Unit == "":
			z[j] = 0
		case len(c.Scale) > 0:
			z[j] = float64(z[j] * c.Scale[j])
		}
		if c.Center != nil {
			z[j] += c.Center[j]
		}
		z[j] = max(-maxCenter, min(maxCenter, z[j]))
	}
	c.Center = z
}

// step is x_{t+1} from z_t, and what follows when a run of them is over.
func (t *transition) step() error {
	c, q, r := t.c, t.q, t.r
	c.X = linalg.Flat(linalg.Orthonormalize(r.columns(t.D), linalg.Split(r.X, t.D)))
	if q.Round < t.Rounds-1 {
		return nil
	}
	var steps []Release // of this run
	for _, e := range t.earlier {
		if e.Kind == KindPower && t.Queries[e.Query].Run == q.Run {
			steps = append(steps, e)
		}
	}
	out, err := t.Outputs(append(steps, r))
	if err != nil {
		return err
	}
	c.Found = append(append([]float64(nil), c.Found...), linalg.Flat(out.Vectors[out.Chosen])...)
	if q.Run < t.runs()-1 {
		c.X = within(t.startBlock(q.Run+1, c.Found), c.Scale)
		if t.Proposal.Spec.Radius == proposal.RadiusPrivate {
			delete(c.Radii, KindPower) // another component's is read from its own histogram
		}
		return nil
	}
	c.X, c.Found = c.Found, nil
	return nil
}

// decideBy is the last round before which auto decides. The radius of a random direction is that of
// a mean eigenvalue, whatever the spectrum; two steps on, it tells a few strong components from a
// flat spectrum.
const decideBy = 2

// decideRound is the round before whose step auto decides: the last refresh of the
// radius before which the steps cost at most a tenth of theirs, which a covariance goes without.
func (p *Plan) decideRound() int {
	at, spent := 0, 0.0
	for t := range min(p.Rounds, decideBy+1) {
		if spent > 0.1 {
			break
		}
		if slices.Contains(radiusRounds, t) {
			at = t
		}
		spent += p.stepShare(t)
	}
	return at
}

// iotaEnough is the ι up to which auto takes the covariance by public sizes, before anything is
// spent: no other method is better by much there, whatever the spectrum (docs/experiments.md).
const iotaEnough = 0.3

// powerFactor is how much R√T weighs against B². Per coordinate the two methods' noise is equal
// where R√(2T) = B²: sensitivities are 2R and √2·B². A covariance's noise is amplified by close
// eigenvalues, a power step's by those before it and softened by the rising schedule. The factors
// were measured (docs/experiments.md), on the sphere for one component and for five; what lies
// between is interpolated.
func (p *Plan) powerFactor() float64 {
	if !p.Sphere() {
		return 1.25
	}
	return max(0.9, 1.2-0.075*float64(p.K()-1))
}

// setIota computes ι = σ/Δ · d^1.5/n of the whole budget, with the noise that is really in a sum:
// all sites' shares where it is distributed, Δ of a unit at several sites.
func (p *Plan) setIota() error {
	s := p.Proposal.Spec
	if s.Accountant == proposal.AccountantPaper {
		return nil
	}
	rho, err := p.Curve().Rho(s.Epsilon, s.Delta)
	if err != nil {
		return err
	}
	p.fullMultiplier = noise.SigmaFor(rho, 1) * p.NoiseFactor
	p.Iota = p.fullMultiplier * float64(p.SitesPerUnit()) * math.Pow(float64(p.D), 1.5) / float64(p.N)
	return nil
}

// method is the proposal's, but that auto has no choice where the columns are too many for
// a covariance, and needs none where a covariance has little noise.
func (p *Plan) method() string {
	switch m := p.Proposal.Spec.Method; {
	case m != proposal.MethodAuto:
		return m
	case p.D > proposal.MaxCovariance:
		return proposal.MethodPower
	case p.Iota <= iotaEnough:
		return proposal.MethodCovariance
	default:
		return proposal.MethodAuto
	}
}

// iotaSphere is the ι up to which rows = "auto" leaves rows as they are: there noise is little, and
// the sphere's other components, of rows whose directions go with their lengths, would cost more.
const iotaSphere = 0.05

// Sphere reports whether power iteration works on rows divided by their lengths.
func (p *Plan) Sphere() bool {
	rows := p.Proposal.Spec.Rows
	return rows == proposal.RowsSphere || rows == proposal.RowsAuto && p.Iota > iotaSphere
}

// OnSphere reports whether a query is about rows divided by their lengths.
func (p *Plan) OnSphere(q Query) bool {
	return p.Sphere() && q.sum() == KindPower
}

// MethodRule says in a sentence how the method is or will be chosen: from public sizes
// and private calibration alone.
func (p *Plan) MethodRule() string {
	switch {
	case p.Proposal.Spec.Method != proposal.MethodAuto:
		return p.Proposal.Spec.Method + ", as asked"
	case p.D > proposal.MaxCovariance:
		return fmt.Sprintf("auto takes power: %s are more than the %d of a covariance", proposal.ColumnsText(len(p.Proposal.Spec.Columns), p.D), proposal.MaxCovariance)
	case p.method() == proposal.MethodCovariance:
		return fmt.Sprintf("auto takes covariance by public sizes: its noise, ι = σ/Δ·d^1.5/n = %.2g, is at most %g of the signal for %s and %d units", p.Iota, iotaEnough, proposal.ColumnsText(len(p.Proposal.Spec.Columns), p.D), p.N)
	default:
		return fmt.Sprintf("auto takes power if %g·R√T < B², else covariance: R is the private radius before round %d, T = %d, B² %s; ι = %.2g is above %g, so that public sizes do not decide",
			p.powerFactor(), p.decideRound(), p.Rounds*p.runs(), p.boundWords(), p.Iota, iotaEnough)
	}
}

func (p *Plan) boundWords() string {
	if p.Sphere() {
		return "= 1, as every row is divided by its length"
	}
	return "the private bound of ‖y‖²"
}

// decide is method = "auto" (docs/experiments.md) where public sizes leave it open: power iteration
// if c·R√T < B², where R is the radius of its step of decideRound, B² the bound of a covariance of
// the same rows, 1 on the sphere, and T the steps that share the budget. The sentence says it for
// people.
func (p *Plan) decide(radii map[Kind]float64) (method, why string) {
	steps := float64(p.Rounds * p.runs())
	power, covariance := p.powerFactor()*radii[KindPower]*math.Sqrt(steps), 1.0
	if !p.Sphere() {
		covariance = radii[KindMoment]
	}
	if power < covariance {
		return proposal.MethodPower, p.whyMethod(power, covariance, "<", "power iteration adds less noise")
	}
	return proposal.MethodCovariance, p.whyMethod(power, covariance, ">=", "a noisy covariance adds less noise")
}

func (p *Plan) whyMethod(power, covariance float64, than, so string) string {
	return fmt.Sprintf("%g·R√T = %.4g %s B² = %.4g: %s", p.powerFactor(), power, than, covariance, so)
}

// MethodWhy says why a study of these releases took its method.
func (p *Plan) MethodWhy(releases []Release) string {
	switch {
	case p.method() == proposal.MethodAuto:
		_, why := p.decide(p.radiiAtDecision(releases))
		return why
	case p.Proposal.Spec.Method == proposal.MethodAuto:
		return p.MethodRule()
	}
	return "as asked"
}

// radiiAtDecision are the radii that auto compared.
func (p *Plan) radiiAtDecision(releases []Release) map[Kind]float64 {
	c := p.Start()
	for i, r := range releases {
		c, _ = p.Next(c, r, releases[:i]) // it gave no error the first time
		if c.Method != "" {
			break
		}
	}
	return c.Radii
}
