package agent

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"covey/internal/egress"
	"covey/internal/keyring"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/responder"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	"covey/test/must"
)

// backup copies the site's whole data directory, as a snapshot of its machine would.
func (s *testSite) backup() string {
	s.t.Helper()
	to := filepath.Join(s.t.TempDir(), "backup")
	copyDir(s.t, to, s.dir)
	return to
}

// linked puts a hello and the study's announcement on record, as a link does: a ledger that was
// charged for a sum beside a record without them is an error of its own.
func (s *testSite) linked(study proposal.Digest) {
	s.t.Helper()
	must.Do(s.t, s.agent.egress.Record(uplink.Describe(wire.Hello{}, 1), testNow))
	must.Do(s.t, s.agent.egress.Record(uplink.Describe(wire.Announcement{Header: wire.Header{Study: study}}, 1), testNow))
}

// restore puts a backup back and starts the agent on it.
func (s *testSite) restore(backup string) {
	s.t.Helper()
	if err := errors.Join(s.agent.Close(), os.RemoveAll(s.dir)); err != nil {
		s.t.Fatal(err)
	}
	copyDir(s.t, s.dir, backup)
	s.start()
}

// copyDir copies a directory of files and directories, modes included.
func copyDir(t *testing.T, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.Mkdir(at, 0o700)
		}
		raw, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(at, raw, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hasLeft checks that a site left the study with all of its ρ spent, said so once (any
// words if evidence is ""), and stays out.
func (c *standIn) hasLeft(s *testSite, evidence string) {
	c.t.Helper()
	if log := s.log.String(); evidence != "" && (!strings.Contains(log, "THE LEDGER IS OLDER") || !strings.Contains(log, "recover --from the latest export") || !strings.Contains(log, evidence) ||
		strings.Count(log, "level=ERROR") != 1) {
		c.t.Errorf("the log does not say once that the ledger is older, by %q:\n%s", evidence, log)
	}
	for range 2 {
		p := s.agent.Views.Ledger().Populations[0]
		if math.Abs(p.SpentRho-c.plan.Rho) > 1e-12*c.plan.Rho || p.ReservedRho != 0 {
			c.t.Errorf("%+v, want all of ρ = %v spent and nothing reserved", p, c.plan.Rho)
		}
		e, _ := s.agent.ledger.Study(c.plan.Digest)
		if e.State != ledger.Finished || e.Code != string(study.CodeRolledBack) {
			c.t.Errorf("%+v, want finished with rolled_back", e)
		}
		for slot := range c.plan.Slots {
			if v, err := s.agent.ledger.Journal(c.plan.Digest).Slot(slot); err == nil {
				c.t.Errorf("slot %d still holds %d bytes", slot, len(v))
			}
		}
		refused(s, wire.Announce{Header: wire.Header{Study: c.plan.Digest}}, study.CodeRolledBack)
		refused(s, c.query(1, 3, c.plan.Start().X), study.CodeRolledBack)
		if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictRejected {
			c.t.Errorf("offered again: %+v", d)
		}
		s.restart()
	}
}

// stays checks that a site is still in the study, having refused what was no evidence.
func (c *standIn) stays(s *testSite) {
	c.t.Helper()
	if _, ok := s.agent.ledger.Approved(c.plan.Digest); !ok {
		c.t.Fatalf("%s left the study:\n%s", s.name, s.log.String())
	}
}

// TestRolledBackAnnouncement restores a backup from before the announcement that
// everyone else has.
func TestRolledBackAnnouncement(t *testing.T) {
	for _, again := range []bool{false, true} {
		c := newStandIn(t, 3, autoPolicy, nil)
		c.approve()
		s, id := c.sites[0], c.plan.Digest
		backup := s.backup()
		announced := make([][]byte, 3)
		for i, site := range c.sites {
			announced[i] = want[wire.Announcement](site, wire.Announce{Header: wire.Header{Study: id}}).Signed
		}
		s.restore(backup)
		if again { // it then has another one on record
			want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
		}
		for _, none := range [][][]byte{nil, make([][]byte, 3), {announced[1], announced[1], announced[2]}, {append(slices.Clone(announced[0]), 0), announced[1], announced[2]}} {
			if no, ok := s.ask(wire.Deal{Header: wire.Header{Study: id}, Announcements: none}).(wire.Refusal); !ok || no.Code == study.CodeRolledBack {
				t.Errorf("garbage is taken for evidence")
			}
		}
		c.stays(s)
		refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: announced}, study.CodeRolledBack)
		c.hasLeft(s, keyring.FoundAnnouncement)
	}
}

