package study

import (
	"time"

	"covey/internal/noise"
	"covey/internal/packed"
	"covey/internal/proposal"
	"covey/internal/query"
)

// Ask is one query as sent to the sites: a planned query with the values that
// only the study's course gives.
type Ask struct {
	Query int `json:"query"` // index into Plan.Queries
	Slot  int `json:"slot"`  // one-time key material it uses up
	// Kind and Round are the plan's of Query: they are not on the wire ([Queries.Fill]).
	Kind  Kind `json:"kind"`
	Round int  `json:"round"`
	// History is the link of the last release before it ([Course.History]).
	History proposal.Digest `json:"history"`
	// X are orthonormal vectors of d, one after another: the block of a power step or
	// of a variance, empty for other kinds.
	X packed.Floats `json:"x,omitempty"`
	// Center is taken off every row, and then its part in the span of Found; both
	// empty where there is none. Found is laid out like X.
	Center packed.Floats `json:"center,omitempty"`
	Found  packed.Floats `json:"found,omitempty"`
	// Scale divides what the center left of every row, coordinate by coordinate: rows are then
	// (y - Center)/Scale. A coordinate of scale 0 is left out: it is 0 in every row. Empty where
	// the study learns no scales.
	Scale packed.Floats `json:"scale,omitempty"`
	// Fill are the directions that gaps are filled from, laid out like X: empty where gaps are
	// zeros, or no row can have one.
	Fill packed.Floats `json:"fill,omitempty"`
	// Deviations are those of scores along each of X, in which pictures count; empty for other
	// kinds.
	Deviations packed.Floats `json:"deviations,omitempty"`
	Radius     float64       `json:"radius"` // R of a sum, 0 of counts
	Grid       float64       `json:"grid"`   // g
	Sigma      noise.Sigma   `json:"sigma"`  // in grid units; 0 of a choice by the exponential mechanism
}

// maxCenter bounds a released centre, so that no row less it can overflow.
const maxCenter = 0x1p150

// The bounds of a released scale, unless it is 0: no value of a row divided by one overflows.
const (
	minScale = 0x1p-100
	maxScale = 0x1p+100
)

// NewAsk fills the course's next query in.
func (p *Plan) NewAsk(c Course, slot int) (Ask, error) {
	if c.Query < 0 || c.Query >= len(p.Queries) {
		return Ask{}, mismatch(c.Query, "query", "outside 0..%d", len(p.Queries)-1)
	}
	q := p.Queries[c.Query]
	f := p.form(q)
	a := Ask{Query: c.Query, Slot: slot, Kind: q.Kind, Round: q.Round, History: c.History, Found: c.Found, Fill: f.directions(c)}
	if q.sum().Definition().Centered {
		a.Center, a.Scale = c.Center, c.Scale
	}
	if f.x > 0 {
		a.X = c.X
	}
	if f.deviations > 0 {
		a.Deviations = c.Deviations
	}
	if !q.Kind.Definition().Counts {
		a.Radius = c.Radii[q.Kind]
	}
	a.Grid = p.Noise.grid(q, a.Radius)
	var err error
	a.Sigma, err = p.Noise.Sigma(q, a.Radius)
	return a, err
}

// Context is ctx of docs/protocol.md: it binds masks, signatures and noise to
// everything that the sites were asked. transcript is the setup's.
func (p *Plan) Context(transcript [32]byte, a Ask) [32]byte {
	e := newEncoder("covey query v4")
	e.fixed(p.Digest)
	e.fixed(transcript)
	e.u64(uint64(a.Query))
	e.u64(uint64(a.Slot))
	e.bytes([]byte(a.Kind))
	e.u64(uint64(a.Round))
	e.fixed(a.History)
	e.floats(a.X)
	e.floats(a.Center)
	e.floats(a.Found)
	e.floats(a.Scale)
	e.floats(a.Fill)
	e.floats(a.Deviations)
	e.f64(a.Radius)
	e.f64(a.Grid)
	e.u64(uint64(a.Sigma))
	e.u64(uint64(p.Bits))
	e.u64(uint64(p.Queries[a.Query].Lanes))
	return e.sum()
}

