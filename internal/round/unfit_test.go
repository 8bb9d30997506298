package round

import (
	"maps"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// TestUnfitAskEndsTheStudy: a query that does not fit the plan is asked of nobody, since every site
// would refuse it. It ends the study, and names no site.
func TestUnfitAskEndsTheStudy(t *testing.T) {
	h := newHarness(t, 5, func(s *proposal.Spec) { s.Radius = "private" })
	for h.state.Query == 0 && h.one() {
	}
	h.state.Course.Radii = maps.Clone(h.state.Course.Radii)
	for k := range h.state.Course.Radii {
		h.state.Course.Radii[k] = 4 * study.BinEdge(study.HistogramBins-1)
	}
	h.crash() // the next leader asks
	asked := h.state.Query
	h.run()
	h.want(StatusEnded)
	if s := h.state; s.Code != study.CodeInternal || s.Culprit != -1 || s.Query != asked {
		t.Errorf("%s at query %d, culprit %d", s.Code, s.Query, s.Culprit)
	}
}