// TestAnnouncementInAnotherPlace shows a site what it did sign, and has on record, in the wrong
// place: that is the coordinator's fault and no evidence.
func TestAnnouncementInAnotherPlace(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s, id := c.sites[0], c.plan.Digest
	own := want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed
	last := want[wire.Announcement](c.sites[2], wire.Announce{Header: wire.Header{Study: id}}).Signed
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: [][]byte{own, own, last}}, study.CodeBadAnnouncement)
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: [][]byte{last, own, last}}, study.CodeBadAnnouncement)
	c.stays(s)
}

// TestRolledBackConfirmation restores a backup from before the confirmation, once with the
// announcements on record and once without: then nothing shows that a signature is this site's, its
// place in the confirmations is the coordinator's word, and the log says what that may mean.
func TestRolledBackConfirmation(t *testing.T) {
	for _, dealt := range []bool{true, false} {
		c := newStandIn(t, 3, autoPolicy, nil)
		c.approve()
		s, id := c.sites[0], c.plan.Digest
		backup := s.backup()
		if dealt {
			// Site 0's own part of the setup up to its boxes, which prepare goes on with.
			announced := make([][]byte, 3)
			for i, site := range c.sites {
				announced[i] = want[wire.Announcement](site, wire.Announce{Header: wire.Header{Study: id}}).Signed
			}
			want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Announcements: announced})
			backup = s.backup()
		}
		c.prepare()
		s.restore(backup)
		garbage := [][][]byte{nil, make([][]byte, 3), {c.signed[0][:63], c.signed[1], c.signed[2]}}
		if dealt {
			garbage = append(garbage, [][]byte{c.signed[1], c.signed[1], c.signed[2]})
		}
		for _, none := range garbage {
			refused(s, wire.Confirmed{Header: wire.Header{Study: id}, Signatures: none}, study.CodeOutOfOrder)
		}
		c.stays(s)
		if !dealt {
			for range 2 {
				refused(s, wire.Confirmed{Header: wire.Header{Study: id}, Signatures: c.signed}, study.CodeOutOfOrder)
			}
			c.stays(s)
			if log := s.log.String(); strings.Count(log, keyring.ToldConfirmed) != 1 || !strings.Contains(log, "recover --from") {
				t.Errorf("want one line about a restored backup:\n%s", log)
			}
			continue
		}
		refused(s, wire.Confirmed{Header: wire.Header{Study: id}, Signatures: c.signed}, study.CodeRolledBack)
		c.hasLeft(s, keyring.FoundConfirmation)
	}
}

// TestUnreadableSetupIsNoEmptyOne cuts the key file short under a site that has dealt: the ledger
// fails, which must not pass for a study of which it holds nothing.
func TestUnreadableSetupIsNoEmptyOne(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s, id := c.sites[0], c.plan.Digest
	announced := make([][]byte, 3)
	for i, site := range c.sites {
		announced[i] = want[wire.Announcement](site, wire.Announce{Header: wire.Header{Study: id}}).Signed
	}
	want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Announcements: announced})
	s.restart() // it remembers nothing of what it checked
	must.Do(t, os.Truncate(filepath.Join(s.config.LedgerDir(), "keys"), 32))
	if said := s.agent.handle(wire.Confirmed{Header: wire.Header{Study: id}, Signatures: make([][]byte, 3)}); said != nil {
		t.Errorf("a site whose ledger failed says %T", said)
	}
	if log := s.log.String(); strings.Contains(log, keyring.ToldConfirmed) || !strings.Contains(log, "is cut short") {
		t.Errorf("the log says:\n%s", log)
	}
}

