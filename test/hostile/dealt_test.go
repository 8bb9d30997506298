package hostile

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"testing"

	covey "covey/proto/covey/v1"
)

// toDeal is a study of five agents but for the corrupt site 3, which has dealt to all. Of pairs
// with it, it owns those with sites 1 and 4; sites 0 and 2 own theirs.
func toDeal(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, options{sites: 5, corrupt: []int{3}})
	w.start()
	w.approve()
	w.announce()
	w.lookAside()
	w.deal()
	return w
}

func (w *world) confirms(i int) []*covey.SiteMessage {
	boxes, _ := w.Received(i)
	return w.ask(i, confirm(w.plan.Digest, boxes, nil))
}

// TestDealtByTheBook: what is dealt by docs/protocol.md alone is what agents take, and opens.
func TestDealtByTheBook(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{3}})
	w.start()
	w.approve()
	w.Config = w.plan.Setup()
	p := w.party[3]
	p.announce(t, w.Config, 3)
	p.whole = announcement(w.Config, 3, p.secrets, p.identity, nil)
	w.announce()
	w.lookAside()
	w.deal()
	for _, to := range w.honest {
		*w.box(3, to) = w.seal(3, to, w.contentsFor(3, to))
	}
	w.confirm()
	for k, u := range [][]int{{0, 1, 2, 3, 4}, {0, 1, 2, 4}} {
		a := w.asking(k, k, 1)
		w.round(a, u)
		w.opensTo(a, u)
		w.final(a, u)
	}
	w.hold()
}

// TestBadBoxes deals a site what it must not take, signed as it should be. It accuses the dealer
// with a proof, in which it shows the setup's keys, and the setup is over for it whatever comes
// then. Rules A2, AG-7, R20.
func TestBadBoxes(t *testing.T) {
	const to = 1
	flip := func(b []byte, at int) { b[at] ^= 1 }
	for name, box := range map[string]func(w *world) []byte{
		"a key that misses its tag": func(w *world) []byte {
			c := w.contentsFor(3, to)
			flip(c.keys, 32*2+5)
			return w.seal(3, to, c)
		},
		"a tag of another key": func(w *world) []byte {
			c := w.contentsFor(3, to)
			flip(c.tags, 32*2+5)
			return w.seal(3, to, c)
		},
		"keys of slots in another order": func(w *world) []byte {
			c := w.contentsFor(3, to)
			c.keys = append(slices.Clone(c.keys[32:64]), append(slices.Clone(c.keys[:32]), c.keys[64:]...)...)
			return w.seal(3, to, c)
		},
		"a share of another polynomial": func(w *world) []byte {
			c := w.contentsFor(3, to)
			copy(c.shares[64:], scalar(77).Bytes())
			return w.seal(3, to, c)
		},
		"a share of e for b": func(w *world) []byte {
			c := w.contentsFor(3, to)
			copy(c.shares, c.shares[32:64])
			return w.seal(3, to, c)
		},
		"another site's shares": func(w *world) []byte {
			c := w.contentsFor(3, to)
			c.shares = w.contentsFor(3, 2).shares
			return w.seal(3, to, c)
		},
		"a share that is no number": func(w *world) []byte {
			c := w.contentsFor(3, to)
			copy(c.shares, bytes.Repeat([]byte{0xff}, 32))
			return w.seal(3, to, c)
		},
		"what does not open": func(w *world) []byte {
			box, tags := w.seal(3, to, w.contentsFor(3, to)), w.contentsFor(3, to).tags
			sealed := box[:len(box)-64-len(tags)]
			flip(sealed, 1088+3)
			return w.signBox(3, to, sealed, tags, sha256.Sum256(tags))
		},
		"another capsule": func(w *world) []byte {
			box, tags := w.seal(3, to, w.contentsFor(3, to)), w.contentsFor(3, to).tags
			sealed := box[:len(box)-64-len(tags)]
			flip(sealed, 7)
			return w.signBox(3, to, sealed, tags, sha256.Sum256(tags))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := toDeal(t)
			good := *w.box(3, to)
			bad := box(w)
			*w.box(3, to) = bad
			if err := w.Setup.CheckBox(3, to, bad); err != nil {
				t.Fatalf("the leader sees it: %v", err)
			}
			no := refusalTo(w.confirms(to))
			if no.GetCode() != covey.Code_CODE_BAD_SHARE || no.GetCulprit() != 1+3 {
				t.Fatalf("%v", no.GetCode())
			}
			if guilty, err := w.Setup.Judge(3, to, no.GetEvidence(), nil); err != nil || guilty != 3 {
				t.Errorf("judged guilty is %d, %v", guilty, err)
			}
			seeds := w.seeds[to]
			if want := append(slices.Clone(seeds.Transport[:]), seeds.Seal[:]...); !bytes.Equal(no.GetEvidence(), append(want, bad...)) {
				t.Error("the accusation is not the setup's keys and the box")
			}
			w.shown[w.seeds[to].Transport] = true
			// The same evidence against others, and of others, convicts who shows it.
			for _, at := range [][2]int{{0, to}, {2, to}, {4, to}} {
				if guilty, err := w.Setup.Judge(at[0], at[1], no.GetEvidence(), nil); err != nil || guilty != at[1] {
					t.Errorf("%v: judged guilty is %d, %v", at, guilty, err)
				}
			}
			if guilty, _ := w.Setup.Judge(3, 2, no.GetEvidence(), nil); guilty != 2 {
				t.Error("another site's keys convict")
			}
			// Good boxes convict their receiver, with its own keys and with others.
			mine := w.seeds[2]
			own := slices.Concat(mine.Transport[:], mine.Seal[:])
			for what, keys := range map[string][]byte{
				"its own keys": own, "no keys": nil, "keys of nobody": make([]byte, 96), "another X25519 key": flippedAt(own, 9), "another ML-KEM seed": flippedAt(own, 40),
			} {
				if guilty, err := w.Setup.Judge(3, 2, slices.Concat(keys, *w.box(3, 2)), nil); err != nil || guilty != 2 {
					t.Errorf("%s and a good box: judged guilty is %d, %v", what, guilty, err)
				}
			}
			// With a good box, and after a crash, the setup stays closed.
			*w.box(3, to) = good
			for range 2 {
				again := refusalTo(w.confirms(to))
				if again.GetCode() != covey.Code_CODE_BAD_SHARE || !bytes.Equal(again.GetEvidence(), no.GetEvidence()) {
					t.Errorf("asked again: %v", again.GetCode())
				}
				if said := w.ask(to, w.dealing(to)); answerTo(said, (*covey.SiteMessage).GetBoxes) != nil && !bytes.Equal(answerTo(said, (*covey.SiteMessage).GetBoxes).GetBoxes()[0], w.Dealt[to][0]) {
					t.Error("other boxes of a closed setup")
				}
				w.agent(to).restart()
			}
			others := make([][]byte, 5)
			for _, i := range []int{0, 2, 4} {
				others[i] = answerTo(w.confirms(i), (*covey.SiteMessage).GetConfirmation).GetSignature()
			}
			others[3] = w.confirmation(3, 3)
			others[to] = others[0]
			if refusalTo(w.ask(to, confirmed(w.plan.Digest, others))) == nil || w.upload(to, w.asking(0, 0, 1)) != nil {
				t.Error("a closed setup is gone on with")
			}
		})
	}
}

