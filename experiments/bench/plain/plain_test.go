package plain

import (
	"math"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
)

// TestStudy: the baseline is a real study: every query is released, and the components of rows
// whose first column has the largest variance point along it.
func TestStudy(t *testing.T) {
	const sites, n, d = 3, 4000, 8
	spec := proposal.Spec{Center: proposal.CenterPublic, Name: "plain", Dataset: "rows", Epsilon: 8, Delta: 1e-6, Rounds: 24, Columns: Columns(d)}
	plan, err := NewPlan(spec, []int{n, n, n})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Start(t.TempDir(), sites, d, Values(n, d))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Stop()
	releases, err := f.Study(plan)
	if err != nil || len(releases) != len(plan.Queries) {
		t.Fatalf("%d of %d queries: %v", len(releases), len(plan.Queries), err)
	}
	result, err := result.New(plan, releases)
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Abs(result.Components[0][0]); got < 0.9 {
		t.Errorf("the first column has %v of the component", got)
	}
}
