package agent

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
)

// five sites, of which four may be in a sum in a study that goes on without one.
func newFive(t *testing.T, onDropout string) (*standIn, askUpload) {
	t.Helper()
	c := newStandIn(t, 5, autoPolicy, func(s *study.Spec) { s.OnDropout = onDropout })
	least := map[string]int{study.DropoutContinue: 4, study.DropoutWait: 5}[onDropout]
	if c.plan.Thresholds.MinSurvivors != least || c.plan.Thresholds.Quorum != 4 {
		t.Fatalf("thresholds of five sites: %+v", c.plan.Thresholds)
	}
	c.ready()
	return c, c.query(0, 0, c.plan.Start().X)
}

// TestDropout opens a sum without the site that did not upload, and with the help
// of one that is outside of U.
func TestDropout(t *testing.T) {
	c, q := newFive(t, study.DropoutContinue)
	u := []int{0, 1, 3, 4}
	if sum, plain := c.open(q, u), c.plain(q, u); !slices.Equal(sum, plain) {
		t.Errorf("opened %v, plain %v", sum, plain)
	}
}

// TestOneSurvivorSetASlot checks promise P4: a second U in a slot gets what is held
// in place of a signature, and a lost leader can adopt that.
func TestOneSurvivorSetASlot(t *testing.T) {
	c, q := newFive(t, study.DropoutContinue)
	s, first, second := c.sites[0], []int{0, 1, 2, 3}, []int{0, 1, 2, 4}
	want[upload](s, q)
	signed := want[signature](s, askSignature{c.plan.Digest, 0, 0, first})
	for range 2 {
		no := refused(s, askSignature{c.plan.Digest, 0, 0, second}, study.CodeHeld)
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
		two, ok := s.ask(q).(pair)
		if !ok {
			t.Fatal("the upload came without the set that is signed")
		}
		held, ok := two.first.(refusal)
		if _, second := two.second.(upload); !ok || !second || held.Code != study.CodeHeld || !slices.Equal(held.Survivors, first) {
			t.Errorf("%+v, want U = %v and then the upload", two, first)
		}
		same(t, "held signature", signed.Signature, held.Signature)
	}
	same(t, "signature", signed.Signature, want[signature](s, askSignature{c.plan.Digest, 0, 0, first}).Signature)
}

// TestWaitKeepsTheFirstSurvivors checks that with on_dropout = "wait" every U is all sites, from
// the first query on: no site signs or opens another.
func TestWaitKeepsTheFirstSurvivors(t *testing.T) {
	c, q := newFive(t, study.DropoutWait)
	u, other, all := []int{0, 1, 2, 3}, []int{0, 1, 2, 4}, c.everyone()
	s := c.sites[0]
	want[upload](s, q)
	refused(s, askSignature{c.plan.Digest, 0, 0, u}, study.CodeTooFewSurvivors)
	refused(s, askShares{c.plan.Digest, 0, 0, u, make([][]byte, 5)}, study.CodeTooFewSurvivors)
	sum := c.open(q, all)
	c.tell(c.release(q, all, sum))
	next := c.query(1, 1, c.plan.Start().X)
	want[upload](s, next)
	refused(s, askSignature{c.plan.Digest, 1, 1, other}, study.CodeTooFewSurvivors)
	want[signature](s, askSignature{c.plan.Digest, 1, 1, all})

	free, q := newFive(t, study.DropoutContinue)
	free.tell(free.release(q, u, free.open(q, u)))
	next = free.query(1, 1, free.plan.Start().X)
	want[upload](free.sites[0], next)
	want[signature](free.sites[0], askSignature{free.plan.Digest, 1, 1, other})
}

