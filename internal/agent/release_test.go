package agent

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	"covey/test/must"
)

// five sites, of which four may be in a sum, in a study that goes on without one.
func newFive(t *testing.T, onDropout string) (*standIn, wire.Query) {
	t.Helper()
	c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.OnDropout = onDropout })
	least := map[string]int{proposal.DropoutContinue: 4, proposal.DropoutWait: 5}[onDropout]
	if c.plan.Thresholds.MinSurvivors != least || c.plan.Thresholds.Quorum != 4 {
		t.Fatalf("thresholds of five sites: %+v", c.plan.Thresholds)
	}
	c.ready()
	return c, c.query(0, 0, c.plan.Start().X)
}

// TestDropout opens a sum without the site that did not upload, and with the help
// of one that is outside of U.
func TestDropout(t *testing.T) {
	c, q := newFive(t, proposal.DropoutContinue)
	u := []int{0, 1, 3, 4}
	if sum, plain := c.open(q, u), c.plain(q, u); !slices.Equal(sum, plain) {
		t.Errorf("opened %v, plain %v", sum, plain)
	}
}

// TestOneSurvivorSetASlot checks promise P4: a second U in a slot gets what is held
// in place of a signature, and a lost leader can adopt that.
func TestOneSurvivorSetASlot(t *testing.T) {
	c, q := newFive(t, proposal.DropoutContinue)
	s, first, second := c.sites[0], []int{0, 1, 2, 3}, []int{0, 1, 2, 4}
	want[wire.Upload](s, q)
	signed := want[wire.Signature](s, wire.Release{Header: wire.Header{Study: c.plan.Digest}, Survivors: first})
	for range 2 {
		no := refused(s, wire.Release{Header: wire.Header{Study: c.plan.Digest}, Survivors: second}, study.CodeHeld)
		ctx := c.secaggQuery(q).Context
		if !slices.Equal(no.Survivors, first) || !bytes.Equal(no.Context, ctx[:]) || no.Slot != 0 || no.Query != 0 {
			t.Errorf("held: %+v, want U = %v in ctx", no, first)
		}
		same(t, "held signature", signed.Signature, no.Signature)
		if err := c.setup.CheckRelease(0, c.secaggQuery(q), no.Survivors, no.Signature); err != nil {
			t.Error(err)
		}
		s.restart()
		// A coordinator that lost the set hears of it before it gets the upload.
		two, ok := s.ask(q).(uplink.Pair)
		if !ok {
			t.Fatal("the upload came without the set that is signed")
		}
		held, ok := two.Message.(wire.Refusal)
		if _, second := two.Second.(wire.Upload); !ok || !second || held.Code != study.CodeHeld || !slices.Equal(held.Survivors, first) {
			t.Errorf("%+v, want U = %v and then the upload", two, first)
		}
		same(t, "held signature", signed.Signature, held.Signature)
	}
	same(t, "signature", signed.Signature, want[wire.Signature](s, wire.Release{Header: wire.Header{Study: c.plan.Digest}, Survivors: first}).Signature)
}

// TestSignedWithTheUpload: L7. If every site is waited for, the signature on all sites and the
// shares for them are put on record with the upload, before they are asked for. If a site can be
// missing, nothing is signed or shared before U is known.
func TestSignedWithTheUpload(t *testing.T) {
	for _, onDropout := range []string{proposal.DropoutWait, proposal.DropoutContinue} {
		c, q := newFive(t, onDropout)
		s, u := c.sites[0], c.everyone()
		if _, ok := s.ask(q).(wire.Upload); !ok {
			t.Fatalf("%s: more than an upload", onDropout)
		}
		on, signed := s.session(c).journal.Signed(0)
		if signed != (onDropout == proposal.DropoutWait) {
			t.Fatalf("%s: signed %v after the upload", onDropout, signed)
		}
		if _, shared, err := s.session(c).journal.SharedIn(0, 0); err != nil || shared != signed {
			t.Fatalf("%s: shares on record %v (%v) after the upload", onDropout, shared, err)
		}
		if !signed {
			continue
		}
		if !slices.Equal(on.Survivors, secagg.Survivors(u).Bytes()) || c.setup.CheckRelease(0, c.secaggQuery(q), u, on.Signature) != nil {
			t.Errorf("signed %v", on.Survivors)
		}
		backup := s.backup()
		release := wire.Release{Header: wire.Header{Study: c.plan.Digest}, Survivors: u}
		same(t, "signature", on.Signature, want[wire.Signature](s, release).Signature)
		s.restore(backup) // what left since is on record
		c.stays(s)
		two, ok := s.ask(q).(uplink.Pair)
		if _, again := two.Second.(wire.Upload); !ok || !again {
			t.Errorf("asked again: %+v", two)
		}
		same(t, "signature", on.Signature, want[wire.Signature](s, release).Signature)
	}
}