// TestRolledBackSignature restores a backup from before a release signature that is in
// the certificate; once the site has signed another survivor set since.
func TestRolledBackSignature(t *testing.T) {
	for _, other := range []bool{false, true} {
		c, q := newFive(t, proposal.DropoutContinue)
		s, u := c.sites[0], []int{0, 1, 2, 3}
		backup := s.backup()
		for _, site := range c.sites {
			want[wire.Upload](site, q)
		}
		certificate := c.certify(q, u)
		s.restore(backup)
		want[wire.Upload](s, q)
		if other {
			want[wire.Signature](s, wire.Release{Header: wire.Header{Study: c.plan.Digest}, Survivors: []int{0, 1, 2, 4}})
		}
		altered := slices.Clone(certificate)
		altered[0] = certificate[1]
		none := slices.Clone(certificate)
		for i := range none[:2] {
			none[i] = nil
		}
		refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: none}, study.CodeBadCertificate)
		refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: nil}, study.CodeBadCertificate)
		refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: []int{0, 1, 2, 4}, Certificate: altered}, study.CodeBadCertificate)
		c.stays(s)
		refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: certificate}, study.CodeRolledBack)
		c.hasLeft(s, responder.FoundRelease)
	}
}

// TestRolledBackUpload restores a backup from before an upload that is in a signed
// result.
func TestRolledBackUpload(t *testing.T) {
	for _, queries := range []int{1, 2} {
		c := newStandIn(t, 3, autoPolicy, nil)
		c.ready()
		s, u := c.sites[0], c.everyone()
		s.linked(c.plan.Digest)
		backup, last := "", wire.Final{}
		for i := range queries {
			backup = s.backup()
			q := c.query(i, i, c.plan.Start().X)
			last = c.release(q, u, c.open(q, u))
			for _, site := range c.sites[1:] {
				site.ask(last)
			}
			if i < queries-1 {
				s.ask(last)
			}
		}
		s.restore(backup)
		unsigned := last
		unsigned.Signature = make([]byte, 64)
		if got := s.ask(unsigned); got != nil {
			t.Errorf("a result that nobody signed is answered with %+v", got)
		}
		c.stays(s)
		refused(s, last, study.CodeRolledBack)
		c.hasLeft(s, responder.FoundFinal)
	}
}

// TestLateResultsAreNoEvidence tells a site results late, out of order, twice, and of
// sums that it was not in.
func TestLateResultsAreNoEvidence(t *testing.T) {
	c, q := newFive(t, proposal.DropoutContinue)
	s, u := c.sites[0], c.everyone()
	first := c.release(q, u, c.open(q, u))
	for _, site := range c.sites[1:] {
		site.ask(first)
	}
	next := c.query(1, 1, c.plan.Start().X)
	var up []*testSite
	for _, site := range c.sites[1:] {
		want[wire.Upload](site, next)
		up = append(up, site)
	}
	// Without site 0, which was away: its ledger has no upload in slot 1.
	second := c.release(next, []int{1, 2, 3, 4}, make([]int64, c.plan.D))
	for _, r := range []wire.Message{second, first, second, first} {
		for _, site := range append(up, s) {
			if got := site.ask(r); got != nil {
				t.Fatalf("%s answers %+v", site.name, got)
			}
		}
	}
	s.restart()
	for _, r := range []wire.Message{first, second} {
		if got := s.ask(r); got != nil {
			t.Fatalf("answers %+v after a restart", got)
		}
	}
	// A second result of a query that is over is the coordinator's own fault.
	if got := s.ask(c.release(next, u, make([]int64, c.plan.D))); got != nil {
		t.Fatalf("answers %+v to a second result", got)
	}
	c.stays(s)
}

// TestStoppedInTheSetup: a site that starts again in the middle of a setup, after messages that are
// on record and before others, stays in the study.
func TestStoppedInTheSetup(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s := c.sites[0]
	said := want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: c.plan.Digest}})
	s.agent.egress.Record(uplink.Describe(said, 1), testNow)
	s.restart()
	c.stays(s)
}

