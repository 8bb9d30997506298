package hostile

import (
	"crypto/ed25519"
	"slices"
	"testing"

	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// second brings another study of the same sites to its first query: all that differs is its nonce.
func (w *world) second(nonce byte) *world {
	w.t.Helper()
	v := *w
	v.view, v.truth, v.party = view{}, map[int][][32]byte{}, map[int]*party{}
	v.seeds, v.mail, v.needles = map[int]secagg.Secrets{}, nil, nil
	v.sending, v.latest, v.name = map[int]study.Ask{}, map[int]study.Ask{}, map[int]string{}
	for i, p := range w.party {
		v.party[i] = &party{name: p.name, identity: p.identity}
	}
	v.propose(w.plan.Proposal.Spec, w.plan.Proposal.Roster, nonce)
	return &v
}

// TestForgedCertificates shows sites every certificate that is none, on a set that then opens with
// the true one. Rules A4, A6, A18, AG-12.
func TestForgedCertificates(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}})
	w.begin()
	other := w.second(2)
	other.approve()
	other.announce()
	other.lookAside()
	other.deal()
	other.confirm()

	// Signatures of another study, of another query and of another slot, on the same set.
	elsewhere := other.asking(0, 0, 1)
	field{other, 0, 0}.uploads(elsewhere, honest...)
	field{other, 0, 0}.signs(elsewhere, but4, honest...)
	before := w.asking(0, 0, 1)
	f := field{w, 0, 0}
	f.round(before, all5)
	f.final(before, all5)
	f = field{w, 1, 1}
	w.name[0], w.name[1] = "the query before", "forged certificates"
	old, a := w.asking(1, 1, 1), w.asking(1, 2, 1)
	f.uploads(old, honest...)
	f.signs(old, but4, honest...)
	f.uploads(a, honest...)
	f.signs(a, but4, 1, 2, 3, 4)

	good := w.certificate(a, but4)
	stranger := newParty(t, "stranger")
	q := w.secagg(a)
	forged := ed25519.Sign(stranger.identity, releaseBytes(w.Setup.Transcript(), q, but4))
	corrupt := good[0]
	with := func(change func([][]byte)) [][]byte {
		out := slices.Clone(good)
		for i := range out {
			out[i] = slices.Clone(out[i])
		}
		change(out)
		return out
	}
	altered := func(i, at int) [][]byte {
		return with(func(c [][]byte) { c[1], c[i][at%64] = nil, c[i][at%64]^1<<(at%8) })
	}
	forgeries := map[string][][]byte{
		"none":                       nil,
		"empty":                      make([][]byte, 5),
		"the corrupt site's alone":   with(func(c [][]byte) { c[1], c[2], c[3], c[4] = nil, nil, nil, nil }),
		"q - 1":                      with(func(c [][]byte) { c[1], c[2] = nil, nil }),
		"one twice":                  with(func(c [][]byte) { c[1], c[2] = nil, c[3] }),
		"the corrupt site's twice":   with(func(c [][]byte) { c[1], c[2] = corrupt, corrupt }),
		"two in each other's place":  with(func(c [][]byte) { c[1], c[2] = c[2], c[1] }),
		"all one place on":           {good[4], good[0], good[1], good[2], good[3]},
		"a stranger's":               with(func(c [][]byte) { c[1], c[2] = forged, forged }),
		"cut short":                  with(func(c [][]byte) { c[1], c[2] = nil, c[2][:63] }),
		"too long":                   with(func(c [][]byte) { c[1], c[2] = nil, append(c[2], 0) }),
		"a place too many":           append(slices.Clone(good), good[0]),
		"a place too few":            good[:4],
		"of the slot before":         w.certificate(old, but4),
		"of the query before":        w.certificate(before, all5),
		"of another study":           other.certificate(elsewhere, but4),
		"of another set":             w.certificate(a, all5),
		"of another x":               w.certificate(w.asking(1, 2, 2), but4),
		"half of the slot before":    with(func(c [][]byte) { o := w.certificate(old, but4); c[1], c[2] = o[1], o[2] }),
		"half of another study":      with(func(c [][]byte) { o := other.certificate(elsewhere, but4); c[1], c[2] = o[1], o[2] }),
		"a signature of S + order":   with(func(c [][]byte) { c[1] = nil; c[2] = plusOrder(c[2]) }),
		"a signature by no one's R":  with(func(c [][]byte) { c[1] = nil; clear(c[2][:32]) }),
		"a signature of all zeros":   with(func(c [][]byte) { c[1], c[2] = nil, make([]byte, 64) }),
		"a confirmation for release": with(func(c [][]byte) { c[1], c[2] = w.confirmed[1], w.confirmed[2] }),
	}
	for i := 2; i <= 4; i++ {
		for at := range 64 {
			if *variants == 0 || at%16 == i {
				forgeries["altered "+string(rune('0'+i))+" "+string(rune('0'+at))] = altered(i, at)
			}
		}
	}
	for name, c := range forgeries {
		for _, i := range honest {
			if w.shares(i, a, but4, c) != nil {
				t.Errorf("%s: site %d sends shares", name, i)
			}
		}
	}
	if got := w.view.refusals[covey.Code_CODE_BAD_CERTIFICATE]; got != len(forgeries)*len(honest) {
		t.Errorf("%d refusals of %d forgeries by %d sites: %v", got, len(forgeries), len(honest), w.view.refusals)
	}
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("before the true certificate open are %v", r.openings)
	}
	f.wants("open with the true one", f.opens(a, but4, honest...), 4)
	// Shares of this study are asked for in the other one with this one's certificate, and the
	// other way round.
	for _, i := range honest {
		if other.shares(i, elsewhere, but4, w.certificate(a, but4)) != nil {
			t.Errorf("site %d opens a slot of another study", i)
		}
	}
	if r := w.hold(); len(r.openings) != 2 {
		t.Errorf("open are %v, want one a query", r.openings)
	}
	if r := other.hold(); len(r.openings) != 0 {
		t.Errorf("in the other study open are %v", r.openings)
	}
	t.Logf("figure: %d forged certificates refused by each of %d agents", len(forgeries), len(honest))
}