func TestSurvivorsMustBeLawful(t *testing.T) {
	c, q := newFive(t, study.DropoutContinue)
	s := c.sites[0]
	want[upload](s, q)
	for _, u := range [][]int{nil, {0, 1, 2}, {0, 1, 2, 2}, {3, 2, 1, 0}, {0, 1, 2, 5}, {0, 1, 2, 3, 4, 5}} {
		refused(s, askSignature{c.plan.Digest, 0, 0, u}, study.CodeTooFewSurvivors)
		refused(s, askShares{c.plan.Digest, 0, 0, u, make([][]byte, 5)}, study.CodeTooFewSurvivors)
	}
	refused(s, askSignature{c.plan.Digest, 0, 1, []int{0, 1, 2, 3}}, study.CodeOutOfOrder)
	refused(s, askSignature{c.plan.Digest, 1, 0, []int{0, 1, 2, 3}}, study.CodeOutOfOrder)
}

// TestNoSharesWithoutCertificate checks what shares need: q signatures of distinct
// sites on this U in this query.
func TestNoSharesWithoutCertificate(t *testing.T) {
	c, q := newFive(t, study.DropoutContinue)
	u := []int{0, 1, 2, 3}
	for _, s := range c.sites {
		want[upload](s, q)
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
			refused(s, askShares{c.plan.Digest, 0, 0, u, bad}, study.CodeBadCertificate)
		})
	}
	refused(s, askShares{c.plan.Digest, 0, 0, []int{0, 1, 2, 4}, certificate}, study.CodeBadCertificate)
	refused(s, askShares{c.plan.Digest, 0, 1, u, certificate}, study.CodeOutOfOrder)
	want[shares](s, askShares{c.plan.Digest, 0, 0, u, without(func(x [][]byte) { x[4] = nil })})
}

