package hostile

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"filippo.io/edwards25519"

	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// tells asks sites for the keys of their pairs with sites outside of U, and says how many answer.
func (f field) tells(what string, want int, a [2]int, u []int, sites ...int) {
	f.t.Helper()
	n := 0
	for _, i := range sites {
		if f.keys(i, f.at(a[0], a[1]), u) != nil {
			n++
		}
	}
	f.wants(what, n, want)
}

// proves asks sites for proofs of their shares of every dealer, and of two that there are not.
func (f field) proves(what string, want int, a [2]int, u []int, sites ...int) {
	f.t.Helper()
	n := 0
	for _, i := range sites {
		for dealer := range 7 {
			if f.prove(i, f.at(a[0], a[1]), u, dealer-1) != nil {
				n++
			}
		}
	}
	f.wants(what, n, want)
}

// openingAttacks ask for more about an opening than shares: keys of pairs, and proofs. Of what is
// told the checker knows whose it is, so that a key of a pair inside of U would be seen.
var openingAttacks = []attack{
	{"keys and proofs before shares", 1, func(f field) { // L8
		a, at := f.at(0, 1), [2]int{0, 1}
		f.uploads(a, honest...)
		f.tells("keys before a signature", 0, at, but4, honest...)
		f.signs(a, but4, honest...)
		f.tells("keys before shares", 0, at, but4, honest...)
		f.proves("proofs before shares", 0, at, but4, honest...)
		f.wants("open", f.opens(a, but4, honest...), 4)
	}},
	{"keys of the set that is open", 1, func(f field) { // L8
		a, at := f.at(0, 1), [2]int{0, 1}
		f.round(a, but4)
		f.tells("keys of sites in the set", 3, at, but4, 1, 2, 3)
		f.tells("keys of the site outside", 0, at, but4, 4)
		f.proves("proofs", 4*5, at, but4, honest...)
		f.tells("keys again", 3, at, but4, 1, 2, 3)
	}},
	{"keys of everybody's pairs with nobody", 1, func(f field) {
		f.round(f.at(0, 1), all5)
		before := len(f.view.keys)
		f.tells("keys", 4, [2]int{0, 1}, all5, honest...)
		for _, raw := range f.view.keys[before:] {
			if len(raw) != len(keysLabel)+headSize {
				f.t.Errorf("keys of %d bytes about a set of all", len(raw))
			}
		}
	}},
	{"keys of other sets than the one that is open", 1, func(f field) { // L8
		at := [2]int{0, 1}
		f.round(f.at(0, 1), all5)
		for _, u := range [][]int{but4, but3, only, {0, 1, 3, 4}, {0, 2, 3, 4}} {
			f.tells("keys of another set", 0, at, u, honest...)
			f.proves("proofs of another set", 0, at, u, honest...)
		}
	}},
	{"keys of sets that are none", 1, func(f field) { // A5
		at := [2]int{0, 1}
		f.round(f.at(0, 1), but4)
		for _, u := range [][]int{nil, {1}, {1, 2}, {1, 2, 3}, {3, 2, 1, 0}, {0, 1, 2, 2, 3}, {0, 1, 2, 3, 5}} {
			f.tells("keys of a set that is none", 0, at, u, honest...)
			f.proves("proofs of a set that is none", 0, at, u, honest...)
		}
	}},
	{"one site's shares and keys, then another slot", 1, func(f field) { // L8, L10
		a, b, rest := f.at(0, 1), f.at(1, 1), []int{0, 2, 3, 4}
		f.uploads(a, honest...)
		f.signs(a, but4, honest...)
		f.wants("open", f.opens(a, but4, 1), 1)
		f.tells("keys", 1, [2]int{0, 1}, but4, honest...)
		f.uploads(b, 2, 3, 4)
		f.signs(b, rest, 2, 3, 4)
		f.wants("open in the other slot", f.opens(b, rest, 2, 3, 4), 3)
		f.tells("keys of the first slot of those who moved", 0, [2]int{0, 1}, but4, 2, 3, 4)
		f.tells("keys of the other slot", 3, [2]int{1, 1}, rest, honest...)
		f.tells("keys of the other slot's other set", 0, [2]int{1, 1}, but4, honest...)
	}},
	{"keys of another slot or question", 1, func(f field) { // L8, S2
		a, b := f.at(0, 1), f.at(1, 1)
		f.uploads(a, honest...)
		f.uploads(b, honest...)
		f.uploads(a, honest...)
		f.signs(a, but4, honest...)
		f.wants("open", f.opens(a, but4, honest...), 4)
		f.tells("keys of another slot", 0, [2]int{1, 1}, but4, honest...)
		f.uploads(f.at(0, 2), honest...)
		f.tells("keys of the slot, after another question about it", 3, [2]int{0, 1}, but4, honest...)
	}},
	{"keys and proofs after the result", 1, func(f field) { // L12
		a, at := f.at(0, 1), [2]int{0, 1}
		f.round(a, but4)
		f.tells("keys", 3, at, but4, 1, 2, 3)
		f.final(a, but4)
		f.tells("keys after the result", 0, at, but4, honest...)
		f.proves("proofs after the result", 0, at, but4, honest...)
	}},
}