// TestClosedSetupIsOver: after an accusation the study has no other setup, in which sites would
// make masks anew. The next study of the same sites goes on, and boxes of the first are nobody's in
// it. Rules A3, AG-7.
func TestClosedSetupIsOver(t *testing.T) {
	w := toDeal(t)
	c := w.contentsFor(3, 1)
	c.keys[3] ^= 1
	first, announced := *w.box(3, 1), w.Announcements
	*w.box(3, 1) = w.seal(3, 1, c)
	if no := refusalTo(w.confirms(1)); no.GetCode() != covey.Code_CODE_BAD_SHARE {
		t.Fatal(no)
	}
	w.shown[w.seeds[1].Transport] = true
	w.announce()
	for i := range announced {
		if !bytes.Equal(announced[i], w.Announcements[i]) {
			t.Errorf("site %d announces anew", i)
		}
	}
	*w.box(3, 1) = first
	if no := refusalTo(w.confirms(1)); no.GetCode() != covey.Code_CODE_BAD_SHARE {
		t.Errorf("a good box after the end: %v", no)
	}
	v := w.second(2)
	v.approve()
	v.announce()
	v.lookAside()
	v.deal()
	mine := *v.box(3, 1)
	*v.box(3, 1) = first
	if no := refusalTo(v.confirms(1)); no.GetCode() != covey.Code_CODE_BAD_BOX || no.GetCulprit() != 0 {
		t.Errorf("a box of the first study: %v", no)
	}
	*v.box(3, 1) = mine
	v.confirm()
	a, u := v.asking(0, 0, 1), []int{0, 1, 2, 4}
	v.round(a, u)
	v.opensTo(a, u)
	if r := v.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
	w.hold()
}