// TestOneOpeningAQuery checks that shares leave for one slot and U of a query, and
// that a signature for a later slot ends an earlier one.
func TestOneOpeningAQuery(t *testing.T) {
	c, q := newFive(t, study.DropoutContinue)
	u := []int{0, 1, 2, 3}
	for _, s := range c.sites {
		want[upload](s, q)
	}
	certificate := make([][]byte, 5) // of all but the last: a quorum
	for i := range 4 {
		certificate[i] = want[signature](c.sites[i], askSignature{c.plan.Digest, 0, 0, u}).Signature
	}
	retry := c.query(0, 1, c.plan.Start().X)

	// Site 0 sends its shares in slot 0: it takes part in no other slot.
	s := c.sites[0]
	want[shares](s, askShares{c.plan.Digest, 0, 0, u, certificate})
	no := refused(s, retry, study.CodeHeld)
	if no.Slot != 0 || !slices.Equal(no.Survivors, u) {
		t.Errorf("held: %+v, want slot 0 and U = %v", no, u)
	}
	// A coordinator whose log was put back to before the opening hears of the shares, and of a
	// signature alone that it is alone; after a restart of the site, too.
	for range 2 {
		for i, sent := range []bool{true, false} {
			two, _ := c.sites[i].ask(q).(pair)
			if held, ok := two.first.(refusal); !ok || held.Code != study.CodeHeld || held.Shared != sent {
				t.Errorf("site %d: %+v, want held, shares sent: %v", i, two.first, sent)
			}
			c.sites[i].restart()
		}
	}
	// Who signed nothing and sent shares says so as well.
	want[shares](c.sites[4], askShares{c.plan.Digest, 0, 0, u, certificate})
	two, _ := c.sites[4].ask(q).(pair)
	if held, ok := two.first.(refusal); !ok || !held.Shared || !slices.Equal(held.Survivors, u) || held.Signature != nil {
		t.Errorf("%+v, want U = %v, unsigned, and that shares were sent", two.first, u)
	}

	// Site 1 goes to slot 1 and signs there: slot 0 is over for it.
	s = c.sites[1]
	want[upload](s, retry)
	want[signature](s, askSignature{c.plan.Digest, 0, 1, u})
	want[upload](s, q) // the bytes on record; a coordinator may have missed them
	refused(s, askShares{c.plan.Digest, 0, 0, u, certificate}, study.CodeOutOfOrder)
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

	sign := func(r study.Release) tellFinal {
		encoded, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return tellFinal{c.plan.Digest, 0, 0, final{encoded, ed25519.Sign(c.key, study.SigningInput(encoded))}}
	}
	altered := func(change func(*study.Release)) tellFinal {
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
	unsigned.Final.Signature = ed25519.Sign(stranger, study.SigningInput(good.Final.Encoded))
	unlabelled := good
	unlabelled.Final.Signature = ed25519.Sign(c.key, good.Final.Encoded)
	for name, bad := range map[string]tellFinal{
		"another's signature": unsigned,
		"no label":            unlabelled,
		"no signature":        {c.plan.Digest, 0, 0, final{good.Final.Encoded, nil}},
		"not a release":       {c.plan.Digest, 0, 0, final{[]byte("{"), ed25519.Sign(c.key, study.SigningInput([]byte("{")))}},
		"another slot":        {c.plan.Digest, 0, 1, good.Final},
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
	same(t, "final", good.Final.Encoded, held.Final.Encoded)

	// A second signed result of the same query does not replace the first.
	s.ask(altered(func(r *study.Release) { r.Noised[0]++ }))
	same(t, "final", good.Final.Encoded, refused(s, q, study.CodeFinal).Final.Encoded)
}

// TestCompletedIsNotBelievedEarly checks that the one word of the coordinator that
// is not signed does not make a site erase what others still need.
func TestCompletedIsNotBelievedEarly(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	q, u := c.query(0, 0, c.plan.Start().X), c.everyone()
	s := c.sites[0]
	want[upload](s, q)
	s.ask(tellEnded{c.plan.Digest, study.CodeCompleted})
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
	refused(s, askBoxes{id, 0, make([][]byte, 3), nil}, study.CodeOutOfOrder)
	refused(s, askConfirmation{id, 0, make([][]byte, 3), nil}, study.CodeOutOfOrder)
	refused(s, tellConfirmed{id, 0, make([][]byte, 3)}, study.CodeOutOfOrder)
	refused(s, askAnnouncement{id, maxAttempts}, study.CodeOutOfOrder)

	announced := make([][]byte, 3)
	for i, site := range c.sites {
		announced[i] = want[announcement](site, askAnnouncement{id, 0}).Signed
	}
	bad := slices.Clone(announced)
	bad[2] = slices.Clone(bad[2])
	bad[2][len(bad[2])-1] ^= 1
	if no := refused(s, askBoxes{id, 0, bad, nil}, study.CodeBadAnnouncement); no.Culprit != 3 {
		t.Errorf("culprit %d, want 3", no.Culprit)
	}
	refused(s, askBoxes{id, 0, announced[:2], nil}, study.CodeBadAnnouncement)
	refused(s, askBoxes{id, 0, [][]byte{announced[1], announced[0], announced[2]}, nil}, study.CodeBadAnnouncement)
	want[boxes](s, askBoxes{id, 0, announced, nil})
	// The first set that was dealt for is the only one, however good another is.
	want[announcement](c.sites[1], askAnnouncement{id, 1})
	refused(s, askBoxes{id, 0, [][]byte{announced[0], announced[2], announced[1]}, nil}, study.CodeBadAnnouncement)
	// Nor does an attempt go on once a later one was announced; its keys are gone.
	refused(c.sites[1], askBoxes{id, 0, announced, nil}, study.CodeOutOfOrder)
	if _, _, err := c.sites[1].session(c).secrets(0); err != ledger.ErrErased {
		t.Errorf("the secrets of the attempt before: %v, want erased", err)
	}
	dealt := want[boxes](c.sites[2], askBoxes{id, 0, announced, nil}).Boxes
	want[announcement](s, askAnnouncement{id, 1})
	refused(s, askConfirmation{id, 0, [][]byte{nil, dealt[0], dealt[0]}, nil}, study.CodeOutOfOrder)

	c = newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	s, id = c.sites[0], c.plan.Digest
	c.prepare(0)
	q := c.query(0, 0, c.plan.Start().X)
	refused(s, q, study.CodeOutOfOrder)
	forged := slices.Clone(c.signed)
	forged[1] = c.signed[2]
	if no := refused(s, tellConfirmed{id, 0, forged}, study.CodeBadConfirmation); no.Culprit != 2 {
		t.Errorf("culprit %d, want 2", no.Culprit)
	}
	refused(s, tellConfirmed{id, 0, c.signed[:2]}, study.CodeBadConfirmation)
	refused(s, q, study.CodeOutOfOrder)
	// Shares of this attempt are held: keys of another one must not join them.
	refused(s, askAnnouncement{id, 1}, study.CodeOutOfOrder)
	c.confirm()
	want[upload](s, q)
}

func TestBadShareNamesItsDealer(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	id := c.plan.Digest
	c.all, c.boxes = make([][]byte, 3), make([][][]byte, 3)
	for i, s := range c.sites {
		c.all[i] = want[announcement](s, askAnnouncement{id, 0}).Signed
	}
	for i, s := range c.sites {
		c.boxes[i] = want[boxes](s, askBoxes{id, 0, c.all, nil}).Boxes
	}
	for name, change := range map[string]func([][]byte){
		"altered":      func(b [][]byte) { b[2] = slices.Clone(b[2]); b[2][0] ^= 1 },
		"missing":      func(b [][]byte) { b[2] = nil },
		"another's":    func(b [][]byte) { b[2] = b[1] },
		"for a second": func(b [][]byte) { b[2] = c.boxes[2][1] },
	} {
		t.Run(name, func(t *testing.T) {
			mine := c.boxesFor(0)
			change(mine)
			if no := refused(c.sites[0], askConfirmation{id, 0, mine, nil}, study.CodeBadShare); no.Culprit != 3 {
				t.Errorf("culprit %d, want 3", no.Culprit)
			}
		})
	}
	want[confirmation](c.sites[0], askConfirmation{id, 0, c.boxesFor(0), nil})
	if _, _, err := c.sites[0].session(c).secrets(0); err == nil {
		t.Error("the transport key outlives the confirmation")
	}
}

// TestSecondAttempt sets a study up again after a first attempt that never got
// to its confirmations.
func TestSecondAttempt(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	id := c.plan.Digest
	for _, s := range c.sites {
		want[announcement](s, askAnnouncement{id, 0})
	}
	c.prepare(1)
	for _, s := range c.sites {
		refused(s, askAnnouncement{id, 0}, study.CodeOutOfOrder)
		if got := s.ask(tellConfirmed{id, 1, c.signed}); got != nil {
			t.Fatalf("answers %+v", got)
		}
		s.restart()
	}
	ask, err := c.plan.NewAsk(c.plan.Start(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	q := askUpload{id, ask}
	if sum, plain := c.open(q, c.everyone()), c.plain(q, c.everyone()); !slices.Equal(sum, plain) {
		t.Errorf("opened %v, plain %v", sum, plain)
	}
}

// TestSurvivorsForm ties the form read here to the one that secagg writes.
func TestSurvivorsForm(t *testing.T) {
	for _, u := range []secagg.Survivors{{0}, {0, 1, 5}, {63}} {
		if got, err := decodeSurvivors(u.Bytes()); err != nil || !slices.Equal(got, u) {
			t.Errorf("%v reads as %v, %v", u, got, err)
		}
	}
	for _, bad := range [][]byte{nil, {0}, {0, 1}, {0, 1, 0}, {0, 1, 0, 0, 0}} {
		if got, err := decodeSurvivors(bad); err == nil {
			t.Errorf("%x reads as %v", bad, got)
		}
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
		announced[i] = want[announcement](site, askAnnouncement{id, 0}).Signed
	}
	if err := s.agent.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "ledger")); err != nil {
		t.Fatal(err)
	}
	s.start()
	want[decision](s, askDecision{c.body})
	want[announcement](s, askAnnouncement{id, 0})
	refused(s, askBoxes{id, 0, announced, nil}, study.CodeRolledBack)
}
