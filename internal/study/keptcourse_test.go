package study_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestRadiusIsOfKeptRows: the quantile by which sums are clipped is of the rows that are kept. A
// quarter of them more in the lowest bin must not move it.
func TestRadiusIsOfKeptRows(t *testing.T) {
	p := runs.MustPlan(t, texts.With(texts.Minimal, `missing = "drop-row"`, "rounds = 1"), 9000, 9000, 9000, 9000, 9000)
	quiet := rand.New(rand.NewPCG(1, 1))
	for _, kept := range []float64{1, 0.75, 0.3} {
		releases := runs.RunKept(t, p, quiet, kept)
		at := slices.IndexFunc(releases, func(r study.Release) bool { return r.Kind == study.KindPower })
		if got := releases[at].Radius; !(got > study.BinEdge(271) && got <= study.BinEdge(272)) {
			t.Errorf("of %v of the rows the radius is %v, want one in bin 272, to %v", kept, got, study.BinEdge(272))
		}
	}
}
