package study

import (
	"math"
	"slices"

	"covey/internal/noise"
)

// The clip radius bounds of internal/clip: R in [2^-200, 2^200].
const (
	minRadius = 0x1p-200
	maxRadius = 0x1p200
)

// HistogramBins is the number of bins of a private-radius query; bin j covers
// [2^((j-256)/4), 2^((j-255)/4)), the ends are open (design section 2).
const HistogramBins = 512

// radiusRounds are the rounds before which a private radius is refreshed
// (design section 2).
var radiusRounds = []int{0, 1, 2, 4, 7}

// ringBits are the wire widths that the plan chooses from (design section 5).
var ringBits = []uint{32, 40, 48, 56, 64}

// Kind is what a query asks for.
type Kind string

// The kinds of query.
const (
	KindPower     Kind = "power"
	KindHistogram Kind = "histogram"
)

// Query is one planned private sum.
type Query struct {
	Index int     `json:"index"`
	Kind  Kind    `json:"kind"`
	Round int     `json:"round"` // t; a histogram of round t comes just before its power step
	Rho   float64 `json:"rho"`   // zCDP charge
	// Multiplier is σ/Δ: the noise for sensitivity one.
	Multiplier float64 `json:"multiplier"`
	Values     int     `json:"values"` // numbers in the answer: d, or the bins
	Lanes      int     `json:"lanes"`  // with the noise lanes of design section 6
	Bytes      int     `json:"bytes"`  // of one masked upload
}

// Plan is what a proposal means: everything that both sides derive from it.
type Plan struct {
	Proposal   Proposal   `json:"proposal"`
	Digest     Digest     `json:"digest"`
	Thresholds Thresholds `json:"thresholds"`
	N          int        `json:"n"` // units over all sites
	D          int        `json:"d"`
	Rounds     int        `json:"rounds"` // T
	// Radius is the public clip radius, or 0 where it is private.
	Radius float64 `json:"radius"`
	// Paper holds the paper's u, τ and δ̄ where its radius or accountant is used.
	Paper *noise.Paper `json:"paper,omitempty"`
	// Rho is the whole study's zCDP charge: what a site's ledger reserves.
	Rho     float64 `json:"rho"`
	Queries []Query `json:"queries"`
	// Slots is the one-time key material prepared: one a query, and the spares.
	Slots int `json:"slots"`
	// Bits is the ring's width b.
	Bits       uint       `json:"bits"`
	Prediction Prediction `json:"prediction"`
}

// NewPlan derives the plan of a proposal's exact bytes.
func NewPlan(body []byte) (*Plan, error) {
	p, err := Parse(body)
	if err != nil {
		return nil, err
	}
	s := p.Spec
	plan := &Plan{Proposal: p, Digest: DigestOf(body), D: len(s.Columns)}
	if plan.Thresholds, err = NewThresholds(len(p.Roster), s.MinSurvivors); err != nil {
		return nil, err
	}
	for _, m := range p.Roster {
		plan.N += m.Units
	}
	if plan.N > MaxUnits {
		return nil, fieldError("roster", "at most 2^40 units in all, got %d", plan.N)
	}
	if err := plan.setRounds(); err != nil {
		return nil, err
	}
	if err := plan.setQueries(); err != nil {
		return nil, err
	}
	if err := plan.setRing(); err != nil {
		return nil, err
	}
	plan.Prediction = plan.predict()
	return plan, nil
}

// setRounds fixes T, the public radius and the paper's numbers.
func (p *Plan) setRounds() error {
	s := p.Proposal.Spec
	p.Rounds = s.Rounds
	if p.Rounds == 0 {
		t := math.Ceil(s.C * math.Log(math.E*float64(p.D)) / s.Alpha)
		if t > MaxRounds {
			return fieldError("alpha", "gives %.0f rounds, at most %d", t, MaxRounds)
		}
		p.Rounds = max(1, int(t))
	}
	if s.Radius == RadiusPaper || s.Accountant == AccountantPaper {
		// Only τ depends on Λ through R, and a public radius replaces R.
		lambda := s.Lambda
		if lambda == 0 {
			lambda = 1
		}
		paper, err := noise.NewPaper(noise.PaperInput{
			C: s.C, Lambda: lambda, Epsilon: s.Epsilon, Delta: s.Delta, N: p.N, D: p.D, Rounds: p.Rounds,
		})
		if err != nil {
			return err
		}
		p.Paper = &paper
	}
	if r, public := s.Radius.Public(); public {
		p.Radius = r
	} else if s.Radius == RadiusPaper {
		p.Radius = p.Paper.Radius
		if !(p.Radius >= minRadius && p.Radius <= maxRadius) {
			return fieldError("lambda", "gives a radius outside 2^-200..2^200")
		}
	}
	return nil
}

