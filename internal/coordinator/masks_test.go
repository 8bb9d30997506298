package coordinator

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// What site-4 owns, on the complete graph of five sites, are its pairs with site-0, site-2 (sums of
// places that are even, it is the higher) and none that are odd; site-1 owns its pair with site-4.

// boxOf is the box of one site to another, as it dealt it.
func (f *federation) boxOf(from, to int) []byte {
	f.t.Helper()
	s := f.sites[from]
	at, ok := slices.BinarySearch(s.setup.Graph().Recipients(from), to)
	if !ok {
		f.t.Fatalf("no box from %d to %d", from, to)
	}
	return s.boxes[at]
}

// sealed is another box of one site to another; wrong: of other shares, keys and tags than it
// announced.
func (f *federation) sealed(from, to int, wrong bool) []byte {
	f.t.Helper()
	s := f.sites[from]
	sec := *s.secrets
	if wrong {
		sec.Slots = slices.Clone(sec.Slots)
		sec.Slots[0][0] ^= 1
	}
	boxes, err := s.setup.Deal(from, sec, s.identity, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	at, _ := slices.BinarySearch(s.setup.Graph().Recipients(from), to)
	return boxes[at]
}

// record is what a site that confirmed a box keeps of it.
func (f *federation) record(box []byte) []byte {
	end := len(box) - ed25519.SignatureSize
	tags := end - 32*f.plan.Slots
	hash := sha256.Sum256(box[:tags])
	return slices.Concat(hash[:], box[end:], box[tags:end])
}

// redeposit changes a site's deposits, and states them over the tags that it checked.
func (f *federation) redeposit(s *fakeSite, c *covey.Confirmation) {
	c.Deposits = slices.Clone(c.GetDeposits())
	for i := 0; i < len(c.Deposits); i += 32 { // of every pair and slot
		c.Deposits[i] ^= 1
	}
	g, transcript := s.setup.Graph(), s.setup.Transcript()
	tags, of := sha256.New(), sha256.Sum256(c.Deposits)
	for _, o := range g.Owners(s.index) {
		box := f.boxOf(o, s.index)
		end := len(box) - ed25519.SignatureSize
		h := sha256.Sum256(box[end-32*f.plan.Slots : end])
		tags.Write(h[:])
	}
	signed := slices.Concat([]byte("covey secagg deposits v2\x00"), transcript[:], binary.BigEndian.AppendUint16(nil, uint16(s.index)), tags.Sum(nil), of[:])
	c.Statement = ed25519.Sign(s.identity, signed)
}

// asks are the sites that were asked for something, in order.
func (f *federation) asks(is func(*covey.CoordinatorMessage) bool) (out []int) {
	for _, m := range f.sent {
		if is(m.m) {
			out = append(out, m.site)
		}
	}
	return out
}

func isProve(m *covey.CoordinatorMessage) bool  { return m.GetProve() != nil }
func isKeys(m *covey.CoordinatorMessage) bool   { return m.GetKeys() != nil }
func isRecall(m *covey.CoordinatorMessage) bool { return m.GetRecall() != nil }

// wantFault wants one fault of a site, and no other.
func (f *federation) wantFault(site string, code study.Code) {
	f.t.Helper()
	if v := f.view(); len(v.Faults) != 1 || v.Faults[0].Site != site || v.Faults[0].Code != code {
		f.t.Errorf("faults: %v, want %s of %s alone", v.Faults, code, site)
	}
}

// passDeadlines lets deadlines pass until done, or the study is over.
func (f *federation) passDeadlines(done func() bool) {
	f.t.Helper()
	for range 200 {
		f.pump(nil)
		if f.state().Terminal() || done() {
			return
		}
		time.Sleep(100 * time.Millisecond) // of the bubble's clock
	}
	f.t.Fatalf("nothing more happens: %+v", f.view())
}

// dropped is a federation of which a site goes for good before its first upload. change may make it
// another's fault, too.
func dropped(t *testing.T, sites int, gone int, change func(*federation)) *federation {
	f := newFederation(t, sites, nil)
	change(f)
	f.pump(func() bool { return f.state().Status == round.StatusRunning })
	f.drop(gone)
	return f
}

// TestDropoutNeedsNobody: the masks of a site that drops out are taken off without a word of any
// survivor but its shares.
func TestDropoutNeedsNobody(t *testing.T) {
	for gone := range 5 {
		synctest.Test(t, func(t *testing.T) {
			f := dropped(t, 5, gone, func(*federation) {})
			defer func() { f.c.Close() }()
			if v := f.finish(); v.Status != round.StatusCompleted || len(v.Faults) != 0 {
				t.Fatalf("%s %s, faults %v", v.Status, v.Code, v.Faults)
			}
			for _, r := range f.releases() {
				if len(r.Survivors) != 4 {
					t.Errorf("survivors %v", r.Survivors)
				}
				f.wantRight(r)
			}
			if n := f.asks(isKeys); n != nil {
				t.Errorf("%v were asked for keys", n)
			}
		})
	}
}

// TestWrongDeposits: a site deposits other keys than it checked and drops out. It is named, the
// survivors whose pairs they are are asked, and the sum is the right one.
func TestWrongDeposits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dropped(t, 5, 4, func(f *federation) {
			f.sites[4].corrupt = func(m *covey.SiteMessage) {
				change(m.GetConfirmation(), func(c *covey.Confirmation) { f.redeposit(f.sites[4], c) })
			}
		})
		defer func() { f.c.Close() }()
		f.passDeadlines(func() bool { return len(f.releases()) == 1 })
		f.wantFault("site-4", study.CodeWrongDeposit)
		f.wantRight(f.releases()[0])
		// All its pairs: a site that is convicted is believed nothing.
		if got := f.asks(isKeys); !slices.Equal(got, []int{0, 1, 2, 3}) {
			t.Errorf("%v were asked for keys", got)
		}
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%s %s", v.Status, v.Code)
		}
		for _, r := range f.releases() {
			f.wantRight(r)
		}
	})
}

