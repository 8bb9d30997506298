package agent

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// dealt brings a study of n sites, of which one may be missing in a sum, to their boxes.
func dealt(t *testing.T, n int) (*standIn, wire.Header) {
	t.Helper()
	c := newStandIn(t, n, autoPolicy, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutContinue })
	c.approve()
	h := wire.Header{Study: c.plan.Digest}
	c.all, c.boxes = make([][]byte, n), make([][][]byte, n)
	for i, s := range c.sites {
		c.all[i] = want[wire.Announcement](s, wire.Announce{Header: h}).Signed
	}
	for i, s := range c.sites {
		c.boxes[i] = want[wire.Boxes](s, wire.Deal{Header: h, Announcements: c.all}).Boxes
	}
	var err error
	if c.setup, err = secagg.Verify(c.plan.Setup(), c.all); err != nil {
		t.Fatal(err)
	}
	return c, h
}

// again is what a site seals once more with its own keys, of slot secrets as change leaves them.
func (c *standIn) again(from int, change func([]secagg.SlotSecret)) [][]byte {
	c.t.Helper()
	s := c.sites[from]
	sec, ok, err := s.session(c).secrets()
	if err != nil || !ok {
		c.t.Fatal(err)
	}
	change(sec.Slots)
	boxes, err := c.setup.Deal(from, sec, s.agent.identity, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return boxes
}

func otherSecrets(slots []secagg.SlotSecret) { slots[1][7] ^= 1 }

// TestRelayedBoxesNameNobody: what only the coordinator can have altered is nobody's fault, and
// changes nothing.
func TestRelayedBoxesNameNobody(t *testing.T) {
	c, h := dealt(t, 5)
	s := c.sites[0]
	for name, change := range map[string]func([][]byte){
		"altered":      func(b [][]byte) { b[1] = slices.Clone(b[1]); b[1][0] ^= 1 },
		"missing":      func(b [][]byte) { b[1] = nil },
		"another's":    func(b [][]byte) { b[1] = b[0] },
		"for a second": func(b [][]byte) { b[1] = c.boxes[2][1] },
	} {
		t.Run(name, func(t *testing.T) {
			mine, before := c.boxesFor(0), s.ledgerHash()
			change(mine)
			if no := refused(s, wire.Confirm{Header: h, Boxes: mine}, study.CodeBadBox); no.Culprit != 0 || no.Evidence != nil {
				t.Errorf("culprit %d, %d bytes of evidence", no.Culprit, len(no.Evidence))
			}
			if s.ledgerHash() != before {
				t.Error("the ledger changed")
			}
		})
	}
	want[wire.Confirmation](s, wire.Confirm{Header: h, Boxes: c.boxesFor(0)})
}

// TestBadBoxIsProven: a dealer whose signed box does not hold is named, with what proves it to
// everybody. That the setup is over at this site is on record before the seeds leave: it never
// confirms it, whatever it is shown then and in whichever process, and its secrets are gone.
func TestBadBoxIsProven(t *testing.T) {
	c, h := dealt(t, 5)
	s := c.sites[0]
	bad := c.boxesFor(0)
	bad[1] = c.again(2, otherSecrets)[0]
	no := refused(s, wire.Confirm{Header: h, Boxes: bad}, study.CodeBadShare)
	if no.Culprit != 3 {
		t.Fatalf("culprit %d, want 3", no.Culprit)
	}
	if guilty, err := c.setup.Judge(2, 0, no.Evidence, nil); guilty != 2 || err != nil {
		t.Errorf("site %d is guilty, %v", guilty, err)
	}
	for range 2 {
		on, ok, err := s.session(c).journal.Setup(ledger.SetupClosed)
		if err != nil || !ok || !bytes.HasSuffix(on, no.Evidence) {
			t.Errorf("on record: %d bytes, %v", len(on), err)
		}
		if _, _, err := s.session(c).secrets(); !errors.Is(err, ledger.ErrErased) {
			t.Errorf("the secrets of a setup that is over: %v", err)
		}
		again := refused(s, wire.Confirm{Header: h, Boxes: c.boxesFor(0)}, study.CodeBadShare)
		same(t, "evidence", no.Evidence, again.Evidence)
		if again.Culprit != 3 {
			t.Errorf("culprit %d", again.Culprit)
		}
		if _, ok, _ := s.session(c).journal.Setup(ledger.SetupConfirmation); ok {
			t.Fatal("it is confirmed, and its boxes can be opened by others")
		}
		refused(s, wire.Confirmed{Header: h, Signatures: make([][]byte, 5)}, study.CodeOutOfOrder)
		s.restart()
	}
	for range 2 { // no other setup of the study follows
		same(t, "announcement", c.all[0], want[wire.Announcement](s, wire.Announce{Header: h}).Signed)
		same(t, "evidence", no.Evidence, refused(s, wire.Confirm{Header: h, Boxes: c.boxesFor(0)}, study.CodeBadShare).Evidence)
		s.restart()
	}
}

// TestClosedIsOnRecordFirst: where the end of a setup cannot be stored, the seeds do not leave.
func TestClosedIsOnRecordFirst(t *testing.T) {
	c, h := dealt(t, 5)
	s := c.sites[0]
	bad := c.boxesFor(0)
	bad[1] = c.again(2, otherSecrets)[0]
	if err := s.session(c).journal.PutConfirmation(ledger.Confirmed{}); err != nil { // a record that Close refuses
		t.Fatal(err)
	}
	sess := s.session(c)
	sec, _, err := sess.secrets()
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.setup.Receive(0, sec, s.agent.identity, bad, nil)
	no, ok := sess.ring.EndSetup(wire.Confirm{Header: h, Boxes: bad}, c.setup, sec, must.As[*secagg.SiteError](t, err)).(wire.Refusal)
	if !ok || no.Evidence != nil || no.Code != study.CodeStore {
		t.Errorf("%q with %d bytes of evidence", no.Code, len(no.Evidence))
	}
}

// TestSeedsLeaveWithAnAccusationAlone: a fault that is this site's own, or of a box that was not
// shown, ends no setup, and the seeds that would prove it stay.
func TestSeedsLeaveWithAnAccusationAlone(t *testing.T) {
	c, h := dealt(t, 5)
	sess := c.sites[0].session(c)
	sec, _, err := sess.secrets()
	if err != nil {
		t.Fatal(err)
	}
	mine := c.boxesFor(0)
	for _, at := range []struct {
		site  int
		boxes [][]byte
	}{{0, mine}, {2, nil}, {2, mine[:1]}, {9, mine}} {
		no, ok := sess.ring.EndSetup(wire.Confirm{Header: h, Boxes: at.boxes}, c.setup, sec, &secagg.SiteError{Site: at.site, Err: errors.ErrUnsupported}).(wire.Refusal)
		if !ok || no.Code != study.CodeInternal || no.Evidence != nil || no.Culprit != 0 {
			t.Errorf("site %d, %d boxes: %q of %d with %d bytes of evidence", at.site, len(at.boxes), no.Code, no.Culprit, len(no.Evidence))
		}
		if _, ok, err := sess.journal.Setup(ledger.SetupClosed); ok || err != nil {
			t.Fatalf("site %d, %d boxes: the setup is closed (%v)", at.site, len(at.boxes), err)
		}
	}
}

// TestNoWitnessBeforeTheConfirmation: certificates are checked for a setup that the site confirmed.
// Until then it knows of none, though the announcements are on record.
func TestNoWitnessBeforeTheConfirmation(t *testing.T) {
	c, h := dealt(t, 5)
	s := c.sites[0]
	if setup, err := s.session(c).ring.Witness(); setup != nil || err != nil {
		t.Errorf("a setup (%t), %v before this site confirmed", setup != nil, err)
	}
	want[wire.Confirmation](s, wire.Confirm{Header: h, Boxes: c.boxesFor(0)})
	if setup, err := s.session(c).ring.Witness(); err != nil || setup == nil || setup.Transcript() != c.setup.Transcript() {
		t.Errorf("a setup (%t), %v after it, or another", setup != nil, err)
	}
}

// TestSecondBoxIsProven: a site that confirmed one box of an owner and is shown another with other
// tags sends what convicts the owner. Whatever else it is shown, it answers what is on record.
func TestSecondBoxIsProven(t *testing.T) {
	c, h := dealt(t, 5)
	s := c.sites[0] // site 2 owns its pair with site 0
	mine := c.boxesFor(0)
	second, fresh := c.again(2, otherSecrets)[0], c.again(2, func([]secagg.SlotSecret) {})[0]
	first := want[wire.Confirmation](s, wire.Confirm{Header: h, Boxes: mine})
	if err := c.setup.CheckStatement(0, first.Deposits, first.Statement, mine); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		no := refused(s, wire.Confirm{Header: h, Boxes: with(mine, 1, second)}, study.CodeBadBox)
		if no.Culprit != 3 || !c.setup.Convicts(2, 0, second, no.Evidence) || c.setup.Convicts(2, 0, mine[1], no.Evidence) {
			t.Errorf("culprit %d, and the evidence does not convict", no.Culprit)
		}
		for name, boxes := range map[string][][]byte{"the same": mine, "sealed again": with(mine, 1, fresh), "garbage": {nil, {1}}, "none": nil,
			"altered": with(mine, 1, flipped([][]byte{second}, 0, 5)[0])} {
			again := want[wire.Confirmation](s, wire.Confirm{Header: h, Boxes: boxes})
			same(t, name+": confirmation", first.Signature, again.Signature)
			same(t, name+": deposits", first.Deposits, again.Deposits)
			same(t, name+": statement", first.Statement, again.Statement)
		}
		s.restart()
	}
}