// setQueries lists the queries and splits the budget over them.
func (p *Plan) setQueries() error {
	s := p.Proposal.Spec
	histograms := 0
	for t := range p.Rounds {
		if p.Radius == 0 && slices.Contains(radiusRounds, t) {
			p.Queries = append(p.Queries, Query{Kind: KindHistogram, Round: t, Values: HistogramBins})
			histograms++
		}
		p.Queries = append(p.Queries, Query{Kind: KindPower, Round: t, Values: p.D})
	}
	spare := s.SpareSlots
	if spare == 0 {
		spare = max(4, len(p.Queries)/4)
	}
	p.Slots = len(p.Queries) + spare
	if p.Slots > MaxSlots {
		return fieldError("spare_slots", "%d queries and %d spare slots are more than %d", len(p.Queries), spare, MaxSlots)
	}

	multiplier, err := p.multiplier(len(p.Queries))
	if err != nil {
		return err
	}
	// multiplier is that of a query with the whole budget; one with share w of it
	// gets multiplier/√w. The shares add up to 1.
	steps := 1.0
	if histograms > 0 {
		steps -= s.RadiusShare
	}
	for i := range p.Queries {
		q := &p.Queries[i]
		var share float64
		switch {
		case q.Kind == KindHistogram:
			share = s.RadiusShare / float64(histograms)
		case s.Schedule == ScheduleRising:
			share = steps * float64(q.Round+1) / float64(p.Rounds*(p.Rounds+1)/2)
		default:
			share = steps / float64(p.Rounds)
		}
		q.Index = i
		q.Multiplier = multiplier / math.Sqrt(share)
		// The charge of σ = multiplier·Δ does not depend on Δ. Rounding σ up to
		// its grid (noise.Sigma) only lowers the true charge.
		q.Rho = noise.RhoOf(1, q.Multiplier)
		p.Rho += q.Rho
	}
	return nil
}

// multiplier gives σ/Δ of one query that takes the whole budget.
func (p *Plan) multiplier(queries int) (float64, error) {
	s := p.Proposal.Spec
	if s.Accountant == AccountantPaper {
		// τ = 4R√(T ln(1/δ̄))/(nε) on the mean of T queries of sensitivity 2R/n
		// is σ = 2Δ√(T ln(1/δ̄))/ε on their sums; one query with the whole
		// budget has that without √T.
		return 2 * math.Sqrt(math.Log(1/p.Paper.DeltaBar)) / s.Epsilon, nil
	}
	// The check of what is released may refuse a good release with probability
	// FalseReject: that event's share of δ is set aside.
	delta := s.Delta - float64(queries)*(1+math.Exp(s.Epsilon))*noise.FalseReject
	rho, err := noise.Rho(s.Epsilon, delta)
	if err != nil {
		return 0, err
	}
	// The sum of the charges, each rounded upward, must stay within rho.
	rho *= 1 - 1e-12
	return noise.SigmaFor(rho, 1), nil
}

// setRing chooses the narrowest ring that holds n·(R/g + √d/2) plus 40σ.
func (p *Plan) setRing() error {
	ratio := 0x1p17 // of a radius that is not known yet; Grid keeps R/g below it
	if p.Radius > 0 {
		ratio = p.Radius / Grid(p.Radius)
	}
	need := 0.0
	for _, q := range p.Queries {
		per, sensitivity := 1.0, math.Sqrt2
		if q.Kind == KindPower {
			per = ratio + math.Sqrt(float64(p.D))
			sensitivity = 2*ratio + math.Sqrt(float64(p.D))
		}
		need = max(need, float64(p.N)*per+40*q.Multiplier*sensitivity)
	}
	for _, bits := range ringBits {
		if need < math.Ldexp(1, int(bits)-1) {
			p.Bits = bits
			break
		}
	}
	if p.Bits == 0 {
		return fieldError("roster", "a ring of 64 bits cannot hold the sum: n(R/g+√d)+40σ is 2^%.1f, the bound 2^63", math.Log2(need))
	}
	for i := range p.Queries {
		q := &p.Queries[i]
		q.Lanes = q.Values + NoiseLanes(p.Bits)
		q.Bytes = q.Lanes * int(p.Bits) / 8
	}
	return nil
}

// NoiseLanes is how many lanes of a ring of the given width hold the 256 bits
// that key the one noise of a sum (design section 6).
func NoiseLanes(bits uint) int { return (256 + int(bits) - 1) / int(bits) }

// BytesPerRound is the mean size of a site's uploads over the power rounds,
// histograms included.
func (p *Plan) BytesPerRound() float64 {
	total := 0
	for _, q := range p.Queries {
		total += q.Bytes
	}
	return float64(total) / float64(p.Rounds)
}
