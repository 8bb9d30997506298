package corrupt

import (
	"crypto/ed25519"
	"encoding/binary"
	"slices"
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// TestHeld: before each upload the corrupt site says, with a right signature of its own, that it
// has signed a set of survivors without the first site. Every sum is over all sites all the same,
// in its first slot, and the site is named (R7, R4).
func TestHeld(t *testing.T) {
	if testing.Short() {
		t.Skip("several fleets of processes")
	}
	inBubble(t, func(f *bubble) {
		for _, mode := range []string{proposal.DropoutContinue, proposal.DropoutWait} {
			d := f.played(mode, func(s *proposal.Spec) { s.OnDropout, s.Rounds = mode, 3 }, f.holding)
			v, releases := f.completed(d)
			for _, r := range releases {
				if len(r.Survivors) != honest+1 || r.Slot != r.Query {
					t.Errorf("%s: query %d is over %v, in slot %d", mode, r.Query, r.Survivors, r.Slot)
				}
			}
			if got := f.faults(v); !slices.Equal(got, []study.Code{study.CodeHeld}) {
				t.Errorf("%s: caught at %v", mode, got)
			}
			f.proxy.act(nil)
		}
	})
}

// holding says `held` of all sites but the first for each query that the site is asked, in front of
// its agent's answer.
func (f *bubble) holding(d proposal.Digest, plan *study.Plan) func(*covey.CoordinatorMessage) bool {
	u := secagg.Survivors{1, 2, 3, 4}
	var setup *secagg.Setup
	var err error
	return func(m *covey.CoordinatorMessage) bool {
		switch b := m.GetBody().(type) {
		case *covey.CoordinatorMessage_Deal:
			setup, err = secagg.Verify(plan.Setup(), b.Deal.GetAnnouncements())
			f.Must(err)
		case *covey.CoordinatorMessage_Query:
			ask := plan.Queries.Fill(askOf(b.Query))
			q := plan.Summed(setup.Transcript(), ask)
			signature := signed(f.proxy.site.Identity(), setup, q, u)
			r := &covey.Refusal{Study: d[:], Query: b.Query.GetQuery(), Slot: b.Query.GetSlot(), Code: covey.Code_CODE_HELD,
				Context: q.Context[:], Signature: signature}
			for _, i := range u {
				r.Survivors = append(r.Survivors, uint32(i))
			}
			f.proxy.say(siteMessage(&covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: r}}))
		}
		return true
	}
}

// signed is a release signature on any U, also one that no rule allows, and so none of
// [secagg.Witness.SignRelease].
func signed(key ed25519.PrivateKey, s *secagg.Setup, q secagg.Query, u secagg.Survivors) []byte {
	transcript, hash := s.Transcript(), u.Hash()
	m := append([]byte("covey secagg release v2\x00"), transcript[:]...)
	m = binary.BigEndian.AppendUint32(m, uint32(q.Slot))
	m = append(m, q.Context[:]...)
	return ed25519.Sign(key, append(m, hash[:]...))
}

// TestAccusations: the corrupt site refuses because of an honest one, without what would prove it:
// the liar is named (R20).
func TestAccusations(t *testing.T) {
	if testing.Short() {
		t.Skip("several fleets of processes")
	}
	inBubble(t, func(f *bubble) {
		accuse := func(code covey.Code, instead func(*covey.SiteMessage) bool) lie {
			return func(m *covey.SiteMessage) []*covey.SiteMessage {
				if instead(m) {
					d := studyOf(m)
					m.Body = &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: d, Code: code, Culprit: 1}}
				}
				return truth(m)
			}
		}
		boxes := func(m *covey.SiteMessage) bool { return m.GetBoxes() != nil }
		confirmation := func(m *covey.SiteMessage) bool { return m.GetConfirmation() != nil }
		uploads := func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
		for _, c := range []struct {
			name string
			lie  lie
			code study.Code
		}{
			{"keys that the coordinator checked", accuse(covey.Code_CODE_BAD_ANNOUNCEMENT, boxes), study.CodeBadRefusal},
			{"shares that nobody has sent", accuse(covey.Code_CODE_BAD_SHARE, boxes), study.CodeBadRefusal},
			{"shares", accuse(covey.Code_CODE_BAD_SHARE, confirmation), study.CodeBadRefusal},
			{"two boxes", accuse(covey.Code_CODE_BAD_BOX, confirmation), study.CodeBadRefusal},
			{"shares that it confirmed", accuse(covey.Code_CODE_BAD_SHARE, uploads), study.CodeBadRefusal},
			{"confirmations that the coordinator checked", accuse(covey.Code_CODE_BAD_CONFIRMATION, uploads), study.CodeBadRefusal},
			{"an honest site's plan", accuse(covey.Code_CODE_PLAN_MISMATCH, uploads), study.CodePlanMismatch},
		} {
			f.proxy.tell(c.lie)
			f.ended(f.study(c.name, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait }), c.code)
		}
	})
}

// askOf is a query as the coordinator asks it.
func askOf(q *covey.Query) study.Ask {
	return study.Ask{Query: int(q.GetQuery()), Slot: int(q.GetSlot()), History: proposal.Digest(q.GetHistory()),
		X: q.GetX(), Center: q.GetCenter(), Found: q.GetFound(), Radius: q.GetRadius(), Grid: q.GetGrid(), Sigma: noise.Sigma(q.GetSigma())}
}

// studyOf is the study that an answer is about.
func studyOf(m *covey.SiteMessage) []byte {
	switch b := m.GetBody().(type) {
	case *covey.SiteMessage_Boxes:
		return b.Boxes.GetStudy()
	case *covey.SiteMessage_Confirmation:
		return b.Confirmation.GetStudy()
	case *covey.SiteMessage_Upload:
		return b.Upload.GetStudy()
	}
	return nil
}