// TestKeysAfterCrash: a process that was asked nothing yet about a query says nothing about its
// opening; then it keeps to the shares on record. Rule L8.
func TestKeysAfterCrash(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}})
	w.begin()
	f, at := field{w, 0, 0}, [2]int{0, 1}
	w.name[0] = "keys after a crash"
	f.round(f.at(0, 1), but4)
	for _, i := range honest {
		f.agent(i).restart()
	}
	f.tells("keys of who was asked nothing yet", 0, at, but4, honest...)
	f.uploads(f.at(0, 1), honest...)
	f.tells("keys", 3, at, but4, honest...)
	f.tells("keys of another set", 0, at, but3, honest...)
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
}

// sumOf adds uploads over U, with what the corrupt site uploads of zeros, if it does, and says what
// is true.
func (w *world) sumOf(a study.Ask, u []int, uploads bool) (sum, want []uint64) {
	w.t.Helper()
	q := w.secagg(a)
	sum, want = make([]uint64, q.Lanes), make([]uint64, q.Lanes)
	for _, i := range u {
		if p := w.party[i]; p != nil {
			if !uploads {
				continue
			}
			v := make([]uint64, q.Lanes)
			w.must(func() error { return w.Setup.Mask(i, p.secrets.Slots[a.Slot], p.held[a.Slot], q, v) })
			w.must(func() error { return secagg.SumPacked(sum, secagg.Pack(v, q.Bits), q.Bits) })
			continue
		}
		for _, up := range w.view.uploads {
			if up.site == i && sameAsk(up.ask, a) {
				w.must(func() error { return secagg.SumPacked(sum, up.masked, q.Bits) })
			}
		}
		secagg.SumInto(want, w.vector(i, a), q.Bits)
	}
	return sum, want
}

// opening is one of U, with all shares that came.
func (w *world) opening(a study.Ask, u []int, kept secagg.Kept, shares map[int][]byte) *secagg.Opening {
	w.t.Helper()
	o, err := w.Setup.NewOpening(w.secagg(a), u, kept)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, raw := range shares {
		w.must(func() error { return o.Add(i, raw) })
	}
	return o
}

// shared takes a query to the point where all honest sites' shares for U are in.
func (w *world) shared(a study.Ask, u []int) map[int][]byte {
	w.t.Helper()
	for _, i := range w.honest {
		w.upload(i, a)
	}
	for _, i := range w.honest {
		w.sign(i, a, u)
	}
	out := map[int][]byte{}
	for _, i := range w.honest {
		if out[i] = w.shares(i, a, u, w.certificate(a, u)); out[i] == nil {
			w.t.Fatalf("site %d sends no shares", i)
		}
	}
	return out
}