// TestRestoredBeforeAnUploadThatWaits: a ledger from before a query's upload, whose coordinator
// opens the query just now, comes to what it held: the same upload, signature and shares, and the
// same charge. With "wait" the certificate tells nothing, since the upload has signed again.
func TestRestoredBeforeAnUploadThatWaits(t *testing.T) {
	c, q := newFive(t, proposal.DropoutWait)
	s, u := c.sites[0], c.everyone()
	backup := s.backup()
	first := want[wire.Upload](s, q)
	certificate := c.certify0(q, u)
	open := wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: certificate}
	shares, charged := want[wire.Shares](s, open), s.agent.Views.Ledger().Populations[0]
	s.restore(backup)
	two, ok := s.ask(q).(wire.Upload)
	if !ok {
		t.Fatal("no upload alone")
	}
	same(t, "upload", first.Masked, two.Masked)
	same(t, "signature", certificate[0], want[wire.Signature](s, wire.Release{Header: open.Header, Survivors: u}).Signature)
	same(t, "shares", shares.Shares, want[wire.Shares](s, open).Shares)
	if now := s.agent.Views.Ledger().Populations[0]; now != charged {
		t.Errorf("charged %+v, before %+v", now, charged)
	}
	c.stays(s)
}

// TestWaitSignsAllSites: L7. With on_dropout = "wait" every U is all sites, from the first query
// on: no site signs or opens another.
func TestWaitSignsAllSites(t *testing.T) {
	c, q := newFive(t, proposal.DropoutWait)
	u, other, all := []int{0, 1, 2, 3}, []int{0, 1, 2, 4}, c.everyone()
	s := c.sites[0]
	at := func(k int) wire.Header { return wire.Header{Study: c.plan.Digest, Query: k, Slot: k} }
	want[wire.Upload](s, q)
	refused(s, wire.Release{Header: at(0), Survivors: u}, study.CodeTooFewSurvivors)
	refused(s, wire.Open{Header: at(0), Survivors: u, Certificate: make([][]byte, 5)}, study.CodeTooFewSurvivors)
	sum := c.open(q, all)
	c.tell(c.release(q, all, sum))
	next := c.query(1, 1, c.plan.Start().X)
	want[wire.Upload](s, next)
	refused(s, wire.Release{Header: at(1), Survivors: other}, study.CodeTooFewSurvivors)
	want[wire.Signature](s, wire.Release{Header: at(1), Survivors: all})

	free, q := newFive(t, proposal.DropoutContinue)
	free.tell(free.release(q, u, free.open(q, u)))
	next = free.query(1, 1, free.plan.Start().X)
	want[wire.Upload](free.sites[0], next)
	want[wire.Signature](free.sites[0], wire.Release{Header: wire.Header{Study: free.plan.Digest, Query: 1, Slot: 1}, Survivors: other})
}

func TestSurvivorsMustBeLawful(t *testing.T) {
	c, q := newFive(t, proposal.DropoutContinue)
	s := c.sites[0]
	want[wire.Upload](s, q)
	for _, u := range [][]int{nil, {0, 1, 2}, {0, 1, 2, 2}, {3, 2, 1, 0}, {0, 1, 2, 5}, {0, 1, 2, 3, 4, 5}} {
		refused(s, wire.Release{Header: wire.Header{Study: c.plan.Digest}, Survivors: u}, study.CodeTooFewSurvivors)
		refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: make([][]byte, 5)}, study.CodeTooFewSurvivors)
	}
	refused(s, wire.Release{Header: wire.Header{Study: c.plan.Digest, Slot: 1}, Survivors: []int{0, 1, 2, 3}}, study.CodeOutOfOrder)
	refused(s, wire.Release{Header: wire.Header{Study: c.plan.Digest, Query: 1}, Survivors: []int{0, 1, 2, 3}}, study.CodeOutOfOrder)
}

// TestNoSharesWithoutCertificate checks what shares need: q signatures of distinct
// sites on this U in this query.
func TestNoSharesWithoutCertificate(t *testing.T) {
	t.Run("continue", func(t *testing.T) { noSharesWithoutCertificate(t, proposal.DropoutContinue, []int{0, 1, 2, 3}) })
	t.Run("wait", func(t *testing.T) { noSharesWithoutCertificate(t, proposal.DropoutWait, []int{0, 1, 2, 3, 4}) })
}

