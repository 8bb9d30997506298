package study

import (
	"fmt"
	"math"
	"slices"

	"covey/internal/proposal"
)

// Method is how a plan finds its components. Nobody changes it.
type Method struct {
	// Name is the proposal's, but that auto has no choice where the columns are too many for a
	// covariance, and needs none where a covariance has little noise: [proposal.MethodAuto] where
	// releases decide.
	Name string
	// Sphere reports whether power iteration works on rows divided by their lengths.
	Sphere bool
	// Mixed reports whether the first two parts of a covariance decide what the rest of its budget
	// buys: the last part, or power rounds that start at the components so far.
	Mixed bool

	asked   string // the proposal's
	columns string // in words
	d, n    int
	iota    float64
	// factor is how much R√T weighs against B². Per coordinate the two methods' noise is equal
	// where R√(2T) = B²: sensitivities are 2R and √2·B². A covariance's noise is amplified by close
	// eigenvalues, a power step's by those before it and softened by the rising schedule. The
	// factors were measured on the sphere, for one component and for five; what lies between is
	// interpolated.
	factor float64
	steps  int // T of all runs, which share the budget
	// round is the one before whose step auto decides: the last refresh of the radius before which
	// the steps cost at most a tenth of theirs, which a covariance goes without.
	round int
}

// iotaEnough is the ι up to which auto takes the covariance from public sizes alone, before
// anything is spent: there no other method is much better, for any spectrum
// (docs/figures/accuracy/table.csv).
const iotaEnough = 0.3

// iotaSphere is the ι up to which rows = "auto" leaves rows as they are: there noise is little, and
// the sphere's other components, of rows whose directions go with their lengths, would cost more.
const iotaSphere = 0.05

// decideBy is the last round before which auto decides. The radius of a random direction is that of
// a mean eigenvalue, whatever the spectrum; two steps on, it tells a few strong components from a
// flat spectrum.
const decideBy = 2

// methodOf returns the method of a plan whose rounds are not known yet.
func methodOf(p *Plan) Method {
	s := p.Proposal.Spec
	m := Method{Name: s.Method, asked: s.Method, columns: proposal.ColumnsText(len(s.Columns), p.D), d: p.D, n: p.N, iota: p.Iota}
	m.Sphere = s.Rows == proposal.RowsSphere || s.Rows == proposal.RowsAuto && p.Iota > iotaSphere
	switch {
	case m.asked != proposal.MethodAuto:
	case p.D > proposal.MaxCovariance:
		m.Name = proposal.MethodPower
	case p.Iota <= iotaEnough:
		if m.Mixed = m.Sphere && p.mixes(); !m.Mixed {
			m.Name = proposal.MethodCovariance
		}
	}
	m.factor = 1.25
	if m.Sphere {
		m.factor = max(0.9, 1.2-0.075*float64(p.K-1))
	}
	return m
}

// over sets what follows from the number of rounds.
func (m *Method) over(rounds, runs int, schedule string) {
	m.steps, m.round = rounds*runs, 0
	spent := 0.0
	for t := range min(rounds, decideBy+1) {
		if spent > 0.1 {
			break
		}
		if slices.Contains(radiusRounds, t) {
			m.round = t
		}
		spent += stepShare(schedule, t, rounds)
	}
}

// OnSphere reports whether a query is about rows divided by their lengths.
func (m *Method) OnSphere(q Query) bool { return m.Sphere && q.sum() == KindPower }

// The quantiles of power steps. A clip of |yᵀx|·‖y‖ at 0.9 costs a direction little; on the sphere,
// where no row is longer than others, neither does 0.75.
const (
	powerPlain  = 0.9
	powerSphere = 0.75
)

// StepQuantile returns the quantile of ‖Xᵀy‖·‖y‖ at which power steps are clipped, of a private
// radius.
func (m *Method) StepQuantile() float64 {
	if m.Sphere {
		return powerSphere
	}
	return powerPlain
}

// Rule says in a sentence how the method is or will be chosen: from public sizes and private
// calibration alone.
func (m *Method) Rule() string {
	switch {
	case m.asked != proposal.MethodAuto:
		return m.asked + ", as asked"
	case m.d > proposal.MaxCovariance:
		return fmt.Sprintf("auto takes power: %s are more than the %d of a covariance", m.columns, proposal.MaxCovariance)
	case m.Mixed:
		return fmt.Sprintf("auto takes covariance by public sizes, ι = σ/Δ·d^1.5/n = %.2g is at most %g; but if its first two parts say that it would lose over %g%% of its components' variance, and that these hold at most %g%% of all, %d power rounds from them take the place of the last part",
			m.iota, iotaEnough, 100*mixedLoss, 100*mixedPart, mixedRounds)
	case m.Name == proposal.MethodCovariance:
		return fmt.Sprintf("auto takes covariance by public sizes: its noise, ι = σ/Δ·d^1.5/n = %.2g, is at most %g of the signal for %s and %d units", m.iota, iotaEnough, m.columns, m.n)
	}
	bound := "the private bound of ‖y‖²"
	if m.Sphere {
		bound = "= 1, as every row is divided by its length"
	}
	return fmt.Sprintf("auto takes power if %g·R√T < B², else covariance: R is the private radius before round %d, T = %d, B² %s; ι = %.2g is above %g, so that public sizes do not decide",
		m.factor, m.round, m.steps, bound, m.iota, iotaEnough)
}

// decide is method = "auto" (docs/adr/0009-radii-and-auto.md) where public sizes leave it open:
// power iteration if factor·R√T < B², where R is the radius of the step of round, B² the bound of a
// covariance of the same rows, 1 on the sphere, and T the steps that share the budget. The sentence
// says it for people.
func (m *Method) decide(radii map[Kind]float64) (method, why string) {
	power, covariance := m.factor*radii[KindPower]*math.Sqrt(float64(m.steps)), 1.0
	if !m.Sphere {
		covariance = radii[KindMoment]
	}
	method, than, so := proposal.MethodCovariance, ">=", "a noisy covariance adds less noise"
	if power < covariance {
		method, than, so = proposal.MethodPower, "<", "power iteration adds less noise"
	}
	return method, fmt.Sprintf("%g·R√T = %.4g %s B² = %.4g: %s", m.factor, power, than, covariance, so)
}

// MethodWhy says why a study of these releases took its method.
func (p *Plan) MethodWhy(releases []Release) string {
	switch {
	case p.Method.Mixed:
		return p.mixedWhy(releases)
	case p.Method.Name == proposal.MethodAuto:
		c := p.Start()
		for i, r := range releases {
			c, _ = p.Next(c, r, releases[:i]) // it gave no error the first time
			if c.Method != "" {
				break
			}
		}
		_, why := p.Method.decide(c.Radii)
		return why
	case p.Proposal.Spec.Method == proposal.MethodAuto:
		return p.Method.Rule()
	}
	return "as asked"
}
