package study

import (
	"maps"
	"math/big"
	"testing"
	"time"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/test/texts"
)

// TestOneTick: the draws of every kind of query with central noise take less than half of its tick,
// at the study's σ and at the widest. The fastest of up to 60 runs counts, which leaves out what
// else the machine does. A tick depends on the query's own values and σ, not on what else the study
// asks.
func TestOneTick(t *testing.T) {
	met := map[Kind]bool{}
	studies := maps.Clone(texts.Studies)
	studies["gaps, central"] = texts.With(texts.Four, `missing = "fill"`, "central_detail = true", `center = "private"`)
	for name, text := range studies {
		p := mustPlan(t, text, 1000, 1000, 1000, 1000, 1000)
		p.Proposal.Spec.Deadlines.Tick = proposal.Duration(time.Millisecond)
		for _, q := range p.Queries {
			a := Ask{Query: q.Index, Kind: q.Kind}
			sigma, err := p.Noise.Sigma(q, 1)
			if err != nil {
				t.Fatal(err)
			}
			if p.Honest > 0 {
				if a.Sigma = sigma; p.Tick(a) != time.Millisecond {
					t.Errorf("%s: %s of sites' noise has a tick of %v", name, q.Kind, p.Tick(a))
				}
				continue
			}
			if met[q.Kind] {
				continue
			}
			met[q.Kind] = true
			each := map[noise.Sigma]time.Duration{sigma: time.Microsecond}
			if !p.Noise.Chooses(p.Queries[q.Index]) {
				each[1<<44] = 5 * time.Microsecond
			}
			for sigma, most := range each {
				a.Sigma = sigma
				tick, took := p.Tick(a), fastest(t, p, q, sigma, p.Tick(a)/2)
				if took > tick/2 || tick != time.Millisecond+time.Duration(q.Values)*most {
					t.Errorf("%s: %s of %d values at σ = %g takes %v, its tick is %v", name, q.Kind, q.Values, sigma.Float(), took, tick)
				}
			}
		}
	}
	for _, k := range query.Kinds() {
		if !met[k.Kind] {
			t.Errorf("no study asks for %s", k.Kind)
		}
	}
}

// fastest returns the shortest time to draw the noise of a query's sum, or to choose among as many
// candidates of which all but one are hopeless: of 60 runs, or until one takes no more than enough.
func fastest(t *testing.T, p *Plan, q Query, sigma noise.Sigma, enough time.Duration) time.Duration {
	t.Helper()
	values, least := make([]int64, q.Values), time.Hour
	for k := byte(0); k < 60 && least > enough; k++ {
		clear(values)
		values[0] = 1 << 40
		source := noise.NewKeyed([32]byte{k})
		began := time.Now()
		var err error
		if p.Noise.Chooses(p.Queries[q.Index]) {
			_, err = noise.Select(values, big.NewRat(1, 1), source)
		} else {
			err = sigma.Draw(source, values)
		}
		if least = min(least, time.Since(began)); err != nil {
			t.Fatal(err)
		}
	}
	return least
}