// TestFallback opens sums without a site whose deposits are lost, or false, or whose keys are not
// what its secret gives: survivors tell the keys, the sum is right, and who is guilty is known.
// Rules A60, L8.
func TestFallback(t *testing.T) {
	without3, without2 := []int{0, 1, 2, 4}, []int{0, 1, 3, 4}
	for name, c := range map[string]struct {
		u         []int
		deal      func(w *world)                    // before boxes are relayed
		keep      func(w *world, kept *secagg.Kept) // what the coordinator has left
		convicted []int
		tags      []int // owners whose tags are asked for again
	}{
		"an honest site's deposits are lost": {without2, nil, func(_ *world, kept *secagg.Kept) { kept.Deposits[2] = nil }, nil, nil},
		"a corrupt site's deposits are lost": {without3, nil, func(_ *world, kept *secagg.Kept) { kept.Deposits[3] = nil }, nil, nil},
		"deposits and all tags but hashes of an honest owner are lost": {without2, nil, func(_ *world, kept *secagg.Kept) {
			kept.Deposits[2], kept.Tags[2] = nil, nil
		}, nil, nil},
		"tags of survivors are lost": {without2, nil, func(_ *world, kept *secagg.Kept) {
			kept.Tags[0], kept.Tags[4] = nil, nil
		}, nil, []int{4}}, // site 0 owns no pair with site 2
		"a false deposit": {without3, nil, func(w *world, kept *secagg.Kept) {
			kept.Deposits[3] = flippedAt(kept.Deposits[3], 0)
		}, []int{3}, nil},
		"a key with its tag that its owner's secret does not give": {without3, func(w *world) {
			c := w.contentsFor(3, 1)
			for slot := range w.plan.Slots {
				k := [32]byte{byte(slot), 5}
				tag := tagOf(k, w.Setup.Transcript(), slot, 3, 1)
				copy(c.keys[32*slot:], k[:])
				copy(c.tags[32*slot:], tag[:])
				w.falseKeys[[3]int{slot, 1, 3}] = k
			}
			*w.box(3, 1) = w.seal(3, 1, c)
		}, nil, []int{3}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := toDeal(t)
			if c.deal != nil {
				c.deal(w)
			}
			w.confirm()
			a, kept := w.asking(0, 0, 1), w.Kept()
			kept.Deposits = slices.Clone(kept.Deposits)
			if c.keep != nil {
				c.keep(w, &kept)
			}
			shares := w.shared(a, c.u)
			sum, want := w.sumOf(a, c.u, true)
			masked := slices.Clone(sum)
			o := w.opening(a, c.u, kept, shares)
			if c.tags != nil {
				e, ok := errors.AsType[*secagg.TagsError](o.Unmask(sum))
				if !ok || !slices.Equal(e.Owners, c.tags) {
					t.Fatalf("%v, want that tags of %v are missing", o.Unmask(sum), c.tags)
				}
				for _, i := range e.Owners {
					kept.Tags[i] = answerTo(w.ask(i, recall(w.plan.Digest)), (*covey.SiteMessage).GetRecalled).GetTags()
				}
				o.Keep(kept)
				w.must(func() error { return o.Unmask(sum) })
				if !slices.Equal(sum, want) {
					t.Error("another sum")
				}
				return
			}
			e, ok := errors.AsType[*secagg.KeysError](o.Unmask(sum))
			if !ok || !slices.Equal(sum, masked) {
				t.Fatalf("%v, sum changed %v", o.Unmask(sum), !slices.Equal(sum, masked))
			}
			for _, i := range e.From {
				w.must(func() error { return o.AddKeys(i, w.keys(i, a, c.u)) })
			}
			if err := o.Unmask(sum); err != nil || !slices.Equal(sum, want) {
				t.Errorf("another sum, %v", err)
			}
			if !slices.Equal(o.Convicted(), c.convicted) {
				t.Errorf("convicted are %v, want %v", o.Convicted(), c.convicted)
			}
			if r := w.hold(); len(r.openings) != 1 {
				t.Errorf("open are %v", r.openings)
			}
		})
	}
}