// TestRestoredAlone restores the ledger without the egress log beside it: the log is
// a witness, before any link.
func TestRestoredAlone(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.OnDropout, s.MinSurvivors = proposal.DropoutContinue, 2 })
	c.approve()
	s, id := c.sites[0], c.plan.Digest
	sends := func(a wire.Message) { s.agent.egress.Record(uplink.Describe(a, 1), testNow) }
	var backups []string
	step := func(a wire.Message) { // what link.write does with an answer
		sends(a)
		s.restart()
		c.stays(s)
		backups = append(backups, s.backup())
	}
	backups = append(backups, s.backup())
	c.prepare()
	step(wire.Announcement{Header: wire.Header{Study: id}})
	step(wire.Boxes{Header: wire.Header{Study: id}})
	step(wire.Confirmation{Header: wire.Header{Study: id}})
	c.confirm()
	q := c.query(0, 0, c.plan.Start().X)
	step(want[wire.Upload](s, q))
	want[wire.Upload](s, q) // after the restart
	step(want[wire.Signature](s, wire.Release{Header: wire.Header{Study: id}, Survivors: c.everyone()}))
	for _, site := range c.sites {
		want[wire.Upload](site, q)
	}
	certificate := c.certify(q, c.everyone())
	step(want[wire.Shares](s, wire.Open{Header: wire.Header{Study: id}, Survivors: c.everyone(), Certificate: certificate}))
	sent, err := os.ReadFile(filepath.Join(s.dir, egress.File))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSpace(string(sent)), "\n")
	// The ledger of before the setup, of before the upload, of before the signature, of before the
	// shares, with the log as it was one message later.
	for _, at := range []struct{ ledger, lines int }{{0, 1}, {0, 3}, {3, 4}, {4, 5}, {5, 6}} {
		s.restore(backups[at.ledger])
		c.stays(s)
		s.log.Reset()
		if err := s.agent.Close(); err != nil {
			t.Fatal(err)
		}
		s.write(egress.File, strings.Join(lines[:at.lines], ""))
		s.start()
		c.hasLeft(s, foundEgress)
	}
	// What follows shares, or confirmation or announcements, alone tells of those.
	for i, alone := range []wire.Message{
		wire.Nonce{Header: wire.Header{Study: id}}, wire.Recalled{Header: wire.Header{Study: id}},
		wire.Proof{Header: wire.Header{Study: id}}, wire.PairKeys{Header: wire.Header{Study: id}},
	} {
		s.restore(backups[min(5*(i/2), 5)])
		sends(alone)
		s.log.Reset()
		s.restart()
		c.hasLeft(s, foundEgress)
	}
}

// TestStrangeStudy: a ledger from before the approval knows nothing of the study; the
// log says what that may mean, once.
func TestStrangeStudy(t *testing.T) {
	for name, policy := range map[string]string{"unknown": autoPolicy, "pending": `approve = "ask"`} {
		t.Run(name, func(t *testing.T) {
			c := newStandIn(t, 3, policy, nil)
			s, id := c.sites[0], c.plan.Digest
			code := study.CodeUnknownStudy
			if name == "pending" {
				want[wire.Decision](s, wire.Proposal{Body: c.body})
				code = study.CodeNotApproved
			}
			s.ask(wire.Ended{Header: wire.Header{Study: proposal.Digest{9}}, Code: study.CodeAborted})
			if strings.Contains(s.log.String(), "recover --from") {
				t.Error("the end of an unknown study is no sign")
			}
			if beyond := s.agent.Views.Ledger().Beyond; len(beyond) > 0 {
				t.Errorf("signs of %v", beyond)
			}
			for range 2 {
				if got := s.ask(wire.Confirmed{Header: wire.Header{Study: id}, Signatures: make([][]byte, 3)}); got != nil {
					t.Errorf("answers %+v", got)
				}
				refused(s, c.query(0, 0, c.plan.Start().X), code)
				refused(s, wire.Announce{Header: wire.Header{Study: id}}, code)
			}
			if log := s.log.String(); strings.Count(log, "recover --from") != 1 || !strings.Contains(log, "restored backup") {
				t.Errorf("want one line about a restored backup:\n%s", log)
			}
			c.showsOlder(s, name == "pending")
		})
	}
}

