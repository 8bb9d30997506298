package worth

import (
	"math"
	"slices"
	"testing"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// TestLongTails: two directions of equal variance differ, over clipped rows of a heavy tail, by no
// more than the bounds say, and by at most a sixth less. Of normal rows the bounds say what they
// would without a clip.
func TestLongTails(t *testing.T) {
	const n = 100_000
	p, _ := planned(t, spec(12, 1, proposal.MethodCovariance), n)
	query := -1
	for i, q := range p.Queries {
		if q.Kind == study.KindHistogram && q.Of == study.KindTotal {
			query = i
		}
	}
	lambda := []float64{3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	for _, c := range []struct {
		freedom int     // of t rows; normal ones if 0
		beyond  float64 // the clip, of all rows
		least   float64
	}{{0, 0.1, 1}, {5, 0.1, 1.05}, {3, 0.1, 1.25}, {3, 0.5, 0}} {
		rng := seeded(uint64(40 + c.freedom))
		squares := make([]float64, n)
		rel := study.Release{Query: query, Kind: study.KindHistogram, Grid: 1, Units: n, Noised: make([]int64, study.HistogramBins)}
		xi := make([]float64, len(lambda))
		y := make([][]float64, n)
		for i := range n {
			s := 1.0
			if c.freedom > 0 {
				s = 0
				for range c.freedom {
					g := rng.NormFloat64()
					s += g * g / float64(c.freedom)
				}
			}
			for _, v := range lambda {
				y[i] = append(y[i], math.Sqrt(v/s)*rng.NormFloat64())
			}
			squares[i] = linalg.Dot(y[i], y[i])
			bin := 0
			for study.BinEdge(bin) < squares[i] {
				bin++
			}
			rel.Noised[bin]++
		}
		r := &result.Result{N: n, Releases: []study.Release{rel}}
		left := float64(n)
		for at := 0; left > c.beyond*n; at++ {
			left -= float64(rel.Noised[at])
			r.Radius = study.BinEdge(at)
		}
		square := 0.0
		for i := range n {
			w := min(1, r.Radius/squares[i])
			for j, v := range y[i] {
				xi[j] += w * v * v / n
			}
			square += math.Pow(w*y[i][0]*y[i][0]-w*y[i][1]*y[i][1], 2) / n
		}
		x := (xi[0] + xi[1]) / 2
		want, got := square/(4*x*x), longTails(p, r, xi)
		if got < max(1, want) || got > 1.2*max(1, want) || max(1, want) < c.least {
			t.Errorf("t rows of %d, %g beyond the clip: they vary %.3f times as much, %.3f is said", c.freedom, c.beyond, want, got)
		}
	}
}

// TestLongTailsCount: where lengths spread over two octaves, rows say less than as many normal ones
// do, with given constants and with learned ones.
func TestLongTailsCount(t *testing.T) {
	learned := correlatedOf(24, 41, plain)
	learned.long = learned.second
	given := law{rng: seeded(42)}
	given.second = diagonal(slices.Repeat([]float64{1}, 24)...)
	given.second.SetSym(0, 0, 4)
	given.long, given.radius = given.second, 24
	for name, c := range map[string]struct {
		law law
		of  proposal.Spec
	}{"given": {given, spec(24, 1, proposal.MethodCovariance)}, "learned": {learned, learnedSpec(24, 1, proposal.MethodCovariance)}} {
		p, r := c.law.run(t, c.of, 12_000)
		a, _, err := spectrumOf(p, r)
		if err != nil {
			t.Fatal(err)
		}
		if share := a.n / sampleOf(r); share > 0.98 || share < 0.8 {
			t.Errorf("%s: rows count as %.3f of as many normal ones", name, share)
		}
	}
}