// TestProofs: a helper with a wrong share cannot prove it and is named, honest ones can, and the
// sum opens without it. A dealer that committed to another secret than it shared is named by the
// proofs of all: in U nothing opens, outside of it the survivors' keys do. Rules A7, A60.
func TestProofs(t *testing.T) {
	for name, c := range map[string]struct {
		u    []int
		kind int // of the secret that site 3 lies about, -1 for none
	}{
		"a wrong share":                      {all5, -1},
		"another b, in U":                    {all5, kindB},
		"another e, outside of U":            {[]int{0, 1, 2, 4}, kindE},
		"another b, outside of U: unharmful": {[]int{0, 1, 2, 4}, kindB},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, options{sites: 5, corrupt: []int{3}})
			w.start()
			w.approve()
			w.Config = w.plan.Setup()
			p := w.party[3]
			p.announce(t, w.Config, 3)
			lie := map[[2]int]*edwards25519.Scalar{}
			if c.kind >= 0 {
				lie[[2]int{c.kind, 0}] = scalar(1234)
			}
			p.whole = announcement(w.Config, 3, p.secrets, p.identity, lie)
			w.announce()
			w.lookAside()
			w.deal()
			for _, to := range w.honest {
				*w.box(3, to) = w.seal(3, to, w.contentsFor(3, to))
			}
			w.confirm()
			a := w.asking(0, 0, 1)
			shares := w.shared(a, c.u)
			if c.kind < 0 {
				raw, err := w.Setup.CertifiedShares(3, p.secrets.Slots[0], p.held[0], w.secagg(a), c.u)
				if err != nil {
					t.Fatal(err)
				}
				bad := bytes.Clone(raw)
				bad[len(bad)-32*5+3] ^= 1 // of site 0
				delete(shares, 4)
				shares[3] = bad
			}
			sum, want := w.sumOf(a, c.u, c.kind < 0)
			o := w.opening(a, c.u, w.Kept(), shares)
			guilty := -1
			err := o.Unmask(sum)
			for range 10 {
				e, ok := errors.AsType[*secagg.ProofsError](err)
				if !ok {
					break
				}
				if c.kind >= 0 && e.Dealer != 3 || c.kind < 0 && e.Dealer != 0 {
					t.Fatalf("proofs are wanted of site %d's shares", e.Dealer)
				}
				for _, i := range e.Helpers {
					if i == 3 {
						raw, err := w.Setup.Proof(3, e.Dealer, w.secagg(a), c.u, p.stored)
						if err != nil {
							t.Fatal(err)
						}
						if at, ok := errors.AsType[*secagg.SiteError](o.AddProof(3, raw)); ok {
							guilty = at.Site
						}
						continue
					}
					w.must(func() error { return o.AddProof(i, w.prove(i, a, c.u, e.Dealer)) })
				}
				if guilty == 3 {
					w.must(func() error { return o.Add(4, w.shares(4, a, c.u, w.certificate(a, c.u))) })
				}
				err = o.Unmask(sum)
			}
			switch name {
			case "a wrong share":
				if guilty != 3 || err != nil || !slices.Equal(sum, want) {
					t.Errorf("named is %d, %v", guilty, err)
				}
			case "another b, in U":
				if e, ok := errors.AsType[*secagg.DealerError](err); !ok || e.Site != 3 {
					t.Errorf("%v", err)
				}
			case "another e, outside of U":
				e, ok := errors.AsType[*secagg.KeysError](err)
				if !ok {
					t.Fatal(err)
				}
				for _, i := range e.From {
					w.must(func() error { return o.AddKeys(i, w.keys(i, a, c.u)) })
				}
				if err := o.Unmask(sum); err != nil || !slices.Equal(sum, want) || !slices.Equal(o.Convicted(), []int{3}) {
					t.Errorf("%v, convicted are %v", err, o.Convicted())
				}
			default:
				if err != nil || !slices.Equal(sum, want) || o.Convicted() != nil {
					t.Errorf("%v, convicted are %v", err, o.Convicted())
				}
			}
			w.hold()
		})
	}
}

// TestWholeKeysNothing: where all sites are waited for there are no keys of pairs to tell, no tags,
// no deposits, and shares of one kind alone. Rule L7.
func TestWholeKeysNothing(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{0}, change: waits})
	w.begin()
	if !w.Config.Whole() {
		t.Fatal("a study that waits for all sites shares as if it did not")
	}
	f := field{w, 0, 0}
	w.name[0] = "all sites or none"
	a := f.at(0, 1)
	f.uploads(a, honest...)
	for _, u := range [][]int{but4, but3, only} {
		f.wants("sign a set without a site", f.signs(a, u, honest...), 0)
		f.wants("open a set without a site", f.opens(a, u, honest...), 0)
	}
	f.wants("sign", f.signs(a, all5, honest...), 4)
	f.wants("open", f.opens(a, all5, honest...), 4)
	f.tells("keys", 0, [2]int{0, 1}, all5, honest...)
	f.tells("keys", 0, [2]int{0, 1}, but4, honest...)
	f.proves("proofs", 4*5, [2]int{0, 1}, all5, honest...)
	for _, i := range honest {
		if refusalTo(w.ask(i, recall(w.plan.Digest))) == nil {
			t.Errorf("site %d recalls tags and deposits that there are not", i)
		}
		if len(w.Taken[i].Deposits) > 0 || w.Setup.Tags(i, w.Dealt[i]) != nil {
			t.Errorf("site %d deposits what nobody needs", i)
		}
	}
	w.opensTo(a, all5)
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
}