// TestTwoBoxes has an owner sign two boxes for one site, as a new leader may ask for: of the second
// the site shows what convicts the owner, if the tags differ; else, and whatever nobody signed, it
// answers as before. Rules A2, AG-8.
func TestTwoBoxes(t *testing.T) {
	w := toDeal(t)
	const to = 1
	w.confirm()
	before := w.confirmed[to]
	honest, tags := *w.box(3, to), w.contentsFor(3, to).tags
	same := w.seal(3, to, w.contentsFor(3, to)) // other bytes, the same tags
	other := w.contentsFor(3, to)
	other.keys = bytes.Repeat([]byte{9}, len(other.keys))
	other.tags = nil
	for slot := range w.plan.Slots {
		tag := tagOf([32]byte(other.keys[32*slot:]), w.Setup.Transcript(), slot, 3, to)
		other.tags = append(other.tags, tag[:]...)
	}
	false2 := w.seal(3, to, other)
	unsigned := slices.Clone(false2)
	unsigned[len(unsigned)-1] ^= 1
	ownBox := slices.Clone(*w.box(2, to)) // of an honest site, spoiled on the way
	for name, c := range map[string]struct {
		from int
		box  []byte
	}{"the same": {3, honest}, "other bytes, the same tags": {3, same}, "signed by nobody": {3, unsigned}, "none": {3, nil},
		"an honest site's, altered": {2, append(ownBox[:len(ownBox)-1], 0)}} {
		*w.box(c.from, to), c.box = c.box, *w.box(c.from, to)
		said := answerTo(w.confirms(to), (*covey.SiteMessage).GetConfirmation)
		if !bytes.Equal(said.GetSignature(), before) || !bytes.Equal(said.GetDeposits(), w.Taken[to].Deposits) {
			t.Errorf("%s: another confirmation", name)
		}
		*w.box(c.from, to) = c.box
	}
	for range 2 {
		*w.box(3, to) = false2
		no := refusalTo(w.confirms(to))
		if no.GetCode() != covey.Code_CODE_BAD_BOX || no.GetCulprit() != 1+3 {
			t.Fatalf("two boxes: %v", no)
		}
		evidence := no.GetEvidence()
		if !w.Setup.Convicts(3, to, false2, evidence) {
			t.Error("the evidence does not convict")
		}
		for name, is := range map[string]bool{
			"with the first box":    w.Setup.Convicts(3, to, honest, evidence),
			"with the same tags":    w.Setup.Convicts(3, to, same, evidence),
			"with an unsigned box":  w.Setup.Convicts(3, to, unsigned, evidence),
			"another site":          w.Setup.Convicts(4, to, false2, evidence),
			"for another site":      w.Setup.Convicts(3, 4, false2, evidence),
			"with forged evidence":  w.Setup.Convicts(3, to, false2, append(bytes.Clone(evidence[:len(evidence)-1]), evidence[len(evidence)-1]^1)),
			"with half of it":       w.Setup.Convicts(3, to, false2, evidence[:64]),
			"with its tags alone":   w.Setup.Convicts(3, to, false2, append(make([]byte, 96), tags...)),
			"an owner that is none": w.Setup.Convicts(0, to, *w.box(0, to), evidence),
		} {
			if is {
				t.Errorf("convicted: %s", name)
			}
		}
		w.agent(to).restart()
	}
	*w.box(3, to) = honest
	a, u := w.asking(0, 0, 1), []int{0, 1, 2, 4}
	w.round(a, u)
	w.opensTo(a, u)
	w.hold()
}