// TestWrongKeys: a survivor's key that misses its tag is its fault, and not taken; the opening
// waits for the right one.
func TestWrongKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dropped(t, 5, 4, func(f *federation) {
			f.sites[4].corrupt = func(m *covey.SiteMessage) {
				change(m.GetConfirmation(), func(c *covey.Confirmation) { f.redeposit(f.sites[4], c) })
			}
			f.sites[2].corrupt = func(m *covey.SiteMessage) {
				change(m.GetPairKeys(), func(k *covey.PairKeys) { k.Keys[len(k.Keys)-1] ^= 1 })
			}
		})
		defer func() { f.c.Close() }()
		f.passDeadlines(func() bool { return len(f.view().Faults) == 2 })
		v := f.view()
		if v.Faults[1].Site != "site-2" || v.Faults[1].Code != study.CodeBadShare || len(f.releases()) != 0 {
			t.Fatalf("faults %v, %d releases", v.Faults, len(f.releases()))
		}
		if v.Phase != "keys" || !slices.Equal(v.Waiting, []string{"site-2"}) {
			t.Errorf("at %q, waiting for %v", v.Phase, v.Waiting)
		}
		f.sites[2].corrupt = nil
		f.drop(2)
		f.connect(2) // asked again
		f.passDeadlines(func() bool { return len(f.releases()) == 1 })
		f.wantRight(f.releases()[0])
	})
}

// TestConvictedDropperIsTheEnd: with a survivor away whose key nothing else gives, the site whose
// deposit was wrong ends the study at the deadline, by name.
func TestConvictedDropperIsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dropped(t, 5, 4, func(f *federation) {
			f.sites[4].corrupt = func(m *covey.SiteMessage) {
				change(m.GetConfirmation(), func(c *covey.Confirmation) { f.redeposit(f.sites[4], c) })
			}
			f.sites[1].mute = func(m *covey.SiteMessage) bool { return m.GetPairKeys() != nil }
		})
		defer func() { f.c.Close() }()
		f.passDeadlines(func() bool { return f.view().Phase == "keys" })
		began := time.Now()
		v := f.finish()
		if v.Code != study.CodeWrongDeposit || v.Culprit != "site-4" || len(f.releases()) != 0 {
			t.Fatalf("%s of %q, %d releases", v.Code, v.Culprit, len(f.releases()))
		}
		if took := time.Since(began); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("after %v", took)
		}
	})
}

// wrongShare is a helper's that alters its share of site-0's secret.
func wrongShare(m *covey.SiteMessage) {
	change(m.GetShares(), func(s *covey.Shares) { s.Shares[len(s.Shares)-32*5] ^= 1 })
}

// wrongProof alters the proof of that share, too.
func wrongProof(m *covey.SiteMessage) {
	wrongShare(m)
	change(m.GetProof(), func(p *covey.Proof) { p.Proof = p.Proof[1:] })
}

