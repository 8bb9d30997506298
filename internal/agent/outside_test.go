package agent

import (
	"strings"
	"testing"

	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestPolicyOutside: with outside = "reject" a study beyond a limit is rejected at once, signed,
// and nothing is reserved or put on record; with "ask" it waits.
func TestPolicyOutside(t *testing.T) {
	for outside, want := range map[string]study.Verdict{siteconfig.OutsideAsk: study.VerdictPending, siteconfig.OutsideReject: study.VerdictRejected} {
		c := newStandIn(t, 3, strings.Replace(autoPolicy, `"central", `, "", 1)+"outside = \""+outside+"\"\n", nil)
		s := c.sites[0]
		d := wantDecision(s, c.body)
		if d.Verdict != want {
			t.Errorf("outside = %q: %s", outside, d.Verdict)
		}
		if want == study.VerdictRejected && !study.CheckDecision(c.plan.Proposal.Roster[0], c.plan.Digest, study.VerdictRejected, study.CodeRejected, d.Signature) {
			t.Error("the rejection is not signed")
		}
		if n := len(s.agent.ledger.Studies()); n != 0 {
			t.Errorf("%d studies on record", n)
		}
		if !strings.Contains(s.log.String(), "noise: ") {
			t.Errorf("the log does not say which limit:\n%s", s.log.String())
		}
	}
}

func wantDecision(s *testSite, body []byte) wire.Decision {
	return want[wire.Decision](s, wire.Proposal{Body: body})
}