// TestRecalled asks for tags and deposits again: what left before, and only of what is confirmed.
// Deposits of another study are no site's in this one. Rules AG-62, R61.
func TestRecalled(t *testing.T) {
	w := toDeal(t)
	id := w.plan.Digest
	for _, i := range w.honest {
		if refusalTo(w.ask(i, recall(id))) == nil {
			t.Errorf("site %d recalls what it has not confirmed", i)
		}
	}
	w.confirm()
	v := w.second(2)
	v.approve()
	v.announce()
	v.lookAside()
	v.deal()
	v.confirm()
	for _, i := range w.honest {
		boxes, _ := w.Received(i)
		said := answerTo(w.confirms(i), (*covey.SiteMessage).GetConfirmation)
		if err := w.Setup.CheckStatement(i, said.GetDeposits(), said.GetStatement(), boxes); err != nil {
			t.Error(err)
		}
		foreign := answerTo(v.confirms(i), (*covey.SiteMessage).GetConfirmation)
		for name, err := range map[string]error{
			"another study's":                  w.Setup.CheckStatement(i, foreign.GetDeposits(), foreign.GetStatement(), boxes),
			"another study's deposits":         w.Setup.CheckStatement(i, foreign.GetDeposits(), said.GetStatement(), boxes),
			"another site's":                   w.Setup.CheckStatement((i+1)%3, said.GetDeposits(), said.GetStatement(), boxes),
			"the confirmation in its place":    w.Setup.CheckStatement(i, said.GetDeposits(), said.GetSignature(), boxes),
			"deposits of which one is altered": w.Setup.CheckStatement(i, flippedAt(said.GetDeposits(), 40), said.GetStatement(), boxes),
		} {
			if err == nil && len(said.GetDeposits()) > 0 {
				t.Errorf("site %d's deposits: %s pass", i, name)
			}
		}
		for range 2 {
			r := answerTo(w.ask(i, recall(id)), (*covey.SiteMessage).GetRecalled)
			if !bytes.Equal(r.GetTags(), w.Setup.Tags(i, w.Dealt[i])) || !bytes.Equal(r.GetDeposits(), said.GetDeposits()) {
				t.Errorf("site %d recalls others than it sent", i)
			}
			w.agent(i).restart()
		}
		w.honestDeposits(i)
	}
}

func flippedAt(b []byte, at int) []byte {
	out := bytes.Clone(b)
	if at < len(out) {
		out[at] ^= 1
	}
	return out
}

// honestDeposits compares an agent's deposits and tags with what they must be.
func (w *world) honestDeposits(i int) {
	w.t.Helper()
	g, transcript, threshold := w.Setup.Graph(), w.Setup.Transcript(), w.plan.Thresholds.Threshold
	var deposits, tags []byte
	for _, o := range g.Owners(i) {
		for slot := range w.plan.Slots {
			k := pairKey(dealtBy(w.seeds[o].Slots[slot], slot, o, 1)[kindE][0], transcript, slot, i, o)
			d := deposit(k, dealtBy(w.seeds[i].Slots[slot], slot, i, threshold)[kindE][0], transcript, slot, i, o)
			deposits = append(deposits, d[:]...)
		}
	}
	for _, j := range g.Owned(i) {
		for slot := range w.plan.Slots {
			tag := tagOf(pairKey(dealtBy(w.seeds[i].Slots[slot], slot, i, 1)[kindE][0], transcript, slot, i, j), transcript, slot, i, j)
			tags = append(tags, tag[:]...)
		}
	}
	if !bytes.Equal(deposits, w.Taken[i].Deposits) || !bytes.Equal(tags, w.Setup.Tags(i, w.Dealt[i])) {
		w.t.Errorf("site %d's deposits or tags are not what docs/protocol.md says", i)
	}
}

// TestForgedConfirmed puts garbage in the site's own place of the confirmations: it is refused, and
// the site goes on, since only a signature of its own on something else shows that it was put back.
// Rules AG-9, AG-19.
func TestForgedConfirmed(t *testing.T) {
	w := toDeal(t)
	id := w.plan.Digest
	all := make([][]byte, 5)
	for _, i := range w.honest {
		all[i] = answerTo(w.confirms(i), (*covey.SiteMessage).GetConfirmation).GetSignature()
	}
	all[3] = w.confirmation(3, 3)
	for _, i := range w.honest {
		for name, own := range map[string][]byte{
			"garbage":                    bytes.Repeat([]byte{7}, 64),
			"nothing":                    nil,
			"another's":                  all[(i+1)%3],
			"one bit altered":            flippedAt(all[i], 9),
			"the corrupt site's for it":  w.confirmation(3, i),
			"its release signature's as": all[i][:63],
		} {
			forged := slices.Clone(all)
			forged[i] = own
			no := refusalTo(w.ask(i, confirmed(id, forged)))
			if no.GetCode() != covey.Code_CODE_BAD_CONFIRMATION || no.GetCulprit() != 0 {
				t.Errorf("%s in the place of site %d: %v", name, i, no)
			}
		}
	}
	for _, i := range w.honest {
		if said := w.ask(i, confirmed(id, all)); len(said) != 0 {
			t.Errorf("site %d: %v", i, said)
		}
	}
	w.confirm()
	w.round(w.asking(0, 0, 1), []int{0, 1, 2, 4})
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
}