// Check is an agent's: the ask MUST be the plan's query of that index, with
// vectors that are finite and orthonormal, a radius that the plan allows, the grid of
// that radius and noise no smaller than the plan's for the Δ recomputed from R, g and
// the number of values. Whether index and slot are in order is the journal's to say.
func (p *Plan) Check(a Ask) error {
	if a.Query < 0 || a.Query >= len(p.Queries) {
		return mismatch(a.Query, "query", "outside 0..%d", len(p.Queries)-1)
	}
	q := p.Queries[a.Query]
	if a.Slot < 0 || a.Slot >= p.Slots {
		return mismatch(a.Query, "slot", "%d is outside 0..%d", a.Slot, p.Slots-1)
	}
	if a.Kind != q.Kind || a.Round != q.Round {
		return mismatch(a.Query, "kind", "the plan has %s of round %d", q.Kind, q.Round)
	}
	if err := p.form(q).check(a); err != nil {
		return err
	}
	if q.Kind.Definition().Counts {
		if want := p.Noise.grid(q, 0); a.Radius != 0 || a.Grid != want {
			return mismatch(a.Query, "radius", "counts have radius 0 and grid %g", want)
		}
	} else if err := p.checkRadius(q, a); err != nil {
		return err
	}
	want, err := p.Noise.Sigma(q, a.Radius)
	if err != nil {
		return err
	}
	// The charge is that of the least σ taken here (Plan.charge).
	if w, got := want.Float(), a.Sigma.Float(); !(got >= w*(1-sigmaTolerance)) || got > w*(1+sigmaTolerance)+1 {
		return mismatch(a.Query, "sigma", "%.6g grid steps, the plan needs %.6g", got, w)
	}
	return nil
}

func (p *Plan) checkRadius(q Query, a Ask) error {
	if r, public := p.publicRadius(q.Kind); public {
		if !Near(a.Radius, r) {
			return mismatch(a.Query, "radius", "is not the plan's %.6g", r)
		}
	} else if q.Kind == KindPower && p.Proposal.Spec.Radius == proposal.RadiusPaper || p.boundsElsewhere(q.Kind) {
		if !(a.Radius >= query.MinRadius && a.Radius <= query.MaxRadius) {
			return mismatch(a.Query, "radius", "is outside 2^-200..2^200")
		}
	} else if !(a.Radius >= BinEdge(0) && a.Radius <= 2*BinEdge(HistogramBins-1)) {
		return mismatch(a.Query, "radius", "is beyond the histogram")
	}
	if a.Grid != Grid(a.Radius) {
		return mismatch(a.Query, "grid", "is not the radius's %g", Grid(a.Radius))
	}
	return nil
}

// boundsElsewhere reports whether a radius may be the square of another bound, which no histogram
// of squares need reach ([transition.longest]).
func (p *Plan) boundsElsewhere(k Kind) bool {
	if k != KindTotal && k != KindVariance {
		return false
	}
	_, public := p.publicRadius(KindMoment)
	return public || p.Proposal.Spec.Center == proposal.CenterPrivate && p.Proposal.Spec.Unit == ""
}

// publicRadius is the radius of a kind of sum, where the proposal fixes it.
func (p *Plan) publicRadius(k Kind) (float64, bool) {
	switch k {
	case KindPower:
		return p.Radius, p.Radius > 0
	case KindMoment:
		b, public := p.Proposal.Spec.NormBound.Public()
		return b * b, public
	case KindRows: // a unit that is a row has one, or none
		return 1, p.Proposal.Spec.Unit == ""
	default:
		return 0, false
	}
}

// Tick returns a query's tick. Its opened sum goes on a whole number of ticks after the drawing of
// its noise began, one unless the machine is slow, so that the time of the draws reveals nothing.
// With distributed noise the coordinator draws nothing that stays in a sum.
func (p *Plan) Tick(a Ask) time.Duration {
	tick := time.Duration(p.Proposal.Spec.Deadlines.Tick)
	if p.Honest > 0 {
		return tick
	}
	return tick + a.Sigma.DrawTime(p.Queries[a.Query].Values)
}
