package study

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Course is where a study stands: the next query, and everything that its releases so
// far decide about it. A Course is never changed: Next gives a new one, so that its
// slices may be shared.
type Course struct {
	Query int `json:"query"` // len(Plan.Queries) when nothing is left to ask
	// X is the block in force, as in Ask: x_t, and after the last step the components.
	X      []float64 `json:"x,omitempty"`
	Center []float64 `json:"center,omitempty"` // released so far
	Found  []float64 `json:"found,omitempty"`  // by deflation, so far
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
	c := Course{X: p.startBlock(0, nil), Radii: map[Kind]float64{}, Method: p.method()}
	if c.Method == MethodAuto {
		c.Method = ""
	}
	for _, q := range p.Queries {
		if r, public := p.publicRadius(q.Kind); public {
			c.Radii[q.Kind] = r
		}
	}
	return c
}

// Next returns the course after the release of its query. earlier are all releases
// before it, in order.
func (p *Plan) Next(c Course, r Release, earlier []Release) (Course, error) {
	if r.Query != c.Query || c.Query >= len(p.Queries) || len(r.Noised) != p.released(p.Queries[c.Query]) {
		return Course{}, mismatch(r.Query, "query", "is not the one that is due, %d, or has %d values", c.Query, len(r.Noised))
	}
	q := p.Queries[r.Query]
	radii := make(map[Kind]float64) // also where a snapshot left an empty one out
	maps.Copy(radii, c.Radii)
	c.Radii = radii
	var err error
	switch q.Kind {
	case KindHistogram:
		p.readRadius(&c, q, r)
	case KindRows:
		c.PerUnit = p.perUnit(r)
	case KindMean:
		p.moveCenter(&c, r)
	case KindLambda, KindSelect:
		p.readLambda(&c, q, r)
	case KindPower:
		err = p.step(&c, q, r, earlier)
	case KindMoment:
		var v [][]float64
		if v, _, err = principal(r, p.D, p.K()); err == nil {
			c.X = flat(v)
		}
	}
	if err != nil {
		return Course{}, err
	}
	if c.Method == "" && q.Of == KindPower && q.Round == p.decideRound() {
		c.Method, _ = p.decide(c.Radii)
	}
	c.Query = p.after(r.Query, c.Method)
	return c, nil
}

// readRadius reads radii off a histogram. A clip at the 0.9 quantile costs a direction
// little; a variance is biased by whatever is clipped, so its bound lies beyond the last bin
// that stands out of the noise.
func (p *Plan) readRadius(c *Course, q Query, r Release) {
	set := func(k Kind, edge float64) {
		switch {
		case edge > 0:
			c.Radii[k] = edge
		case c.Radii[k] == 0:
			c.Radii[k] = defaultRadius
		}
	}
	// of the kept rows: the others are in the lowest bin
	quantile := quantileRadius(r.Noised, r.Spread(), 1-(1-0.9)*p.keptShare(*c), r.Units)
	last := 2 * quantileRadius(r.Noised, r.Spread(), 1, r.Units)
	switch q.Of {
	case KindTotal: // also bounds the trace, by which the covariance is clipped
		if _, public := p.publicRadius(KindMoment); !public {
			set(KindMoment, quantile)
		}
		set(KindTotal, last)
	case KindVariance, KindRows:
		set(q.Of, last)
	default:
		set(q.Of, quantile)
	}
}

// moveCenter adds the mean of rows less the centre so far.
func (p *Plan) moveCenter(c *Course, r Release) {
	z := r.Z()
	for j := range z {
		z[j] /= c.rowsPerUnit()
		if c.Center != nil {
			z[j] += c.Center[j]
		}
		z[j] = max(-maxCenter, min(maxCenter, z[j]))
	}
	c.Center = z
}

// step is x_{t+1} from z_t, and what follows when a run of them is over.
func (p *Plan) step(c *Course, q Query, r Release, earlier []Release) error {
	c.X = flat(orthonormalize(r.columns(p.D), split(r.X, p.D)))
	if q.Round < p.Rounds-1 {
		return nil
	}
	var steps []Release // of this run
	for _, e := range earlier {
		if e.Kind == KindPower && p.Queries[e.Query].Run == q.Run {
			steps = append(steps, e)
		}
	}
	out, err := p.outputs(append(steps, r))
	if err != nil {
		return err
	}
	c.Found = append(append([]float64(nil), c.Found...), flat(out.vectors[out.chosen])...)
	if q.Run < p.runs()-1 {
		c.X = p.startBlock(q.Run+1, c.Found)
		if p.Proposal.Spec.Radius == RadiusPrivate {
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

// powerFactor is how much R√T weighs against B². Per coordinate the two methods' noise is
// equal where R√(2T) = B²: sensitivities are 2R and √2·B². A covariance's noise is amplified
// by close eigenvalues, a power step's by those before it and softened by the rising
// schedule; 1.25 was measured (docs/experiments.md).
const powerFactor = 1.25

// method is the proposal's, but that auto has no choice where the columns are too many for
// a covariance.
func (p *Plan) method() string {
	if m := p.Proposal.Spec.Method; m != MethodAuto || p.D <= MaxCovariance {
		return m
	}
	return MethodPower
}

// MethodRule says in a sentence how the method is or will be chosen: from public sizes
// and private calibration alone.
func (p *Plan) MethodRule() string {
	switch {
	case p.Proposal.Spec.Method != MethodAuto:
		return p.Proposal.Spec.Method + ", as asked"
	case p.method() == MethodPower:
		return fmt.Sprintf("auto takes power: %d columns are more than the %d of a covariance", p.D, MaxCovariance)
	default:
		return fmt.Sprintf("auto takes power if %g·R√T < B², else covariance: R is the private radius before round %d, T = %d, B² the private bound of ‖y‖²",
			powerFactor, p.decideRound(), p.Rounds*p.runs())
	}
}

// decide is method = "auto" (docs/experiments.md): power iteration if 1.25·R√T < B², where R is
// the radius of its step of decideRound and B² that of the covariance, both private, and T the
// steps that share the budget. The sentence says it for people.
func (p *Plan) decide(radii map[Kind]float64) (method, why string) {
	steps := float64(p.Rounds * p.runs())
	power, covariance := powerFactor*radii[KindPower]*math.Sqrt(steps), radii[KindMoment]
	if power < covariance {
		return MethodPower, whyMethod(power, covariance, "<", "power iteration adds less noise")
	}
	return MethodCovariance, whyMethod(power, covariance, ">=", "one noisy covariance adds less noise")
}

func whyMethod(power, covariance float64, than, so string) string {
	return fmt.Sprintf("%g·R√T = %.4g %s B² = %.4g: %s", powerFactor, power, than, covariance, so)
}

// principal returns the k leading eigenvectors of a noised second-moment matrix, and its
// eigenvalues, descending. An eigenvector of a noised matrix is post-processing.
func principal(r Release, d, k int) ([][]float64, []float64, error) {
	vectors, values, err := leadingEigen(r.moment(d), k)
	if err != nil {
		return nil, nil, err
	}
	return orthonormalize(vectors, vectors), values, nil
}