// TestWrongShareIsFound: a helper's wrong share shows when the sum is opened. Of the helpers of
// that dealer alone proofs are asked; the liar is named, and the sum opened without it.
func TestWrongShareIsFound(t *testing.T) {
	for name, alter := range map[string]func(*covey.SiteMessage){
		"a share":      wrongShare,
		"a proof, too": wrongProof,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 5, nil)
				defer func() { f.c.Close() }()
				f.sites[1].corrupt = func(m *covey.SiteMessage) {
					if alter(m); m.GetProof() != nil {
						f.sites[1].corrupt = nil // of the first opening alone
					}
				}
				f.passDeadlines(func() bool { return len(f.releases()) == 1 })
				if len(f.releases()) == 0 {
					t.Fatalf("%+v", f.view())
				}
				f.wantFault("site-1", study.CodeBadShare)
				f.wantRight(f.releases()[0])
				// The first four places: q = 4.
				if got := f.asks(isProve); !slices.Equal(got, []int{0, 1, 2, 3}) {
					t.Errorf("%v were asked for proofs", got)
				}
				for _, m := range f.sent {
					if p := m.m.GetProve(); p != nil && p.GetDealer() != 1 {
						t.Errorf("proofs of site-%d", int(p.GetDealer())-1)
					}
				}
				v := f.finish()
				if v.Status != round.StatusCompleted {
					t.Fatalf("%s %s", v.Status, v.Code)
				}
			})
		})
	}
}

// TestFalseProofCostsTheShares: whose proof does not hold has no shares any longer, so that another
// site's are waited for before the sum is opened again.
func TestFalseProofCostsTheShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.sites[1].corrupt = wrongProof
		f.sites[4].mute = func(m *covey.SiteMessage) bool { return m.GetShares() != nil }
		f.passDeadlines(func() bool { return len(f.view().Faults) == 1 })
		f.pump(nil)
		f.wantFault("site-1", study.CodeBadShare)
		if v := f.view(); v.Phase != "open" || !slices.Contains(v.Waiting, "site-4") {
			t.Errorf("%s %s: %q waits for %v", v.Status, v.Code, v.Phase, v.Waiting)
		}
	})
}

// TestSilentHelperIsNotNamed: a helper that is asked for a proof and says nothing loses its shares
// at the deadline; nobody is named, and another's are taken.
func TestSilentHelperIsNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.sites[1].corrupt = wrongShare
		f.sites[1].mute = func(m *covey.SiteMessage) bool {
			if m.GetProof() != nil && len(f.asks(isProve)) > 20 {
				t.Fatal("asked again and again")
			}
			return m.GetProof() != nil
		}
		f.passDeadlines(func() bool { return f.view().Phase == "prove" })
		if v := f.view(); !slices.Equal(v.Waiting, []string{"site-1"}) {
			t.Errorf("waiting for %v", v.Waiting)
		}
		f.passDeadlines(func() bool { return len(f.releases()) == 1 })
		f.wantRight(f.releases()[0])
		if v := f.view(); len(v.Faults) != 0 {
			t.Errorf("faults: %v", v.Faults)
		}
	})
}

// TestStatementIsChecked: deposits without their statement, or with one of other tags, are the
// site's fault, and confirm nothing.
func TestStatementIsChecked(t *testing.T) {
	for name, alter := range map[string]func(*covey.Confirmation){
		"no deposits":     func(c *covey.Confirmation) { c.Deposits, c.Statement = nil, nil },
		"other deposits":  func(c *covey.Confirmation) { c.Deposits[5] ^= 1 },
		"one slot less":   func(c *covey.Confirmation) { c.Deposits = c.Deposits[32:] },
		"another's":       func(c *covey.Confirmation) { c.Statement[9] ^= 1 },
		"no statement":    func(c *covey.Confirmation) { c.Statement = nil },
		"the other's key": func(c *covey.Confirmation) { c.Statement = c.GetSignature() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFederation(t, 5, nil)
				defer func() { f.c.Close() }()
				f.sites[3].corrupt = func(m *covey.SiteMessage) {
					change(m.GetConfirmation(), func(c *covey.Confirmation) {
						c.Deposits, c.Statement = slices.Clone(c.GetDeposits()), slices.Clone(c.GetStatement())
						alter(c)
					})
				}
				f.pump(nil)
				f.wantFault("site-3", study.CodeWrongDeposit)
				if v := f.view(); v.Status != round.StatusSetup || !slices.Equal(v.Waiting, []string{"site-3"}) {
					t.Errorf("%s, waiting for %v", v.Status, v.Waiting)
				}
			})
		})
	}
}

