package study

import (
	"io"
	"maps"
	"math/big"
	"testing"
	"time"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/test/texts"
)

// TestOneTick: a tick depends on the query's own values and σ, not on what else the study asks. The
// draws of every kind of query with central noise, at the study's σ and at the widest, take no more
// work than ticks are made for. Work is random words: about 16 a value, and up to 64 that are read
// ahead. experiments/timing compares the time of draws with the tick.
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
			each := map[noise.Sigma]time.Duration{sigma: time.Microsecond, 1 << 44: 5 * time.Microsecond}
			if p.Noise.Chooses(p.Queries[q.Index]) { // TestSelectWithinItsTime
				each = map[noise.Sigma]time.Duration{0: 45 * time.Microsecond}
			}
			for sigma, most := range each {
				a.Sigma = sigma
				if tick := p.Tick(a); tick != time.Millisecond+time.Duration(q.Values)*most {
					t.Errorf("%s: %s of %d values at σ = %g has a tick of %v", name, q.Kind, q.Values, sigma.Float(), tick)
				}
				if got := words(t, p, q, sigma); got > 18*q.Values+128 {
					t.Errorf("%s: %s of %d values at σ = %g takes %d random words", name, q.Kind, q.Values, sigma.Float(), got)
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

// words returns how many random words it takes to draw the noise of a query's sum, or to choose
// among as many candidates of which all but one are hopeless.
func words(t *testing.T, p *Plan, q Query, sigma noise.Sigma) int {
	t.Helper()
	values, source := make([]int64, q.Values), &counted{Reader: noise.NewKeyed([32]byte{1})}
	values[0] = 1 << 40
	var err error
	if p.Noise.Chooses(p.Queries[q.Index]) {
		_, err = noise.Select(values, big.NewRat(1, 1), source)
	} else {
		err = sigma.Draw(source, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return source.bytes / 8
}

// counted counts what is read.
type counted struct {
	io.Reader
	bytes int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.bytes += n
	return n, err
}
