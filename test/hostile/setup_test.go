package hostile

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/secagg"
	covey "covey/proto/covey/v1"
)

func refusalTo(said []*covey.SiteMessage) *covey.Refusal {
	return answerTo(said, (*covey.SiteMessage).GetRefusal)
}

// keyAt is where an announcement's transport key begins: behind the header.
const keyAt = len("covey secagg announcement v3\x00complete\x00") + 32 + 32 + 10 + 2

// resigned is an announcement that was changed and signed anew.
func resigned(raw []byte, key ed25519.PrivateKey, change func([]byte)) []byte {
	body := slices.Clone(raw[:len(raw)-64])
	change(body)
	return append(body, ed25519.Sign(key, body)...)
}

// TestForgedSetup shows agents boards, boxes and confirmations that are not what the sites sent,
// each on the way of an honest setup, which must then succeed, and opens nothing else. Rules A1 to
// A3, AG-6 to AG-9.
func TestForgedSetup(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
	w.start()
	w.approve()
	w.announce()
	w.lookAside()
	id, bad := w.plan.Digest, w.party[3]
	sybil := newParty(t, "sybil")
	later := &party{name: bad.name, identity: bad.identity}
	next := w.Config
	next.Study[0] ^= 1
	later.announce(t, next, 3)
	foreign := &party{name: bad.name, identity: bad.identity}
	fewer := w.Config
	fewer.Slots--
	foreign.announce(t, fewer, 3)
	board := func(change func([][]byte)) [][]byte {
		out := make([][]byte, 4)
		for i := range out {
			out[i] = slices.Clone(w.Announcements[i])
		}
		change(out)
		return out
	}
	boards := map[string]struct {
		board   [][]byte
		culprit uint32 // 1 + roster index; 0 for none
	}{
		"a swapped transport key": {board(func(b [][]byte) { copy(b[1][keyAt:][:32], b[3][keyAt:]) }), 2},
		"a swapped transport key, signed": {board(func(b [][]byte) {
			b[1] = resigned(b[1], bad.identity, func(x []byte) { copy(x[keyAt:][:32], b[3][keyAt:]) })
		}), 2},
		"a swapped identity":        {board(func(b [][]byte) { b[1] = sybil.announce(t, w.Config, 1) }), 2},
		"two in each other's place": {board(func(b [][]byte) { b[1], b[2] = b[2], b[1] }), 2},
		"one twice":                 {board(func(b [][]byte) { b[2] = b[1] }), 3},
		"one missing":               {board(func(b [][]byte) { b[2] = nil }), 3},
		"one too few":               {w.Announcements[:3], 0},
		"a Sybil added":             {append(board(func([][]byte) {}), sybil.announce(t, w.Config, 2)), 0},
		"of a later study":          {board(func(b [][]byte) { b[3] = later.whole }), 4},
		"of fewer slots":            {board(func(b [][]byte) { b[3] = foreign.whole }), 4},
		"an ML-KEM key that is none": {board(func(b [][]byte) {
			b[3] = resigned(b[3], bad.identity, func(x []byte) { copy(x[keyAt+32:], "\xff\xff\xff") })
		}), 4},
		"a coefficient that is no number": {board(func(b [][]byte) {
			b[3] = resigned(b[3], bad.identity, func(x []byte) { copy(x[len(x)-32:], slices.Repeat([]byte{0xff}, 32)) })
		}), 4},
		"a transport key of low order":        {board(func(b [][]byte) { b[3] = resigned(b[3], bad.identity, func(x []byte) { clear(x[keyAt:][:32]) }) }), 4},
		"another study, signed":               {board(func(b [][]byte) { b[3] = resigned(b[3], bad.identity, func(x []byte) { x[keyAt-60] ^= 1 }) }), 4},
		"another roster, signed":              {board(func(b [][]byte) { b[3] = resigned(b[3], bad.identity, func(x []byte) { x[keyAt-20] ^= 1 }) }), 4},
		"another quorum, signed":              {board(func(b [][]byte) { b[3] = resigned(b[3], bad.identity, func(x []byte) { x[keyAt-7]-- }) }), 4},
		"an honest one, signed by a stranger": {board(func(b [][]byte) { b[1] = resigned(b[1], sybil.identity, func([]byte) {}) }), 2},
	}
	for at := keyAt; at < len(w.Announcements[1]); at += 97 {
		boards[fmt.Sprintf("byte %d altered", at)] = struct {
			board   [][]byte
			culprit uint32
		}{board(func(b [][]byte) { b[1][at] ^= 4 }), 2}
	}
	for name, c := range boards {
		said := w.ask(0, deal(id, c.board, nil))
		no := refusalTo(said)
		if no.GetCode() != covey.Code_CODE_BAD_ANNOUNCEMENT || len(said) != 1 || c.culprit != 0 && no.GetCulprit() != c.culprit {
			t.Errorf("%s: %v, want culprit %d", name, said, c.culprit)
		}
	}
	w.deal()
	// Another board, good in itself, after one was dealt for.
	again := &party{name: bad.name, identity: bad.identity}
	other := board(func(b [][]byte) { b[3] = again.announce(t, w.Config, 3) })
	for _, i := range w.honest {
		if answerTo(w.ask(i, deal(id, other, nil)), (*covey.SiteMessage).GetBoxes) != nil {
			t.Errorf("site %d deals for a second board", i)
		}
	}
	w.forgedBoxes()
	a := w.asking(0, 0, 1)
	w.confirm()
	for _, i := range w.honest { // no second setup follows
		if again := answerTo(w.ask(i, announce(id)), (*covey.SiteMessage).GetAnnouncement); !bytes.Equal(again.GetSigned(), w.Announcements[i]) {
			t.Errorf("site %d announces again after its confirmation", i)
		}
	}
	w.round(a, []int{0, 1, 3})
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
	t.Logf("figure: %d forged boards", len(boards))
}