func noSharesWithoutCertificate(t *testing.T, onDropout string, u []int) {
	c, q := newFive(t, onDropout)
	for _, s := range c.sites {
		want[wire.Upload](s, q)
	}
	certificate, s := c.certify(q, u), c.sites[0]
	without := func(change func([][]byte)) [][]byte {
		out := slices.Clone(certificate)
		change(out)
		return out
	}
	for name, bad := range map[string][][]byte{
		"none":         nil,
		"empty":        make([][]byte, 5),
		"q - 1":        without(func(x [][]byte) { x[0], x[1] = nil, nil }),
		"one twice":    without(func(x [][]byte) { x[0], x[1] = nil, x[2] }),
		"one altered":  without(func(x [][]byte) { x[0] = nil; x[1] = slices.Clone(x[1]); x[1][0] ^= 1 }),
		"out of place": {certificate[1], certificate[2], certificate[3], certificate[4], certificate[0]},
		"too long":     append(slices.Clone(certificate), certificate[0]),
	} {
		t.Run(name, func(t *testing.T) {
			refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: bad}, study.CodeBadCertificate)
		})
	}
	other := study.CodeBadCertificate
	if onDropout == proposal.DropoutWait {
		other = study.CodeTooFewSurvivors
	}
	refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: []int{0, 1, 2, 4}, Certificate: certificate}, other)
	refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest, Slot: 1}, Survivors: u, Certificate: certificate}, study.CodeOutOfOrder)
	want[wire.Shares](s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: without(func(x [][]byte) { x[4] = nil })})
}

// TestOneOpeningAQuery checks that shares leave for one slot and U of a query, and
// that a signature for a later slot ends an earlier one.
func TestOneOpeningAQuery(t *testing.T) {
	c, q := newFive(t, proposal.DropoutContinue)
	u := []int{0, 1, 2, 3}
	for _, s := range c.sites {
		want[wire.Upload](s, q)
	}
	certificate := make([][]byte, 5) // of all but the last: a quorum
	for i := range 4 {
		certificate[i] = want[wire.Signature](c.sites[i], wire.Release{Header: wire.Header{Study: c.plan.Digest}, Survivors: u}).Signature
	}
	retry := c.query(0, 1, c.plan.Start().X)

	// Site 0 sends its shares in slot 0: it takes part in no other slot.
	s := c.sites[0]
	want[wire.Shares](s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: certificate})
	no := refused(s, retry, study.CodeHeld)
	if no.Slot != 0 || !slices.Equal(no.Survivors, u) {
		t.Errorf("held: %+v, want slot 0 and U = %v", no, u)
	}
	// A coordinator whose log was put back to before the opening hears of the shares, and of a
	// signature alone that it is alone; after a restart of the site, too.
	for range 2 {
		for i, sent := range []bool{true, false} {
			two, _ := c.sites[i].ask(q).(uplink.Pair)
			if held, ok := two.Message.(wire.Refusal); !ok || held.Code != study.CodeHeld || held.Shared != sent {
				t.Errorf("site %d: %+v, want held, shares sent: %v", i, two.Message, sent)
			}
			c.sites[i].restart()
		}
	}
	// Who signed nothing and sent shares says so as well.
	want[wire.Shares](c.sites[4], wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: certificate})
	two, _ := c.sites[4].ask(q).(uplink.Pair)
	if held, ok := two.Message.(wire.Refusal); !ok || !held.Shared || !slices.Equal(held.Survivors, u) || held.Signature != nil {
		t.Errorf("%+v, want U = %v, unsigned, and that shares were sent", two.Message, u)
	}

	// Site 1 goes to slot 1 and signs there: slot 0 is over for it.
	s = c.sites[1]
	want[wire.Upload](s, retry)
	want[wire.Signature](s, wire.Release{Header: wire.Header{Study: c.plan.Digest, Slot: 1}, Survivors: u})
	want[wire.Upload](s, q) // the bytes on record; a coordinator may have missed them
	refused(s, wire.Open{Header: wire.Header{Study: c.plan.Digest}, Survivors: u, Certificate: certificate}, study.CodeOutOfOrder)
}

