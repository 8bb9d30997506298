package study

import (
	"math"

	"covey/internal/noise"
)

// Ask is one query as sent to the sites: a planned query with the values that
// only the study's course gives.
type Ask struct {
	Attempt uint32      `json:"attempt"` // of the setup
	Query   int         `json:"query"`   // index into Plan.Queries
	Slot    int         `json:"slot"`    // one-time key material it uses up
	Kind    Kind        `json:"kind"`
	Round   int         `json:"round"`
	X       []float64   `json:"x"`      // x_t, a unit vector of d
	Radius  float64     `json:"radius"` // R of a power query, 0 of a histogram
	Grid    float64     `json:"grid"`   // g of a power query, 1 of a histogram
	Sigma   noise.Sigma `json:"sigma"`  // in grid units
}

// NewAsk fills a planned query in.
func (p *Plan) NewAsk(query, slot int, attempt uint32, x []float64, radius float64) (Ask, error) {
	q := p.Queries[query]
	a := Ask{Attempt: attempt, Query: query, Slot: slot, Kind: q.Kind, Round: q.Round, X: x, Grid: 1}
	if q.Kind == KindPower {
		a.Radius, a.Grid = radius, Grid(radius)
	}
	var err error
	a.Sigma, err = p.Sigma(q, radius)
	return a, err
}

// Context is ctx of design section 7: it binds masks, signatures and noise to
// everything that the sites were asked. transcript is the setup's.
func (p *Plan) Context(transcript [32]byte, a Ask) [32]byte {
	e := newEncoder("covey query v1")
	e.fixed(p.Digest)
	e.fixed(transcript)
	e.u64(uint64(a.Attempt))
	e.u64(uint64(a.Query))
	e.u64(uint64(a.Slot))
	e.bytes([]byte(a.Kind))
	e.u64(uint64(a.Round))
	e.floats(a.X)
	e.f64(a.Radius)
	e.f64(a.Grid)
	e.u64(uint64(a.Sigma))
	e.u64(uint64(p.Bits))
	e.u64(uint64(p.Queries[a.Query].Lanes))
	return e.sum()
}

// Check is an agent's: the ask MUST be the plan's query of that index, with x
// finite and of unit norm, a radius that the plan allows, the grid of that
// radius and noise no smaller than the plan's for the Δ recomputed from R, g
// and d. Whether index and slot are in order is the journal's to say.
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
	if len(a.X) != p.D {
		return mismatch(a.Query, "x", "has %d coordinates, the plan %d", len(a.X), p.D)
	}
	if n := norm(a.X); !(math.Abs(n-1) <= 1e-9) {
		return mismatch(a.Query, "x", "is not of unit norm within 1e-9")
	}
	if a.Kind == KindHistogram {
		if a.Radius != 0 || a.Grid != 1 {
			return mismatch(a.Query, "radius", "a histogram has radius 0 and grid 1")
		}
	} else if err := p.checkRadius(a); err != nil {
		return err
	}
	want, err := p.Sigma(q, a.Radius)
	if err != nil {
		return err
	}
	// Both sides compute σ by the same formula; another processor may round the
	// last bit of its float part differently, no more.
	if w, got := want.Float(), a.Sigma.Float(); got < w*(1-1e-9) || got > w*(1+1e-9)+1 {
		return mismatch(a.Query, "sigma", "%.6g grid steps, the plan needs %.6g", got, w)
	}
	return nil
}

func (p *Plan) checkRadius(a Ask) error {
	if p.Radius > 0 {
		if !(math.Abs(a.Radius-p.Radius) <= 1e-9*p.Radius) {
			return mismatch(a.Query, "radius", "is not the plan's %.6g", p.Radius)
		}
	} else if !(a.Radius >= BinEdge(0) && a.Radius <= BinEdge(HistogramBins-1)) {
		return mismatch(a.Query, "radius", "is no edge of the histogram")
	}
	if a.Grid != Grid(a.Radius) {
		return mismatch(a.Query, "grid", "is not the radius's %g", Grid(a.Radius))
	}
	return nil
}
