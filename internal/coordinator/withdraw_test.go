package coordinator

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// undecided is a federation of three whose last site leaves the proposal to its operator.
func undecided(t *testing.T, change func(*proposal.Spec)) *federation {
	f := newFederation(t, 3, change)
	f.sites[2].corrupt = func(m *covey.SiteMessage) {
		if d := m.GetDecision(); d != nil {
			d.Verdict, d.Signature = covey.Verdict_VERDICT_PENDING, nil
		}
	}
	f.pump(nil)
	if v := f.view(); v.Status != round.StatusProposed || !slices.Equal(v.Waiting, []string{"site-2"}) {
		t.Fatalf("%s, waiting for %v", v.Status, v.Waiting)
	}
	return f
}

// withdraw sends site i's word that it takes its approval back.
func (f *federation) withdraw(i int, signature []byte) {
	f.t.Helper()
	m := &covey.SiteMessage{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{
		Study: f.plan.Digest[:], Verdict: covey.Verdict_VERDICT_REJECTED, Code: covey.Code_CODE_WITHDRAWN, Signature: signature}}}
	if err := f.c.hears(f.sites[i].link, m); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

// TestWithdrawnApproval: an approval that is taken back before the last one came ends the study at
// once; it is in the views, the events, the log, the decisions on record and what the sites are
// told, and stays so after a crash.
func TestWithdrawnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := undecided(t, nil)
		defer func() { f.c.Close() }()
		f.withdraw(0, f.word(0, f.plan.Digest, "rejected", study.CodeWithdrawn))
		f.pump(nil)
		for _, when := range []string{"at once", "after a crash"} {
			v := f.view()
			if v.Status != round.StatusEnded || v.Code != study.CodeWithdrawn || v.Culprit != "site-0" || v.Sites[0].Verdict != study.VerdictRejected || v.Sites[0].Code != study.CodeWithdrawn || v.Sites[1].Code != "" {
				t.Fatalf("%s: %s %s %s %+v", when, v.Status, v.Code, v.Culprit, v.Sites)
			}
			words, _ := f.c.Decisions(f.plan.Digest)
			if len(words) != 2 || words[0].Code != study.CodeWithdrawn || words[0].Verdict != study.VerdictRejected {
				t.Errorf("%s: on record %+v", when, words)
			}
			told := slices.ContainsFunc(f.c.Overview(100).Happenings, func(h outline.Happening) bool {
				return h.Kind == string(round.EntryDecided) && h.Site == "site-0" && h.Code == study.CodeWithdrawn
			})
			if !told {
				t.Errorf("%s: no event tells", when)
			}
			f.crash(-1)
		}
		for i := range 3 {
			if !slices.ContainsFunc(f.sent, func(m sentMessage) bool { return m.site == i && m.m.GetEnded().GetCode() == covey.Code_CODE_WITHDRAWN }) {
				t.Errorf("site %d is not told", i)
			}
		}
		if !strings.Contains(f.logs.String(), "code=withdrawn") {
			t.Errorf("the log does not tell:\n%s", f.logs.String())
		}
	})
}

// TestWithdrawalMustBeSigned: nobody but the site can take its approval back, by none of the words
// that it signed before.
func TestWithdrawalMustBeSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := undecided(t, nil)
		defer f.c.Close()
		for name, signature := range map[string][]byte{
			"unsigned":          nil,
			"another site's":    f.word(1, f.plan.Digest, "rejected", study.CodeWithdrawn),
			"another study's":   f.word(0, proposal.Digest{1}, "rejected", study.CodeWithdrawn),
			"another reason's":  f.word(0, f.plan.Digest, "rejected", study.CodeRejected),
			"the approval's":    f.word(0, f.plan.Digest, "approved", ""),
			"approved with it":  f.word(0, f.plan.Digest, "approved", study.CodeWithdrawn),
			"rejected, no code": f.word(0, f.plan.Digest, "rejected", ""),
		} {
			f.withdraw(0, signature)
			if v := f.view(); v.Status != round.StatusProposed || v.Sites[0].Verdict != study.VerdictApproved {
				t.Fatalf("%s: %s, %s", name, v.Status, v.Sites[0].Verdict)
			}
		}
		e := round.Entry{Study: f.plan.Digest, Kind: round.EntryDecided, Site: 0, Verdict: study.VerdictRejected, Code: study.CodeWithdrawn}
		if err := f.c.apply(entry{Round: &e, Signature: f.word(0, f.plan.Digest, "rejected", study.CodeRejected)}); err == nil {
			t.Error("the log takes a withdrawal that is not signed")
		}
		if v := f.view(); v.Status != round.StatusProposed {
			t.Fatalf("%s", v.Status)
		}
	})
}

// TestWithdrawnWithoutALink: a site that withdrew while there was none is asked again on the next,
// and ends the study then.
func TestWithdrawnWithoutALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := undecided(t, nil)
		defer f.c.Close()
		f.c.dropped(f.sites[0].link)
		f.sites[0].corrupt = func(m *covey.SiteMessage) {
			if d := m.GetDecision(); d != nil {
				d.Verdict, d.Code = covey.Verdict_VERDICT_REJECTED, covey.Code_CODE_WITHDRAWN
				d.Signature = f.word(0, f.plan.Digest, "rejected", study.CodeWithdrawn)
			}
		}
		f.connect(0)
		f.pump(nil)
		if v := f.view(); v.Status != round.StatusEnded || v.Code != study.CodeWithdrawn || v.Culprit != "site-0" {
			t.Fatalf("%s %s %s", v.Status, v.Code, v.Culprit)
		}
	})
}

