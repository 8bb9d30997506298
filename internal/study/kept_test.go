package study

import (
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestNothingKept: what noise leaves of no rows is divided by no less than noise.
func TestNothingKept(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Minimal, `missing = "drop-row"`, "rounds = 1"), 9000, 9000, 9000, 9000, 9000)
	q := p.Queries[0]
	c := p.Start()
	a, err := p.NewAsk(c, 0)
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
	_, err := proposal.ParseSpec([]byte(texts.With(texts.Minimal, `profile = "paper"`, "lambda = 1.0", "rounds = 2", `missing = "drop-row"`)))
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("paper with rows left out: %v", err)
	}
}