// TestFinalMustBeSigned checks what an agent takes for a query's result, and that
// anything else erases nothing.
func TestFinalMustBeSigned(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	q, u := c.query(0, 0, c.plan.Start().X), c.everyone()
	sum := c.open(q, u)
	good := c.release(q, u, sum)
	s := c.sites[0]

	sign := func(r study.Release) wire.Final {
		encoded, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return wire.Final{Header: wire.Header{Study: c.plan.Digest}, Encoded: encoded, Signature: ed25519.Sign(c.key, study.SigningInput(encoded)), Certificate: c.certified(r)}
	}
	altered := func(change func(*study.Release)) wire.Final {
		r, err := c.plan.NewRelease(q.Ask, u, slices.Clone(sum))
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		return sign(r)
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	unsigned := good
	unsigned.Signature = ed25519.Sign(stranger, study.SigningInput(good.Encoded))
	unlabelled := good
	unlabelled.Signature = ed25519.Sign(c.key, good.Encoded)
	for name, bad := range map[string]wire.Final{
		"another's signature": unsigned,
		"no label":            unlabelled,
		"no signature":        {Header: good.Header, Encoded: good.Encoded},
		"not a release":       {Header: good.Header, Encoded: []byte("{"), Signature: ed25519.Sign(c.key, study.SigningInput([]byte("{")))},
		"another slot":        {Header: wire.Header{Study: c.plan.Digest, Slot: 1}, Encoded: good.Encoded, Signature: good.Signature},
		"another study":       altered(func(r *study.Release) { r.Study[0] ^= 1 }),
		"too few survivors":   altered(func(r *study.Release) { r.Survivors, r.Units = []int{0, 1}, 2*testUnits }),
		"little noise":        altered(func(r *study.Release) { r.Sigma /= 2 }),
		"too few values":      altered(func(r *study.Release) { r.Noised = r.Noised[1:] }),
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.ask(bad); got != nil {
				t.Errorf("answers %+v", got)
			}
			if _, ok := s.session(c).journal.FinalResult(0); ok {
				t.Fatal("took it for the result")
			}
			if _, err := s.session(c).journal.Slot(0); err != nil {
				t.Fatalf("erased the slot: %v", err)
			}
		})
	}
	s.ask(good)
	held := refused(s, q, study.CodeFinal)
	same(t, "final", good.Encoded, held.Final.Encoded)

	// A second signed result of the same query does not replace the first.
	s.ask(altered(func(r *study.Release) { r.Noised[0]++ }))
	same(t, "final", good.Encoded, refused(s, q, study.CodeFinal).Final.Encoded)
}

// TestCompletedIsNotBelievedEarly checks that the one word of the coordinator that
// is not signed does not make a site erase what others still need.
func TestCompletedIsNotBelievedEarly(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	q, u := c.query(0, 0, c.plan.Start().X), c.everyone()
	s := c.sites[0]
	want[wire.Upload](s, q)
	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeCompleted})
	if sum, plain := c.open(q, u), c.plain(q, u); !slices.Equal(sum, plain) {
		t.Errorf("after a false completed: opened %v, plain %v", sum, plain)
	}
}

// TestSetupComesFirst checks that nothing is uploaded before every confirmation is
// checked, and that each check of the setup names its culprit.
func TestSetupComesFirst(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s, id := c.sites[0], c.plan.Digest
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: make([][]byte, 3)}, study.CodeOutOfOrder)
	refused(s, wire.Confirm{Header: wire.Header{Study: id}, Boxes: make([][]byte, 3)}, study.CodeOutOfOrder)
	refused(s, wire.Confirmed{Header: wire.Header{Study: id}, Signatures: make([][]byte, 3)}, study.CodeOutOfOrder)

	announced := make([][]byte, 3)
	for i, site := range c.sites {
		announced[i] = want[wire.Announcement](site, wire.Announce{Header: wire.Header{Study: id}}).Signed
	}
	bad := slices.Clone(announced)
	bad[2] = slices.Clone(bad[2])
	bad[2][len(bad[2])-1] ^= 1
	if no := refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: bad}, study.CodeBadAnnouncement); no.Culprit != 3 {
		t.Errorf("culprit %d, want 3", no.Culprit)
	}
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: announced[:2]}, study.CodeBadAnnouncement)
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: [][]byte{announced[1], announced[0], announced[2]}}, study.CodeBadAnnouncement)
	// What stands in its own place is the coordinator's word: a site does not name itself.
	for _, set := range [][][]byte{with(announced, 0, announced[1]), flipped(announced, 0, 40), flipped(announced, 0, -1)} {
		if no := refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: set}, study.CodeBadAnnouncement); no.Culprit != 0 {
			t.Errorf("culprit %d of another announcement in the site's own place", no.Culprit)
		}
	}
	want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Announcements: announced})
	// The first set that was dealt for is the only one, however good another is.
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: [][]byte{announced[0], announced[2], announced[1]}}, study.CodeBadAnnouncement)

	c = newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s, id = c.sites[0], c.plan.Digest
	c.prepare()
	q := c.query(0, 0, c.plan.Start().X)
	refused(s, q, study.CodeOutOfOrder)
	forged := slices.Clone(c.signed)
	forged[1] = c.signed[2]
	if no := refused(s, wire.Confirmed{Header: wire.Header{Study: id}, Signatures: forged}, study.CodeBadConfirmation); no.Culprit != 0 {
		t.Errorf("culprit %d of what the coordinator relayed", no.Culprit)
	}
	refused(s, wire.Confirmed{Header: wire.Header{Study: id}, Signatures: c.signed[:2]}, study.CodeBadConfirmation)
	refused(s, q, study.CodeOutOfOrder)
	c.confirm()
	want[wire.Upload](s, q)
}