// TestProposalExpires: by the clock of whoever leads at that time, also after a failover; once all
// approved it does not apply.
func TestProposalExpires(t *testing.T) {
	expiring := func(s *proposal.Spec) { s.Expires = "2h" }
	synctest.Test(t, func(t *testing.T) {
		f := undecided(t, expiring)
		defer func() { f.c.Close() }()
		at := time.Now().Add(2 * time.Hour)
		if v := f.view(); v.Expires.IsZero() || v.Expires.Sub(at).Abs() > time.Second {
			t.Fatalf("expires %v, want %v", v.Expires, at)
		}
		time.Sleep(time.Hour)
		f.crash(-1)
		f.pump(nil)
		time.Sleep(time.Hour - 2*time.Second)
		synctest.Wait()
		if v := f.view(); v.Status != round.StatusProposed {
			t.Fatalf("before: %s %s", v.Status, v.Code)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if v := f.view(); v.Status != round.StatusEnded || v.Code != study.CodeExpired || v.Culprit != "" || !v.Expires.IsZero() {
			t.Fatalf("after: %s %s %s", v.Status, v.Code, v.Culprit)
		}
	})
	synctest.Test(t, func(t *testing.T) { // no coordinator led at that time
		f := undecided(t, expiring)
		defer func() { f.c.Close() }()
		f.c.Follow()
		time.Sleep(3 * time.Hour)
		if err := f.c.Lead(f.log); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if v := f.view(); v.Status != round.StatusEnded || v.Code != study.CodeExpired {
			t.Fatalf("%s %s", v.Status, v.Code)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, expiring)
		defer f.c.Close()
		f.sites[0].mute = func(m *covey.SiteMessage) bool { return m.GetConfirmation() != nil }
		f.pump(nil)
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if v := f.view(); v.Status != round.StatusSetup || !v.Expires.IsZero() {
			t.Fatalf("in the setup: %s %s, expires %v", v.Status, v.Code, v.Expires)
		}
	})
}

// TestExpiryByAClockThatIsSet: a leader that began while its clock ran ahead ends no proposal
// early, and one whose clock is set forward, as after a machine's sleep, ends it then.
func TestExpiryByAClockThatIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := undecided(t, func(s *proposal.Spec) { s.Expires = "2h" })
		defer func() { f.c.Close() }()
		var ahead atomic.Int64
		f.c.Follow()
		synctest.Wait()
		f.c.core.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		set := func(d time.Duration, want round.Status) {
			t.Helper()
			ahead.Store(int64(d))
			time.Sleep(61 * time.Second)
			synctest.Wait()
			if v := f.view(); v.Status != want {
				t.Fatalf("with a clock ahead by %v: %s %s", d, v.Status, v.Code)
			}
		}
		ahead.Store(int64(2*time.Hour - 10*time.Second))
		if err := f.c.Lead(f.log); err != nil {
			t.Fatal(err)
		}
		set(0, round.StatusProposed)
		set(time.Hour, round.StatusProposed)
		set(2*time.Hour, round.StatusEnded)
	})
}

// TestExpiryIsAheadAtCreation: a study that is over before it begins, or would wait for most of a
// year, is not proposed.
func TestExpiryIsAheadAtCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		for _, bad := range []time.Time{time.Now(), time.Now().Add(-time.Hour), time.Now().Add(91 * 24 * time.Hour)} {
			spec := f.plan.Proposal.Spec
			spec.Expires = proposal.Expiry(bad.UTC().Format(time.RFC3339))
			if _, err := f.c.Create(spec); err == nil || !strings.Contains(err.Error(), "expires") {
				t.Errorf("%s: %v", spec.Expires, err)
			}
			if _, err := f.c.Preview(spec); err == nil {
				t.Errorf("%s is previewed", spec.Expires)
			}
		}
		if n := len(f.c.Views()); n != 1 {
			t.Errorf("%d studies", n)
		}
	})
}

// TestRevokeNamesTheStudies that wait for the site, and what becomes of each; not those that are
// over, or are of others.
func TestRevokeNamesTheStudies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 4, nil)
		defer f.c.Close()
		f.sites[3].mute = func(m *covey.SiteMessage) bool { return m.GetUpload() != nil }
		f.pump(nil)
		running := f.plan.Digest
		create := func(name string, sites ...string) proposal.Digest {
			spec := f.plan.Proposal.Spec
			spec.Name, spec.Sites = name, sites
			plan, err := f.c.Create(spec)
			if err != nil {
				t.Fatal(err)
			}
			return plan.Digest
		}
		proposed := create("waits", "site-0", "site-1", "site-3")
		create("of others", "site-0", "site-1", "site-2")
		over := create("over", "site-0", "site-1", "site-3")
		if err := f.c.Abort(over); err != nil {
			t.Fatal(err)
		}
		if err := f.c.Revoke(pki.RoleSite, "site-3"); err != nil {
			t.Fatal(err)
		}
		got := f.c.AwaitedOf(pki.RoleSite, "site-3")
		want := []outline.RevokedStudy{
			{Digest: running, Name: "test", Status: round.StatusRunning, GoesOn: true}, {Digest: proposed, Name: "waits", Status: round.StatusProposed},
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if err := f.c.Revoke(pki.RoleSite, "site-2"); err != nil { // now too few are left
			t.Fatal(err)
		}
		if got := f.c.AwaitedOf(pki.RoleSite, "site-2"); len(got) != 2 || got[0].GoesOn {
			t.Errorf("with too few left: %+v", got)
		}
	})
}
