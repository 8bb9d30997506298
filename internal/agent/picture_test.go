package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// Only a site whose policy has picture_by_site takes part in a study that pictures sites by
// themselves: without it nobody there can approve one, not the operator either, also where the key
// is taken back while it waits.
func TestPictureBySiteNeedsItsPolicy(t *testing.T) {
	bySite := func(s *proposal.Spec) {
		s.Radius, s.Rounds, s.Components, s.ExplainedVariance, s.Picture, s.PictureBy = "", 0, 2, proposal.VariancePrivate, true, proposal.PictureBySite
	}
	const key = "picture_by_site = true\n"
	for _, c := range []struct {
		policy  string
		verdict study.Verdict
	}{
		{autoPolicy, study.VerdictRejected},
		{"approve = \"ask\"\n", study.VerdictRejected},
		{autoPolicy + key, study.VerdictApproved},
		{"approve = \"ask\"\n" + key, study.VerdictPending},
	} {
		t.Run(fmt.Sprintf("%q", c.policy), func(t *testing.T) {
			f := newStandIn(t, 3, c.policy, bySite)
			s := f.sites[0]
			d := want[wire.Decision](s, wire.Proposal{Body: f.body})
			if d.Verdict != c.verdict || c.verdict == study.VerdictRejected && d.Code != study.CodeRejected {
				t.Fatalf("it decides %+v, want %s\n%s", d, c.verdict, s.log.String())
			}
			if c.verdict == study.VerdictRejected && !strings.Contains(s.log.String(), "which this site's policy refuses without picture_by_site = true") {
				t.Errorf("the log does not say why:\n%s", s.log.String())
			}
			if c.verdict == study.VerdictPending {
				s.words(key, "")
				s.reload(false)
			}
			if c.verdict != study.VerdictApproved {
				var refused *RefusedError
				if err := s.agent.Decisions.Approve(f.plan.Digest); err == nil || c.verdict == study.VerdictPending && (!errors.As(err, &refused) || refused.Code != study.CodeRejected) {
					t.Errorf("the operator's approval: %v", err)
				}
				if _, ok := s.agent.ledger.Approved(f.plan.Digest); ok {
					t.Error("it is approved")
				}
			}
		})
	}
}
