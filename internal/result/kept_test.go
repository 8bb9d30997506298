package result

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestKeptRowsScaleTheResult: with a quarter of the rows left out, mean and variances are those of
// the rows that are kept, the released number of which covers the true one in 95% of 200 seeded
// many (a right interval fails here with probability below 10^-4), in both noise modes.
func TestKeptRowsScaleTheResult(t *testing.T) {
	for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
		text := strings.Replace(texts.Minimal, "explained_variance = \"none\"\ncenter = \"public\"", "missing = \"drop-row\"\nrounds = 1\nnoise = \""+noise+"\"", 1)
		p := runs.MustPlan(t, text, 9000, 9000, 9000, 9000, 9000)
		if p.Queries[0].Kind != study.KindRows || p.Proposal.Spec.Center != proposal.CenterPrivate {
			t.Fatalf("the first query is %+v, center %s", p.Queries[0], p.Proposal.Spec.Center)
		}
		if share := p.Shares().Rows; math.Abs(share-0.01) > 1e-3 {
			t.Errorf("counting rows takes %v of the budget", share)
		}
		rng, many, covered := rand.New(rand.NewPCG(7, 5)), 200, 0
		for range many {
			r, err := New(p, runs.RunKept(t, p, rng, 0.75))
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
		if covered < many*9/10 {
			t.Errorf("%s: of %d intervals %d cover", noise, many, covered)
		}
	}
}