// confirmation is a site's, signed by the corrupt site that is named first.
func (w *world) confirmation(by, of int) []byte {
	t := w.Setup.Transcript()
	return ed25519.Sign(w.party[by].identity, slices.Concat([]byte("covey secagg confirmation v2\x00"), t[:], u16(of)))
}

// forgedBoxes sends site 0 boxes that are not its own, for which nobody is named, then
// confirmations that are not all there.
func (w *world) forgedBoxes() {
	t, id := w.t, w.plan.Digest
	good, _ := w.Received(0)
	// A box of the corrupt site's, with its signature, of a setup that never was.
	other := &party{name: "site-3", identity: w.party[3].identity}
	board := slices.Clone(w.Announcements)
	board[3] = other.announce(t, w.Config, 3)
	elsewhere, err := secagg.Verify(w.Config, board)
	if err != nil {
		t.Fatal(err)
	}
	later := other.deal(t, elsewhere, nil)[0]
	with := func(change func([][]byte)) [][]byte {
		out := slices.Clone(good)
		change(out)
		return out
	}
	for name, boxes := range map[string][][]byte{
		"another's":            with(func(b [][]byte) { b[2] = b[1] }),
		"for another":          with(func(b [][]byte) { b[2] = *w.box(3, 1) }),
		"missing":              with(func(b [][]byte) { b[2] = nil }),
		"altered":              with(func(b [][]byte) { b[2] = slices.Clone(b[2]); b[2][9] ^= 1 }),
		"cut short":            with(func(b [][]byte) { b[2] = b[2][:len(b[2])-1] }),
		"what it dealt itself": with(func(b [][]byte) { b[2] = *w.box(0, 3) }),
		"in another order":     with(func(b [][]byte) { b[0], b[1] = b[1], b[0] }),
		"too many":             append(slices.Clone(good), good[0]),
		"in another setup":     with(func(b [][]byte) { b[2] = later }),
		"signed otherwise":     with(func(b [][]byte) { b[2] = resigned(b[2], w.party[3].identity, func([]byte) {}) }),
	} {
		if no := refusalTo(w.ask(0, confirm(id, boxes, nil))); no.GetCode() != covey.Code_CODE_BAD_BOX || no.GetCulprit() != 0 || len(no.GetEvidence()) > 0 {
			t.Errorf("a box %s: %v", name, no)
		}
	}
	mine := make([][]byte, 4)
	for i := range 3 {
		boxes, _ := w.Received(i)
		mine[i] = answerTo(w.ask(i, confirm(id, boxes, nil)), (*covey.SiteMessage).GetConfirmation).GetSignature()
	}
	mine[3] = w.confirmation(3, 3)
	for name, c := range map[string][][]byte{
		"none":                      make([][]byte, 4),
		"one missing":               {mine[0], nil, mine[2], mine[3]},
		"one for another":           {mine[0], mine[3], mine[2], mine[3]},
		"by the corrupt site":       {mine[0], w.confirmation(3, 1), mine[2], mine[3]},
		"two in each other's place": {mine[0], mine[2], mine[1], mine[3]},
		"one too few":               mine[:3],
	} {
		if no := refusalTo(w.ask(0, confirmed(id, c))); no.GetCode() != covey.Code_CODE_BAD_CONFIRMATION {
			t.Errorf("confirmations, %s: %v", name, no)
		}
		if w.upload(0, w.asking(0, 0, 1)) != nil {
			t.Errorf("confirmations, %s: an upload", name)
		}
	}
}