// plusOrder adds the group's order to a signature's S: the same number, written otherwise.
func plusOrder(signature []byte) []byte {
	order := [32]byte{0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 31: 0x10}
	out, carry := slices.Clone(signature), 0
	for k, x := range order {
		sum := int(out[32+k]) + int(x) + carry
		out[32+k], carry = byte(sum), sum>>8
	}
	return out
}

// TestTwoStudies asks the same sites the same in two studies and moves what was said in one to the
// other. Rules S1, S2, A4, AG-1, AG-6, AG-13.
func TestTwoStudies(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
	w.begin()
	v := w.second(2)
	v.approve()
	v.announce()
	v.lookAside()
	for _, i := range w.honest {
		mixed := slices.Clone(v.Announcements)
		mixed[3] = w.Announcements[3]
		for name, board := range map[string][][]byte{"the other study's": w.Announcements, "one of the other study": mixed} {
			if said := answerTo(v.ask(i, deal(v.plan.Digest, board, nil)), (*covey.SiteMessage).GetBoxes); said != nil {
				t.Errorf("%s announcements: site %d deals", name, i)
			}
		}
	}
	v.deal()
	for _, i := range w.honest {
		boxes, _ := w.Received(i)
		if answerTo(v.ask(i, confirm(v.plan.Digest, boxes, nil)), (*covey.SiteMessage).GetConfirmation) != nil {
			t.Errorf("site %d confirms the other study's boxes", i)
		}
	}
	for i := range v.confirmed {
		v.confirmed[i] = nil
	}
	v.confirm()
	a, b := w.asking(0, 0, 1), v.asking(0, 0, 1)
	for _, s := range []field{{w, 0, 0}, {v, 0, 0}} {
		s.uploads(s.at(0, 1), w.honest...)
	}
	// Half sign in one study, half in the other, and the same set in both.
	u := []int{0, 1, 3}
	w.sign(0, a, u)
	v.sign(1, b, u)
	v.sign(2, b, []int{1, 2, 3})
	for _, i := range w.honest {
		mixed, other := w.certificate(a, u), v.certificate(b, u)
		mixed[1] = other[1]
		if w.shares(i, a, u, mixed) != nil || v.shares(i, b, u, mixed) != nil {
			t.Errorf("site %d opens on signatures of two studies", i)
		}
	}
	// A result of one study is none of the other's.
	for _, i := range w.honest {
		m := v.result(b, v.everyone(), 0)
		w.ask(i, final(w.plan.Digest, 0, 0, m.GetFinal().GetReleased(), m.GetFinal().GetSignature()))
	}
	w.round(a, []int{0, 1, 2})
	v.round(b, []int{0, 1, 3})
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("in the first study open are %v: the other's result ended its query?", r.openings)
	}
	v.hold()
}
