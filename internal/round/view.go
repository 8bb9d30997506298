package round

import (
	"math"
	"slices"
	"sync"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
)

// View is a released query as shown: of its values, the noise-to-signal and an angle.
type View struct {
	Query, Round, Run int
	Kind, Of          study.Kind
	Slot              int
	Retried           int       // slots of this query that were given up before
	Survivors         []int     // roster indices
	At                time.Time // of its commit; zero where the journal has forgotten it
	Rho               float64
	// NoiseToSignal and Turn are a power step's, else -1. Turn is the largest angle, in
	// degrees, of a vector of its block to the block of the step before; -1 for a run's first.
	NoiseToSignal, Turn float64
}

// Views reads each release once: the largest has millions of numbers.
type Views struct {
	mu    sync.Mutex
	known map[proposal.Digest]*knownRounds
}

type knownRounds struct {
	rounds []View
	last   []float64 // block of the last power step
}

// Of returns a copy of a study's rounds, of which so many are released. Those that are not known
// yet are read with read. It is safe for use by several goroutines.
func (r *Views) Of(p *study.Plan, released int, over bool, read func(see func(Released) error) error) ([]View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[proposal.Digest]*knownRounds{}
	}
	k := r.known[p.Digest]
	if k == nil || len(k.rounds) > released { // an older snapshot was restored
		k = &knownRounds{}
		r.known[p.Digest] = k
	}
	if at := 0; len(k.rounds) < released {
		err := read(func(raw Released) error {
			if at++; at > len(k.rounds) {
				k.add(p, raw.Encoded)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if over {
		k.last = nil
	}
	return slices.Clone(k.rounds), nil
}

func (k *knownRounds) add(p *study.Plan, encoded []byte) {
	// We encoded it; a log that holds anything else has failed its checksum.
	head, _ := study.ParseHead(encoded)
	v := View{Query: head.Query, Round: head.Round, Kind: head.Kind, Slot: head.Slot, Survivors: head.Survivors, Rho: head.Rho, NoiseToSignal: -1, Turn: -1}
	if head.Query >= 0 && head.Query < len(p.Queries) {
		v.Of, v.Run = p.Queries[head.Query].Of, p.Queries[head.Query].Run
	}
	v.Retried = head.Slot
	if n := len(k.rounds); n > 0 {
		v.Retried = head.Slot - k.rounds[n-1].Slot - 1
	}
	if head.Kind == study.KindPower {
		if r, err := study.ParseRelease(encoded); err == nil {
			v.NoiseToSignal = r.NoiseToSignal(p.D)
			if r.Round > 0 && len(k.last) == len(r.X) {
				v.Turn = turn(k.last, r.X, p.D)
			}
			k.last = r.X
		}
	}
	k.rounds = append(k.rounds, v)
}

// turn is the largest angle, in degrees, of a vector of block to the span of the step before's;
// both are orthonormal vectors of d. By the part outside of the span: its sine is exact where the
// angle is small.
func turn(before, block []float64, d int) float64 {
	largest := 0.0
	for at := 0; at+d <= len(block); at += d {
		rest := slices.Clone(block[at : at+d])
		for from := 0; from+d <= len(before); from += d {
			b, dot := before[from:from+d], 0.0
			for i := range rest {
				dot += rest[i] * b[i]
			}
			for i := range rest {
				rest[i] -= dot * b[i]
			}
		}
		square := 0.0
		for _, x := range rest {
			square += x * x
		}
		largest = max(largest, square)
	}
	return math.Asin(min(1, math.Sqrt(largest))) * 180 / math.Pi
}
