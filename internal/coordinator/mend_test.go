package coordinator

import (
	"crypto/ed25519"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// lines counts the lines of the log with a text.
func (f *federation) lines(text string) int {
	f.c.machine.mu.Lock() // what is committed is logged under it
	defer f.c.machine.mu.Unlock()
	return strings.Count(f.logs.String(), text)
}

const (
	refusesLine  = "a site refuses to take part in a study"
	deadlineLine = "a deadline has passed"
)

// TestDataComesBackOnTheLink: R24. A site whose data is away is asked again, is shown with the code
// and logged once, and goes on by itself once the data is back.
func TestDataComesBackOnTheLink(t *testing.T) {
	const at = 2
	for _, dropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		synctest.Test(t, func(t *testing.T) {
			f := newFederation(t, 5, func(s *proposal.Spec) { s.OnDropout, s.Rounds = dropout, 3 })
			defer func() { f.c.Close() }()
			asked, away, wait := 0, true, dropout == proposal.DropoutWait
			f.sites[at].corrupt = func(m *covey.SiteMessage) {
				if u := m.GetUpload(); u != nil && away {
					asked++
					m.Body = &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: u.GetStudy(), Query: u.GetQuery(), Slot: u.GetSlot(), Code: covey.Code_CODE_DATA}}
				}
			}
			// In a study that goes on, this holds the first query open.
			f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
			f.sites[3].mute = f.sites[4].mute
			for asked < 4 {
				f.pump(nil)
				time.Sleep(100 * time.Millisecond)
			}
			f.pump(nil)
			v := f.view()
			if v.Status != round.StatusRunning || v.Sites[at].Refused != study.CodeData || v.Sites[1].Refused != "" {
				t.Errorf("%s: %s, site %+v", dropout, v.Status, v.Sites[at])
			}
			if n := f.lines(refusesLine); n != 1 {
				t.Errorf("%s: %d refusals of %d are in the log", dropout, n, asked)
			}
			if n := f.lines(deadlineLine); n != 1 {
				t.Errorf("%s: %d deadlines are in the log", dropout, n)
			}
			if wait && f.lines("waiting_for=\"[site-2 site-3 site-4]\"") != 1 {
				t.Errorf("the log does not name the late sites:\n%s", f.logs.String())
			}
			away = false
			for _, i := range []int{3, 4} {
				f.sites[i].mute = nil
				f.connect(i)
			}
			if v := f.finish(); v.Status != round.StatusCompleted || v.Sites[at].Refused != "" {
				t.Errorf("%s: %s (%s)", dropout, v.Status, v.Code)
			}
		})
	}
}

// TestRevokedIsNotWaitedFor: R24. A study that goes on without a revoked site waits for no deadline
// of its, under a leader that begins too, and shows why it does not come back.
func TestRevokedIsNotWaitedFor(t *testing.T) {
	for _, crash := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFederation(t, 5, func(s *proposal.Spec) { s.Rounds = 4 })
			defer func() { f.c.Close() }()
			f.sites[1].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
			f.pump(nil)
			if err := f.c.Revoke(pki.RoleSite, "site-1"); err != nil {
				t.Fatal(err)
			}
			f.drop(1)
			if crash {
				f.crash(-1)
			}
			check := func(barred string) {
				t.Helper()
				if v := f.view(); v.Sites[1].Barred != barred || v.Sites[1].Connected || v.Sites[0].Barred != "" {
					t.Errorf("%+v, want %q", v.Sites[1], barred)
				}
			}
			check("revoked")
			other := ed25519.NewKeyFromSeed(make([]byte, 32))
			f.apply(entry{Invite: &membership.InviteEntry{Token: "again", Invite: membership.Invite{Site: "site-1", Expires: time.Now().Add(time.Hour)}}})
			f.apply(entry{Join: &membership.JoinEntry{Token: "again", Name: "site-1", Key: proposal.Key(other.Public().(ed25519.PublicKey)), Now: time.Now()}})
			f.c.linked(newLink("site-1"), nil, chain.Head{})
			check("other key")
			if v := f.finish(); v.Status != round.StatusCompleted || v.Survivors != 4 {
				t.Fatalf("%s (%s), %d survivors", v.Status, v.Code, v.Survivors)
			}
			if n := f.lines(deadlineLine); n != 0 {
				t.Errorf("%d deadlines passed", n)
			}
		})
	}
}

// TestBrokenChainIsShown: a site that keeps another chain is shown as such where studies and sites
// are, with the head that its operator is told by phone.
func TestBrokenChainIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 4, nil)
		defer func() { f.c.Close() }()
		f.sites[3].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
		f.pump(nil)
		no := wire.Refusal{Header: wire.Header{Study: f.plan.Digest}, Code: study.CodeBrokenChain}
		if err := f.c.receive(f.sites[3].link, no); err != nil {
			t.Fatal(err)
		}
		r := f.c.Sites()
		if v := f.view(); v.Sites[3].Refused != study.CodeBrokenChain || v.Sites[2].Refused != "" || !r.Sites[3].BrokenChain || r.Sites[2].BrokenChain {
			t.Errorf("%+v; %+v", v.Sites, r.Sites)
		}
		m := f.c.machine.lock()
		head := m.chain.Head()
		f.c.machine.unlock()
		if r.Chain.Number == 0 || r.Chain != head {
			t.Errorf("head %v", r.Chain)
		}
		f.sites[3].mute = nil
		f.connect(3)
		if v := f.finish(); v.Status != round.StatusCompleted || v.Sites[3].Refused != "" || f.c.Sites().Sites[3].BrokenChain {
			t.Errorf("%s (%s): %+v", v.Status, v.Code, v.Sites[3])
		}
	})
}