// TestTwoBoards shows sites two boards that are each good: the corrupt site announced twice. They
// confirm different transcripts, and nobody uploads. Rules A3, AG-6, AG-9.
func TestTwoBoards(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
	w.start()
	w.approve()
	w.announce()
	w.lookAside()
	id, bad := w.plan.Digest, w.party[3]
	twin := &party{name: bad.name, identity: bad.identity}
	other := slices.Clone(w.Announcements)
	other[3] = twin.announce(t, w.Config, 3)
	boards := [][][]byte{w.Announcements, w.Announcements, other}
	dealt := make([][][]byte, 3)
	for i, b := range boards {
		dealt[i] = answerTo(w.ask(i, deal(id, b, nil)), (*covey.SiteMessage).GetBoxes).GetBoxes()
	}
	dealt = append(dealt, bad.deal(t, w.Setup, nil))
	w.Dealt = dealt
	for i := range 3 {
		boxes, _ := w.Received(i)
		no := refusalTo(w.ask(i, confirm(id, boxes, nil)))
		if no.GetCode() != covey.Code_CODE_BAD_BOX || no.GetCulprit() != 0 {
			t.Errorf("site %d: %v", i, no)
		}
		forged := make([][]byte, 4)
		for k := range forged {
			forged[k] = w.confirmation(3, k)
		}
		if refusalTo(w.ask(i, confirmed(id, forged))) == nil {
			t.Errorf("site %d takes forged confirmations", i)
		}
		if w.upload(i, w.asking(0, 0, 1)) != nil {
			t.Errorf("site %d uploads", i)
		}
	}
}

// TestSybilInRoster proposes rosters with a site of the coordinator's own making: a site whose
// policy names its peers does not approve them, one whose own place was given away rejects, and
// what was approved with a true roster lends nothing to another. Rules AG-1, AG-2.
func TestSybilInRoster(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
	w.start()
	w.approve()
	w.announce()
	w.lookAside()
	sybil := newParty(t, "sybil")
	spec, roster := w.plan.Proposal.Spec, w.plan.Proposal.Roster
	in := func(change func([]proposal.Member) []proposal.Member) []byte {
		body, err := proposal.Propose(spec, change(slices.Clone(roster)), w.key.Public().(ed25519.PublicKey), [32]byte{9})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	key := proposal.Key(sybil.public())
	for name, c := range map[string]struct {
		body []byte
		at   int
		want covey.Verdict
	}{
		"added": {in(func(r []proposal.Member) []proposal.Member {
			return append(r, proposal.Member{Name: "site-9", Identity: key, Units: 6})
		}), 0, covey.Verdict_VERDICT_PENDING},
		"in the place of another": {in(func(r []proposal.Member) []proposal.Member { r[2].Identity = key; return r }), 0, covey.Verdict_VERDICT_PENDING},
		"of another name": {in(func(r []proposal.Member) []proposal.Member {
			r[2] = proposal.Member{Name: "site-8", Identity: key, Units: 6}
			return r
		}), 0, covey.Verdict_VERDICT_PENDING},
		"in the site's own place": {in(func(r []proposal.Member) []proposal.Member { r[2].Identity = key; return r }), 2, covey.Verdict_VERDICT_REJECTED},
		"with the site's key elsewhere": {in(func(r []proposal.Member) []proposal.Member {
			r[2].Identity, r[3].Identity = key, r[2].Identity
			return r
		}), 2, covey.Verdict_VERDICT_REJECTED},
	} {
		d := answerTo(w.ask(c.at, proposed(c.body)), (*covey.SiteMessage).GetDecision)
		if d.GetVerdict() != c.want {
			t.Errorf("a Sybil %s: site %d decides %v, want %v", name, c.at, d, c.want)
		}
		id := proposal.DigestOf(c.body)
		for _, m := range []*covey.CoordinatorMessage{announce(id), deal(id, w.Announcements, nil), confirmed(id, make([][]byte, 4))} {
			for _, said := range w.ask(c.at, m) {
				if said.GetRefusal() == nil {
					t.Errorf("a Sybil %s: site %d says %v", name, c.at, said)
				}
			}
		}
	}
	// The true study goes on.
	w.deal()
	w.confirm()
	w.round(w.asking(0, 0, 1), []int{0, 1, 2})
	w.hold()
}