// showsOlder checks that the site's budgets, and a proposal that waits, say that the ledger may be
// older than the study.
func (c *standIn) showsOlder(s *testSite, waits bool) {
	c.t.Helper()
	if beyond := s.agent.Views.Ledger().Beyond; !slices.Equal(beyond, []proposal.Digest{c.plan.Digest}) {
		c.t.Errorf("the ledger as shown has signs of %v", beyond)
	}
	d, err := s.agent.Views.Study(c.plan.Digest)
	if waits && (err != nil || !strings.Contains(strings.Join(d.Warnings, "\n"), "THE LEDGER MAY BE AN OLDER COPY")) {
		c.t.Errorf("an approver is not warned: %q, %v", d.Warnings, err)
	}
}

// TestOlderLedgerIsShown: with a ledger from before a study whose setup left this site, budgets are
// shown as those of an older copy; with the study's own ledger they are not, however it ended.
func TestOlderLedgerIsShown(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	before := s.backup()
	c.ready()
	said := wire.Announcement{Header: wire.Header{Study: c.plan.Digest}}
	s.agent.egress.Record(uplink.Describe(said, 1), testNow) // as the link does
	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
	s.restart()
	if beyond := s.agent.Views.Ledger().Beyond; len(beyond) > 0 {
		t.Errorf("signs of %v on its own ledger", beyond)
	}
	sent, err := os.ReadFile(filepath.Join(s.dir, egress.File))
	if err != nil {
		t.Fatal(err)
	}
	s.restore(before)
	if err := s.agent.Close(); err != nil {
		t.Fatal(err)
	}
	s.write(egress.File, string(sent))
	s.start()
	c.showsOlder(s, false)
}

// TestStrangeResult: of a study that is over, its result is what shows that the ledger lost it.
func TestStrangeResult(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s, id := c.sites[0], c.plan.Digest
	for range 2 {
		if got := s.ask(wire.Final{Header: wire.Header{Study: id}}); got != nil {
			t.Errorf("answers %+v", got)
		}
		s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeCompleted})
	}
	if log := s.log.String(); strings.Count(log, "recover --from") != 1 || !strings.Contains(log, id.String()) {
		t.Errorf("want one line about a restored backup:\n%s", log)
	}
}

// TestEgressGone: a site's record that was deleted after something left is not begun anew in
// silence.
func TestEgressGone(t *testing.T) {
	const says = "egress.jsonl IS GONE"
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	path := filepath.Join(s.dir, egress.File)
	gone := func() string {
		t.Helper()
		if err := errors.Join(s.agent.Close(), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
		s.start()
		return s.log.String()
	}
	if log := gone(); strings.Contains(log, says) {
		t.Errorf("before anything was charged:\n%s", log)
	}
	c.ready()
	want[wire.Upload](s, c.query(0, 0, c.plan.Start().X))
	if log := gone(); strings.Count(log, says) != 1 {
		t.Errorf("nothing is said:\n%s", log)
	}
	s.restart()
	chain, err := egress.Verify(s.dir, "", nil)
	if log := s.log.String(); err != nil || chain.Anew.IsZero() || strings.Count(log, says) != 1 {
		t.Errorf("%+v, %v\n%s", chain, err, log)
	}
}

// TestEgressCut: an agent whose record was cut back to before a charged study says so, at each
// start until the whole file is back.
func TestEgressCut(t *testing.T) {
	const says = "egress.jsonl WAS CUT OR REPLACED"
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s := c.sites[0]
	path := filepath.Join(s.dir, egress.File)
	s.linked(c.plan.Digest)
	want[wire.Upload](s, c.query(0, 0, c.plan.Start().X))
	restarts := func(text []byte) int {
		t.Helper()
		if err := errors.Join(s.agent.Close(), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		s.log.Reset()
		s.start()
		return strings.Count(s.log.String(), says)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := whole[:bytes.IndexByte(whole, '\n')+1]
	for i, text := range [][]byte{first, first, whole} {
		if got, want := restarts(text), 1-i/2; got != want {
			t.Errorf("start %d: said %d times, want %d:\n%s", i, got, want, s.log.String())
		}
	}
}