// TestTwoLeadersTwoBoxes: a site seals other keys for each leader. The site that confirmed the
// first shows what it has of it to the second, and nobody honest is named.
func TestTwoLeadersTwoBoxes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.sites[0].mute = func(m *covey.SiteMessage) bool { return m.GetConfirmation() != nil }
		f.pump(nil)
		f.crash(-1)
		s := f.sites[1]
		sec := *s.secrets
		sec.Slots = slices.Clone(sec.Slots)
		sec.Slots[0][0] ^= 1
		var err error
		if s.boxes, err = s.setup.Deal(1, sec, s.identity, nil); err != nil {
			t.Fatal(err)
		}
		v := f.finish()
		if v.Code != study.CodeBadBox || v.Culprit != "site-1" {
			t.Errorf("%s of %q", v.Code, v.Culprit)
		}
	})
}

// TestBoxesOfAnotherSetup: boxes that were checked against a setup count in no other.
func TestBoxesOfAnotherSetup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, other := newFederation(t, 4, nil), newFederation(t, 4, nil)
		defer func() { f.c.Close(); other.c.Close() }()
		for _, f := range []*federation{f, other} {
			f.sites[1].mute = func(m *covey.SiteMessage) bool { return m.GetBoxes() != nil }
			f.pump(nil)
		}
		s, another := f.c.machine.lock().sessions[f.plan.Digest], other.c.machine.lock().sessions[other.plan.Digest]
		defer f.c.machine.unlock()
		defer other.c.machine.unlock()
		_, check := s.Hear(1, wire.Boxes{Boxes: f.sites[1].boxes})
		here, done := *s.Session, check()
		*s.Session = *another.Session // while they were checked
		if e := done(); e != nil {
			t.Errorf("%+v", e)
		}
		*s.Session = here
		if e := done(); e == nil || len(s.faults)+len(another.faults) > 0 {
			t.Errorf("against their own setup: %+v, faults %v, %v", e, s.faults, another.faults)
		}
	})
}

// TestFirstBoxesCount: boxes that come again change nothing.
func TestFirstBoxesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.sites[0].mute = func(m *covey.SiteMessage) bool { return m.GetBoxes() != nil }
		f.pump(nil)
		first := f.sites[1].boxes
		boxes, err := f.sites[1].setup.Deal(1, *f.sites[1].secrets, f.sites[1].identity, nil)
		if err != nil {
			t.Fatal(err)
		}
		f.say(1, &covey.SiteMessage{Body: &covey.SiteMessage_Boxes{Boxes: &covey.Boxes{Study: f.plan.Digest[:], Boxes: boxes}}})
		f.drop(0)
		f.sites[0].mute = nil
		f.connect(0)
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		for _, m := range f.sent {
			if c := m.m.GetConfirm(); c != nil && m.site == 0 && !slices.Equal(c.GetBoxes()[0], first[0]) {
				t.Fatal("other boxes were relayed")
			}
		}
		if v := f.finish(); v.Status != round.StatusCompleted || len(v.Faults) != 0 {
			t.Errorf("%s %s, faults %v", v.Status, v.Code, v.Faults)
		}
	})
}

// TestSetupIsForgotten: what only the setup needed is not in memory once it is on record.
func TestSetupIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		for i := range 5 {
			if s := f.state(); s.Boxes(i) != nil {
				t.Errorf("the boxes of site-%d", i)
			}
		}
	})
}

// TestWholeKeepsNothing: where no sum is of fewer sites than all, nothing is kept for when one
// drops out, and nothing taken.
func TestWholeKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait })
		defer func() { f.c.Close() }()
		for _, s := range f.sites {
			s.corrupt = func(m *covey.SiteMessage) {
				if c := m.GetConfirmation(); c != nil && len(c.GetDeposits())+len(c.GetStatement()) > 0 {
					t.Error("deposits")
				}
			}
		}
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		if d := f.state().Durable; d.Tags != nil || d.Deposits != nil || d.TagHashes != nil || d.DepositHashes != nil {
			t.Error("the log holds tags or deposits")
		}
		f.crash(-1)
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%s %s", v.Status, v.Code)
		}
		for _, r := range f.releases() {
			f.wantRight(r)
		}
	})
}

// TestEndedStudyKeepsNoTags: tags and deposits go with the setup when a study is over.
func TestEndedStudyKeepsNoTags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 5, nil)
		defer func() { f.c.Close() }()
		f.pump(func() bool { return f.state().Status == round.StatusRunning })
		if d := f.state().Durable; len(d.Tags) != 5 || len(d.Deposits) != 5 {
			t.Fatalf("%d tags, %d deposits", len(d.Tags), len(d.Deposits))
		}
		f.finish()
		if d := f.state().Durable; d.Tags != nil || d.Deposits != nil {
			t.Error("they are in every snapshot")
		}
	})
}