// TestOneSetup begins a study's setup again at each of its steps and in a new process: each site
// goes on with the announcement, boxes and confirmation that are on record, and with no others. So
// a slot's secret, of which its masks are made, is drawn once a study.
func TestOneSetup(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	id := c.plan.Digest
	h := wire.Header{Study: id}
	c.prepare()
	first, slots := *c, make([][][]byte, len(c.sites))
	secret := func(s *testSite, slot int) []byte {
		return must.Get(s.agent.ledger.Journal(id).Slot(slot))(t)
	}
	for i, s := range c.sites {
		for slot := range c.plan.Slots {
			slots[i] = append(slots[i], secret(s, slot))
		}
	}
	// What a site would announce after a first setup, had it forgotten that: its keys are fresh.
	cfg := c.sites[1].session(c).config()
	sec := must.Get(secagg.NewSecrets(cfg))(t)
	other := must.Get(secagg.Announce(cfg, 1, sec, c.sites[1].agent.identity))(t)
	for range 2 {
		for i, s := range c.sites {
			s.restart()
			same(t, "announcement", first.all[i], want[wire.Announcement](s, wire.Announce{Header: h}).Signed)
			if i != 1 {
				refused(s, wire.Deal{Header: h, Announcements: [][]byte{c.all[0], other, c.all[2]}}, study.CodeBadAnnouncement)
			}
			for j, box := range want[wire.Boxes](s, wire.Deal{Header: h, Announcements: c.all}).Boxes {
				same(t, "box", first.boxes[i][j], box)
			}
			same(t, "confirmation", first.signed[i], want[wire.Confirmation](s, wire.Confirm{Header: h, Boxes: c.boxesFor(i)}).Signature)
			for slot := range c.plan.Slots {
				same(t, "slot", slots[i][slot], secret(s, slot))
			}
		}
	}
	c.confirm()
	q := c.query(0, 0, c.plan.Start().X)
	if sum, plain := c.open(q, c.everyone()), c.plain(q, c.everyone()); !slices.Equal(sum, plain) {
		t.Errorf("opened %v, plain %v", sum, plain)
	}
}

// TestOwnAnnouncement checks that a site deals only for the announcement whose
// secrets it holds: here its ledger was lost in between, and its old one, good in
// itself, comes back.
func TestOwnAnnouncement(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s, id := c.sites[0], c.plan.Digest
	announced := make([][]byte, 3)
	for i, site := range c.sites {
		announced[i] = want[wire.Announcement](site, wire.Announce{Header: wire.Header{Study: id}}).Signed
	}
	if err := s.agent.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "ledger")); err != nil {
		t.Fatal(err)
	}
	s.start()
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
	refused(s, wire.Deal{Header: wire.Header{Study: id}, Announcements: announced}, study.CodeRolledBack)
}

// TestFinalBeforeTheSetup: a result that the coordinator signed before this site confirmed any
// setup is dropped, approved study or not: no certificate can be checked.
func TestFinalBeforeTheSetup(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("it ends the agent: %v", p)
		}
	}()
	made := c.release(q, c.everyone(), make([]int64, c.plan.Queries[0].Values))
	for _, step := range []func(){func() {}, c.approve} {
		step()
		if said := s.agent.handle(made); said != nil {
			t.Errorf("it is answered %+v", said)
		}
		if _, ok := s.agent.ledger.Journal(c.plan.Digest).FinalResult(0); ok {
			t.Error("it is recorded")
		}
	}
	want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: c.plan.Digest}})
}
