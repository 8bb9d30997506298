package round

import (
	"fmt"
	"maps"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestWhoLeftIsToldTheEnd: a site that refused for good is asked nothing more on its link, and told
// the end of the study on it like every other: until then it holds back what it reserved.
func TestWhoLeftIsToldTheEnd(t *testing.T) {
	const left = 2
	for _, c := range []struct {
		dropout string
		status  Status
	}{{proposal.DropoutWait, StatusEnded}, {proposal.DropoutContinue, StatusCompleted}} {
		h := newHarness(t, 5, func(s *proposal.Spec) { s.OnDropout = c.dropout })
		h.mute[fmt.Sprint("upload ", left)] = true
		h.run() // until the others wait for it
		h.event(Refused{Site: left, Query: h.state.Query, Slot: h.state.Slot, Code: study.CodePlanMismatch})
		told := map[int]int{}
		for !h.state.Terminal() || len(h.pending) > 0 {
			if len(h.pending) == 0 {
				if h.event(Expired{Query: h.state.Query, Slot: h.state.Slot, Phase: PhaseUpload}); len(h.pending) == 0 {
					break
				}
			}
			if e, ok := h.pending[0].(Send); ok {
				switch e.Message.(type) {
				case wire.Ended:
					told[e.Site]++
				case wire.Final, wire.Attest: // who could not go on may sign
				default:
					if e.Site == left {
						t.Errorf("%s: a site that left is sent %T", c.dropout, e.Message)
					}
				}
			}
			h.one()
		}
		h.want(c.status)
		for i := range 5 {
			if told[i] != 1 {
				t.Errorf("%s: site %d is told the end %d times", c.dropout, i, told[i])
			}
		}
	}
}

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
