package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// keptRun makes a study's releases where one row of four is left out: the kept ones have variance 2
// along the component and 9 in all, and the mean (3, 0).
func keptRun(t *testing.T, p *Plan, rng *rand.Rand, kept float64) []Release {
	t.Helper()
	c := p.Start()
	var out []Release
	for c.Query < len(p.Queries) {
		q := p.Queries[c.Query]
		a, err := p.NewAsk(c, c.Query, 0)
		if err == nil {
			err = p.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, q.Values)
		switch q.Kind {
		case KindRows:
			values[0] = kept
		case KindMean:
			values[0] = 3 * kept
			if a.Center != nil {
				values[0] = (3 - a.Center[0]) * kept
			}
		case KindVariance:
			values[0] = 2 * kept
		case KindTotal:
			values[0] = 9 * kept
		case KindPower:
			values[0] = 2 * kept
		}
		noised := make([]int64, q.Values)
		for j := range noised {
			noised[j] = int64(math.Round(values[j]*float64(p.N)/a.Grid + a.Sigma.Float()*rng.NormFloat64()))
		}
		if q.Kind == KindHistogram { // what is left out is in the lowest bin
			noised[0] += int64(float64(p.N) / a.Grid * (1 - kept))
			noised[268] += int64(float64(p.N) / a.Grid * kept * 0.88)
			noised[272] += int64(float64(p.N) / a.Grid * kept * 0.12)
		}
		r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, noised)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, out); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestKeptRowsScaleTheResult: with a quarter of the rows left out, mean and variances are those of
// the rows that are kept, the released number of which covers the true one in 95% of 200 seeded
// runs (a right interval fails here with probability below 10^-4), in both noise modes.
func TestKeptRowsScaleTheResult(t *testing.T) {
	for _, noise := range []string{NoiseCentral, NoiseDistributed} {
		text := strings.Replace(minimal, "explained_variance = \"none\"\ncenter = \"public\"", "missing = \"drop-row\"\nrounds = 1\nnoise = \""+noise+"\"", 1)
		p := mustPlan(t, text, 9000, 9000, 9000, 9000, 9000)
		if p.Queries[0].Kind != KindRows || p.Proposal.Spec.Center != CenterPrivate {
			t.Fatalf("the first query is %+v, center %s", p.Queries[0], p.Proposal.Spec.Center)
		}
		if share := p.RowsShare(); math.Abs(share-0.01) > 1e-3 {
			t.Errorf("counting rows takes %v of the budget", share)
		}
		rng, runs, covered := rand.New(rand.NewPCG(7, 5)), 200, 0
		for range runs {
			r, err := NewResult(p, keptRun(t, p, rng, 0.75))
			if err != nil {
				t.Fatal(err)
			}
			if in := r.RowsKeptInterval; in != nil && in[0] <= 33750 && 33750 <= in[1] {
				covered++
			}
			if math.Abs(r.PerUnit-0.75) > 0.02 || math.Abs(r.Mean[0]-3) > 0.12 || math.Abs(r.ExplainedVariance[0]-2) > 0.4 || math.Abs(r.TotalVariance-9) > 1 {
				t.Fatalf("kept %v, mean %v, variance %v of %v", r.PerUnit, r.Mean, r.ExplainedVariance, r.TotalVariance)
			}
			if text := r.KeptText(); !strings.Contains(text, "of 45000 rows") || !strings.Contains(text, "may differ from the rest") {
				t.Fatalf("the result says %q", text)
			}
		}
		if covered < runs*9/10 {
			t.Errorf("%s: of %d intervals %d cover", noise, runs, covered)
		}
	}
}

// TestRadiusIsOfKeptRows: the quantile by which sums are clipped is of the rows that are kept. A
// quarter of them more in the lowest bin must not move it.
func TestRadiusIsOfKeptRows(t *testing.T) {
	p := mustPlan(t, with(minimal, `missing = "drop-row"`, "rounds = 1"), 9000, 9000, 9000, 9000, 9000)
	quiet := rand.New(rand.NewPCG(1, 1))
	for _, kept := range []float64{1, 0.75, 0.3} {
		releases := keptRun(t, p, quiet, kept)
		at := slices.IndexFunc(releases, func(r Release) bool { return r.Kind == KindPower })
		if got := releases[at].Radius; !(got > BinEdge(271) && got <= BinEdge(272)) {
			t.Errorf("of %v of the rows the radius is %v, want one in bin 272, to %v", kept, got, BinEdge(272))
		}
	}
}

// TestNothingKept: what noise leaves of no rows is divided by no less than noise.
func TestNothingKept(t *testing.T) {
	p := mustPlan(t, with(minimal, `missing = "drop-row"`, "rounds = 1"), 9000, 9000, 9000, 9000, 9000)
	q := p.Queries[0]
	c := p.Start()
	a, err := p.NewAsk(c, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []int64{-1 << 40, 0} {
		r, err := p.NewRelease(a, []int{0, 1, 2, 3, 4}, []int64{v})
		if err != nil {
			t.Fatal(err)
		}
		next, err := p.Next(c, r, nil)
		if err != nil || q.Kind != KindRows || next.PerUnit < 2*r.Tau()*(1-1e-12) {
			t.Errorf("%s leaves %v rows per unit, the noise is %v, %v", q.Kind, next.PerUnit, r.Tau(), err)
		}
	}
}

// TestPaperCountsNothing: Algorithm 1's own τ has no charge for a count.
func TestPaperCountsNothing(t *testing.T) {
	_, err := ParseSpec([]byte(with(minimal, `profile = "paper"`, "lambda = 1.0", "rounds = 2", `missing = "drop-row"`)))
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("paper with rows left out: %v", err)
	}
}