// TestGarbageIsNoEvidence: AG-19. What stands in this site's place of the confirmations and is not
// its signature is the coordinator's word: it costs the site nothing and names nobody.
func TestGarbageIsNoEvidence(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	c.prepare()
	s, id := c.sites[0], c.plan.Digest
	for name, own := range map[string][]byte{"none": nil, "short": c.signed[0][:63], "another's": c.signed[1], "zeros": make([]byte, 64)} {
		no := refused(s, wire.Confirmed{Header: wire.Header{Study: id}, Signatures: with(c.signed, 0, own)}, study.CodeBadConfirmation)
		if no.Culprit != 0 {
			t.Errorf("%s: culprit %d", name, no.Culprit)
		}
		c.stays(s)
	}
	c.confirm()
	if p := s.agent.Views.Ledger().Populations[0]; p.SpentRho != 0 {
		t.Errorf("ρ = %v is spent", p.SpentRho)
	}
}

// TestRecall: a new leader is told the tags of the boxes that left and the deposits, those on
// record alone, once this site has confirmed; the same after a restart.
func TestRecall(t *testing.T) {
	c, h := dealt(t, 5)
	s := c.sites[0]
	refused(s, wire.Recall{Header: h}, study.CodeOutOfOrder)
	c.prepare()
	for range 2 {
		got := want[wire.Recalled](s, wire.Recall{Header: h})
		same(t, "tags", c.setup.Tags(0, c.boxes[0]), got.Tags)
		same(t, "deposits", c.kept.Deposits[0], got.Deposits)
		if !c.setup.CheckTags(0, got.Tags, c.kept.TagHashes[0]) {
			t.Error("the tags are not those of the log")
		}
		s.restart()
	}
	c.confirm()
	want[wire.Recalled](s, wire.Recall{Header: h})

	whole := newStandIn(t, 3, autoPolicy, nil) // no site can be missing: there are none
	whole.approve()
	whole.prepare()
	refused(whole.sites[0], wire.Recall{Header: wire.Header{Study: whole.plan.Digest}}, study.CodeOutOfOrder)
}

// config is what the study's setup binds.
func (s *session) config() secagg.Config {
	c, _ := s.plan.Setup().Checked()
	return c
}

// secrets are the setup's, from the ledger.
func (s *session) secrets() (secagg.Secrets, bool, error) {
	raw, ok, err := s.journal.Setup(ledger.SetupSecrets)
	if err != nil || !ok {
		return secagg.Secrets{}, false, err
	}
	sec, err := secagg.UnmarshalSecrets(raw)
	return sec, err == nil, err
}
