package coordinator

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/site"
)

// TestLargestMessage: what an honest site sends fits a study's limit, and the limit is of the
// study's own size (LIM-5).
func TestLargestMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		l := f.sites[0].link
		l.limit, l.studies = 0, 0
		f.c.expect(l)
		if l.limit != wire.LargestOfSite(f.plan) || l.limit > 2*wire.ShortMessage {
			t.Errorf("a limit of %d bytes, for %d", l.limit, wire.LargestOfSite(f.plan))
		}
		most := 0
		for _, s := range f.sites {
			s.corrupt = func(m *covey.SiteMessage) {
				raw, err := proto.Marshal(m)
				if err != nil {
					t.Errorf("%T does not pass: %v", m.GetBody(), err)
				}
				most = max(most, len(raw))
			}
		}
		f.finish()
		// The longest refusal, with the query's release.
		release := f.releases()[len(f.releases())-1]
		encoded, err := release.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if most = max(most, len(encoded)+1000); most > l.limit {
			t.Errorf("an honest message of %d bytes, at most %d", most, l.limit)
		}
		stranger := newLink("nobody")
		f.c.expect(stranger)
		if stranger.limit != wire.ShortMessage {
			t.Errorf("who is in no study may say %d bytes", stranger.limit)
		}
	})
}

// TestLargestOfPlans: the limit holds an upload, and a setup's messages, of plans of other sizes.
func TestLargestOfPlans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, change := range map[string]func(*proposal.Spec){
			"covariance": func(s *proposal.Spec) { s.Method = proposal.MethodCovariance },
			"components": func(s *proposal.Spec) { s.Components = 3 },
			"rounds":     func(s *proposal.Spec) { s.Rounds = 100 },
		} {
			f := newFederation(t, 7, change)
			for _, q := range f.plan.Queries {
				if wire.LargestOfSite(f.plan) < q.Bytes+1000 {
					t.Errorf("%s: an upload of %d bytes, a limit of %d", name, q.Bytes, wire.LargestOfSite(f.plan))
				}
			}
			// 1088 of ML-KEM, 16 of GCM, 64 of the signature; shares of b and e to all others, and
			// at most to all a key and a tag.
			most := 6 * (1088 + 16 + 64 + 4*32*f.plan.Slots)
			if got := wire.LargestOfSite(f.plan); got < most {
				t.Errorf("%s: boxes of %d bytes, a limit of %d", name, most, got)
			}
			f.c.Close()
		}
	})
}

// TestLargestOfTheSparseGraph: the limit holds what the site with most pairs sends, and a message
// that a leader asks for again, and is no more than a few times that.
func TestLargestOfTheSparseGraph(t *testing.T) {
	if testing.Short() {
		t.Skip("the others of the sparse graph are enough with the race detector")
	}
	synctest.Test(t, func(t *testing.T) {
		f := newSparse(t)
		defer func() { f.c.Close() }()
		most := 0
		for _, s := range f.sites {
			s.corrupt = func(m *covey.SiteMessage) {
				if m.GetBoxes() != nil || m.GetRecalled() != nil || m.GetConfirmation() != nil {
					raw, err := proto.Marshal(m)
					if err != nil {
						t.Error(err)
					}
					most = max(most, len(raw))
				}
			}
		}
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		f.crash(-1)
		f.pump(func() bool { return f.state().Survivors != nil })
		if got := wire.LargestOfSite(f.plan); most == 0 || most > got || got > 4*most {
			t.Errorf("%d bytes at most, a limit of %d", most, got)
		}
		// With many slots boxes are the longest by far: shares to holders, keys and tags to those
		// whose pairs the site owns.
		long := *f.plan
		long.Slots = 300
		most = 0
		for i, s := range f.sites {
			g := s.setup.Graph()
			most = max(most, len(g.Recipients(i))*(1088+16+64)+2*32*long.Slots*(len(g.Holders(i))+len(g.Owned(i))))
		}
		if got := wire.LargestOfSite(&long); most > got || got > 4*most {
			t.Errorf("of 300 slots %d bytes at most, a limit of %d", most, got)
		}
	})
}

// TestJoinsWithoutATokenWriteNothing: whoever has no token puts nothing into the log, whatever it
// signs (LIM-8).
func TestJoinsWithoutATokenWriteNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		late, csr := site.Keys(t, t.TempDir(), "late")
		join := func(token pki.Token) error {
			_, err := f.c.join(t.Context(), token.Bytes(), "late", csr, late.Identity().Public().(ed25519.PublicKey), late.ProveIdentity("late", token.Hash(), csr))
			return err
		}
		stranger, err := pki.NewToken()
		if err != nil {
			t.Fatal(err)
		}
		invited, err := f.c.Invite("late", []string{"localhost:1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		before := len(f.log.all())
		for range 100 {
			if _, refused := errors.AsType[*membership.JoinError](join(stranger)); !refused {
				t.Fatal("not refused")
			}
		}
		if got := len(f.log.all()); got != before {
			t.Errorf("%d entries for 100 wrong tokens", got-before)
		}
		if err := join(invited.Token); err != nil || len(f.log.all()) != before+1 {
			t.Errorf("the right token: %v, %d entries", err, len(f.log.all())-before)
		}
		// The same again is the reply that was lost, and another's is refused.
		if err := join(invited.Token); err != nil {
			t.Error(err)
		}
	})
}

// TestFaultsArePaced: messages that fail a check are worked off ever more slowly, so that they fill
// neither the log nor the leader's time (LIM-6).
func TestFaultsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.untilIn(0, 1, 2, 3, 4)
		f.logs.Reset()
		bad := &covey.SiteMessage{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{
			Study: f.plan.Digest[:], Verdict: covey.Verdict_VERDICT_APPROVED, Signature: make([]byte, 64)}}}
		pace, began := f.c.paceOf("site-4"), time.Now()
		for range 120 {
			if err := f.c.hears(f.sites[4].link, bad); err != nil {
				t.Fatal(err)
			}
			time.Sleep(pace.Spend(time.Now(), costMessage+costIdle))
		}
		if took := time.Since(began); took < 10*time.Second*9/10 {
			t.Errorf("120 faults in %v", took)
		}
		if n := strings.Count(f.logs.String(), "failed a check"); n != 120 {
			t.Errorf("%d of 120 are in the log", n)
		}
	})
}
