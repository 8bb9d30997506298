package secagg

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/graph"
)

// recommitted is a dealer's announcement in which one commitment is not to what its polynomials
// are: at x = 0 the hash of a slot's secret, else that of the share at x. All else fits.
func (g *group) recommitted(t rapid.TB, dealer, slot, which, x int) []byte {
	t.Helper()
	s := *g.setup
	s.sites = slices.Clone(s.sites)
	a := &s.sites[dealer]
	a.body, a.secrets = slices.Clone(a.body), slices.Clone(a.secrets)
	f0, sec, commit := g.maskPolynomial(t, dealer), g.secrets[dealer], committer{a.header}
	var leaves []byte
	var all []polynomial
	if x > 0 {
		l := commit.maskLeaf(x, f0.at(scalarOf(uint64(x))))
		leaves = l[:]
	}
	for at := range g.cfg.shared() {
		k, w := at/g.cfg.kinds(), at%g.cfg.kinds()
		p := sec.Slots[k].polynomial(w, k, dealer, g.cfg.threshold())
		value := p.at(scalarOf(uint64(x)))
		all = append(all, p)
		if k == slot && w == which {
			value.Add(value, scalarOf(1))
			if x == 0 { // and by more than wrong shares could hit
				h := commit.secret(k, w, value.Add(value, scalarOf(1<<40)))
				copy(a.secrets[32*at:], h[:])
			}
		}
		l := commit.leaf(x, k, w, value)
		leaves = append(leaves, l[:]...)
	}
	if place := commit.place(x, leaves); x > 0 {
		copy(a.body[32*(x-1):], place[:])
	}
	challenge, power := s.sites[dealer].challenge(must(g.cfg.parseBody(a.body))), scalarOf(1)
	for _, p := range all {
		power.Multiply(power, challenge)
		for k := range f0 {
			f0[k].MultiplyAdd(p[k], power, f0[k])
		}
	}
	copy(a.body[32*g.cfg.holders():], scalars(f0))
	return g.resigned(dealer, func(raw []byte) { copy(raw[len(raw)-len(a.body)-len(a.secrets):], append(a.secrets, a.body...)) })
}

// villain is how a corrupt site misbehaves.
type villain struct {
	secret  bool  // commits to another secret than it shares
	key     int   // seals another key for this site, whose tag fits; -1 for none
	deposit bool  // deposits other keys
	shares  []int // of these dealers its shares are wrong
	answers bool  // its keys of pairs are wrong, the first time
}

// TestNamingIsRight: whatever corrupt sites commit to, seal, deposit and answer, and whatever a new
// leader has lost, the opened sum is the true one or does not come, and nobody is ever named but
// for what it did.
func TestNamingIsRight(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(4, 6).Draw(r, "n")
		cfg, keys := testConfig(n, 1)
		u := without(n, rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-cfg.MinSurvivors, rapid.ID[int]).Draw(r, "outside")...)
		bad := map[int]villain{}
		for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n-1, rapid.ID[int]).Draw(r, "corrupt") {
			bad[i] = villain{
				rapid.Bool().Draw(r, "secret"), rapid.IntRange(-1, n-1).Draw(r, "key"), rapid.Bool().Draw(r, "deposit"),
				rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 2).Draw(r, "shares"), rapid.Bool().Draw(r, "answers"),
			}
		}
		g := announcedBy(r, cfg, keys)
		for i, v := range bad {
			if v.secret {
				g.whole[i] = g.recommitted(r, i, 0, which(u.Contains(i)), 0)
			}
		}
		g.exchange(r)
		g.deal(r)
		q := Query{Context: labelled("naming"), Bits: 64, Lanes: 3}
		sum, want := make([]uint64, 3), make([]uint64, 3)
		for i, v := range bad {
			if v.key >= 0 && v.key != i && graph.Owns(i, v.key) {
				*g.box(i, v.key) = g.reseal(r, i, v.key, func(plain, tags []byte) {
					key := plain[len(plain)-32:]
					old := newKeystream(maskKey([32]byte(key), i, v.key, q), v.key <= i)
					key[0] ^= 1
					tag := g.setup.edge(0, i, v.key).tag([32]byte(key))
					copy(tags, tag[:])
					if u.Contains(i) { // it masks with what it sealed
						addKeystreams(sum, 64, []keystream{old, newKeystream(maskKey([32]byte(key), i, v.key, q), v.key > i)})
					}
				})
			} else {
				v.key = -1
				bad[i] = v
			}
		}
		g.receiveAll(r)
		for _, i := range u {
			SumInto(want, []uint64{uint64(i), 1, 2}, 64)
			if !bad[i].secret { // else nothing opens
				SumInto(sum, g.upload(r, i, q, []uint64{uint64(i), 1, 2}), 64)
			}
		}
		lost, kept := g.kept, g.kept
		lost.Tags, lost.Deposits = slices.Clone(kept.Tags), slices.Clone(kept.Deposits)
		for i := range n {
			if bad[i].deposit {
				lost.Deposits[i] = slices.Repeat([]byte{5}, len(lost.Deposits[i]))
			}
			if rapid.Bool().Draw(r, "tags lost") {
				lost.Tags[i] = nil
			}
			if rapid.Bool().Draw(r, "deposits lost") {
				lost.Deposits[i] = nil
			}
		}
		o := must(g.setup.NewOpening(q, u, lost))
		cert := g.certificate(r, q, u)
		for i := range n {
			message := g.shares(r, i, q, u, cert)
			for _, dealer := range bad[i].shares {
				at := len(message) - 32*(n-dealer)
				copy(message[at:], plusOne(r, message[at:][:32]))
			}
			if err := o.Add(i, message); err != nil {
				r.Fatal(err)
			}
		}
		masked, answered := slices.Clone(sum), map[int]bool{}
		for range 100 {
			err := o.Unmask(sum)
			for _, i := range o.Convicted() {
				v := bad[i]
				if u.Contains(i) || !v.secret && v.key < 0 && !v.deposit {
					r.Fatalf("site %d is convicted of nothing", i)
				}
			}
			if err == nil {
				if !slices.Equal(sum, want) {
					r.Fatal("the opened sum is not the true one")
				}
				return
			}
			if !slices.Equal(sum, masked) {
				r.Fatalf("the sum is changed, and %v", err)
			}
			if e, ok := errors.AsType[*ProofsError](err); ok {
				for _, i := range e.Helpers {
					proof := must(g.setup.Proof(i, e.Dealer, q, u, g.received[i].Public))
					err := o.AddProof(i, proof)
					if wrong := slices.Contains(bad[i].shares, e.Dealer); wrong != (err != nil) {
						r.Fatalf("site %d's proof of %d: %v", i, e.Dealer, err)
					} else if wrong {
						names(r, "a wrong share", err, i)
					}
				}
			} else if e, ok := errors.AsType[*KeysError](err); ok {
				for _, j := range e.From {
					message := must(g.setup.Keys(j, g.secrets[j].Slots[0], g.received[j].Held[0], q, u))
					if bad[j].answers && !answered[j] {
						message[len(message)-1] ^= 1
						answered[j] = true
					}
					err := o.AddKeys(j, message)
					if err != nil {
						names(r, "a wrong key", err, j)
					}
					if v := bad[j]; err != nil && v.key < 0 && !v.answers {
						r.Fatal(err)
					} else if err != nil && v.key >= 0 { // it seals one key and shows another
						return
					}
				}
			} else if _, ok := errors.AsType[*TagsError](err); ok {
				lost.Tags = kept.Tags
				o.Keep(lost)
			} else if e, ok := errors.AsType[*DealerError](err); ok {
				if !bad[e.Site].secret || !u.Contains(e.Site) {
					r.Fatalf("site %d dealt well", e.Site)
				}
				return
			} else if _, ok := errors.AsType[*NotReadyError](err); ok {
				if right := slices.DeleteFunc(without(n), func(i int) bool { return len(bad[i].shares) > 0 }); len(right) >= cfg.Quorum {
					r.Fatal(err)
				}
				return
			} else {
				r.Fatal(err)
			}
		}
		r.Fatal("the opening asks for ever")
	})
}

// openingOf is an opening of U of a query with all shares, but those of liar changed.
func (g *group) openingOf(t testing.TB, q Query, u Survivors, liar int, change func(message []byte)) *Opening {
	t.Helper()
	o := g.opening(t, q, u, without(len(g.keys), liar))
	message := g.shares(t, liar, q, u, g.certificate(t, q, u))
	change(message)
	if err := o.Add(liar, message); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestWrongShare: a share that is wrong by one opens nothing; its helper, whose proof cannot hold,
// is named and its shares are forgotten, on both graphs, of all kinds of proof that do not hold.
func TestWrongShare(t *testing.T) {
	for _, g := range []*group{sharedGroup(t, 5), sharedSparse(t), sharedWhole(t, 5)} {
		n, dealer := len(g.keys), 3
		u := without(n, 2)
		if g.cfg.Whole() {
			u = without(n)
		}
		q := Query{Slot: 1, Context: labelled("wrong share"), Bits: 40, Lanes: 3}
		sum, want := g.sums(t, q, u)
		liar := g.setup.graph.Holders(dealer)[0]
		held := g.setup.graph.Held(liar)
		at, _, _ := g.setup.graph.Find(liar, dealer)
		place := len(held) - at
		prove := func(q Query, u Survivors, dealer int) []byte {
			return must(g.setup.Proof(liar, dealer, q, u, g.received[liar].Public))
		}
		own, other := prove(q, u, dealer), held[(at+1)%len(held)].Dealer
		slot, context := q, q
		slot.Slot, context.Context[0] = 0, 1
		swapped := slices.Clone(own)
		header := len(helper{g.setup, liar, q, u}.header("proof"))
		copy(swapped[header+2:], prove(q, u, other)[header+2:])
		for name, proof := range map[string][]byte{
			"its own": own, "nothing": nil, "short": own[:len(own)-1], "another slot's": prove(slot, u, dealer), "another ctx's": prove(context, u, dealer),
			"another dealer's": swapped, "no dealer's": flip(own, header), "another leaf": flip(own, header+2),
		} {
			o := g.openingOf(t, q, u, liar, func(m []byte) { copy(m[len(m)-32*place:], plusOne(t, m[len(m)-32*place:][:32])) })
			if err := o.AddProof(liar, own); err != nil {
				t.Errorf("a proof that nobody asked for: %v", err)
			}
			e, ok := errors.AsType[*ProofsError](o.Unmask(slices.Clone(sum)))
			if !ok || e.Dealer != dealer || len(e.Helpers) != g.cfg.threshold() || !slices.Contains(e.Helpers, liar) {
				t.Fatalf("%s: %v", name, e)
			}
			names(t, name, o.AddProof(liar, proof), liar)
			opened := slices.Clone(sum)
			if err := o.Unmask(opened); err != nil || !slices.Equal(opened, want) || o.Helpers() != n-1 || len(o.Convicted()) > 0 {
				t.Errorf("%s: without the liar: %v", name, err)
			}
			o.Add(liar, g.shares(t, liar, q, u, g.certificate(t, q, u)))
			if o.Helpers() != n-1 {
				t.Errorf("%s: the liar's shares count again", name)
			}
		}
	}
}

// TestDealerAndHolder: with a holder's help a dealer has a share that proves, though it is on no
// polynomial of its own. All helpers prove, and the dealer is named: in U nothing opens, outside
// its neighbors' keys do.
func TestDealerAndHolder(t *testing.T) {
	const dealer, holder = 3, 0
	for _, outside := range []int{dealer, 2} {
		u := without(5, outside)
		of := which(outside != dealer)
		cfg, keys := testConfig(5, 1)
		g := announcedBy(t, cfg, keys)
		g.whole[dealer] = g.recommitted(t, dealer, 0, of, holder+1)
		g.exchange(t)
		g.deal(t)
		errs := make([]error, 5)
		for i := range 5 {
			g.received[i], errs[i] = g.setup.Receive(i, g.secrets[i], keys[i], g.boxesFor(i), nil)
		}
		names(t, "an honest holder", errs[holder], dealer)
		errs[holder] = nil
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		q := Query{Context: labelled("collusion"), Bits: 32, Lanes: 2}
		message, proof := helper{g.setup, holder, q, u}.header("shares"), append(helper{g.setup, holder, q, u}.header("proof"), u16(dealer)...)
		x, commit := scalarOf(holder+1), committer{g.setup.sites[dealer].header}
		for j := range 5 {
			share := g.secrets[j].Slots[0].polynomial(which(u.Contains(j)), 0, j, 4).at(x)
			if j == dealer {
				share.Add(share, scalarOf(1))
			}
			message = append(message, share.Bytes()...)
		}
		mask := commit.maskLeaf(holder+1, g.maskPolynomial(t, dealer).at(x))
		leaf := commit.leaf(holder+1, 0, 1-of, g.secrets[dealer].Slots[0].polynomial(1-of, 0, dealer, 4).at(x))
		proof = append(append(proof, mask[:]...), leaf[:]...)
		o := must(g.setup.NewOpening(q, u, Kept{make([][]byte, 5), make([][]byte, 5), make([][]byte, 5)}))
		errs[holder] = o.Add(holder, message)
		for i := 1; i < 5; i++ {
			errs[i] = o.Add(i, g.shares(t, i, q, u, g.certificate(t, q, u)))
		}
		e, ok := errors.AsType[*ProofsError](o.Unmask(make([]uint64, 2)))
		if err := errors.Join(errs...); err != nil || !ok || e.Dealer != dealer || !slices.Equal(e.Helpers, []int{0, 1, 2, 3}) {
			t.Fatalf("%v, %v", err, e)
		}
		for _, i := range e.Helpers {
			if i != holder {
				proof = must(g.setup.Proof(i, dealer, q, u, g.received[i].Public))
			}
			if err := o.AddProof(i, proof); err != nil {
				t.Errorf("site %d: %v", i, err)
			}
		}
		err := o.Unmask(make([]uint64, 2))
		if at, ok := errors.AsType[*DealerError](err); u.Contains(dealer) && (!ok || at.Site != dealer) {
			t.Errorf("in U: %v", err)
		}
		if !u.Contains(dealer) && fmt.Sprint(o.Convicted()) != "[3]" {
			t.Errorf("outside: %v, %v", o.Convicted(), err)
		}
	}
}

// TestNoKeyWithoutItsTag: where deposits or tags are lost or false, an opening says whose keys or
// tags it needs, takes no key that misses its tag or whose tag is not at hand, and convicts the
// site outside of U of what it did alone.
func TestNoKeyWithoutItsTag(t *testing.T) {
	g := sharedGroup(t, 5)
	const missing = 2 // which owns its pairs with 0 and 3
	q, u := Query{Slot: 1, Context: labelled("fallback"), Bits: 32, Lanes: 2}, without(5, missing)
	masked, want := g.sums(t, q, u)
	flipped := flip(g.kept.Deposits[missing], 32)
	for name, c := range map[string]struct {
		tags      map[int][]byte // at hand, in place of those kept
		deposits  []byte
		hashes    []byte
		keys      []int // of whom they are asked for
		owners    []int // whose tags are
		convicted bool
	}{
		"nothing":                      {deposits: g.kept.Deposits[missing]},
		"deposits":                     {keys: []int{1, 4}},
		"short deposits":               {deposits: flipped[1:], keys: []int{1, 4}},
		"false deposits":               {deposits: flipped, keys: []int{0, 1, 3, 4}, convicted: true},
		"tags, but their hashes":       {tags: map[int][]byte{missing: nil}, deposits: g.kept.Deposits[missing], hashes: g.kept.TagHashes[missing]},
		"tags, other hashes":           {tags: map[int][]byte{missing: nil}, deposits: g.kept.Deposits[missing], hashes: flip(g.kept.TagHashes[missing], 33), owners: []int{2}, convicted: true},
		"tags and hashes":              {tags: map[int][]byte{missing: nil}, deposits: g.kept.Deposits[missing], owners: []int{2}},
		"a part of the tags":           {tags: map[int][]byte{missing: g.kept.Tags[missing][32:]}, deposits: g.kept.Deposits[missing], owners: []int{2}},
		"false tags":                   {tags: map[int][]byte{missing: flip(g.kept.Tags[missing], 32)}, deposits: g.kept.Deposits[missing], keys: []int{0, 1, 3, 4}, convicted: true},
		"a survivor's tags":            {tags: map[int][]byte{1: nil}, deposits: g.kept.Deposits[missing], owners: []int{1}},
		"a survivor's, and deposits":   {tags: map[int][]byte{4: {}}, owners: []int{4}},
		"two survivors', and deposits": {tags: map[int][]byte{4: nil, 1: nil}, owners: []int{1, 4}},
	} {
		kept := Kept{slices.Clone(g.kept.Tags), make([][]byte, 5), replace(g.kept.Deposits, missing, c.deposits)}
		for i, tags := range c.tags {
			kept.Tags[i] = tags
		}
		kept.TagHashes[missing] = c.hashes
		o := must(g.setup.NewOpening(q, u, kept))
		for i := range 4 {
			o.Add(i, g.shares(t, i, q, u, g.certificate(t, q, u)))
		}
		sum := slices.Clone(masked)
		err := o.Unmask(sum)
		var keys, owners []int
		if e, ok := errors.AsType[*KeysError](err); ok {
			keys = e.From
		} else if e, ok := errors.AsType[*TagsError](err); ok {
			owners = e.Owners
		} else if err != nil || !slices.Equal(sum, want) {
			t.Errorf("%s: another sum, %v", name, err)
		}
		if !slices.Equal(keys, c.keys) || !slices.Equal(owners, c.owners) || (len(o.Convicted()) > 0) != c.convicted {
			t.Errorf("%s: %v, of %v, %v; convicted %v", name, err, keys, owners, o.Convicted())
		}
		kept.Tags = g.kept.Tags
		o.Keep(kept)
		for _, j := range u {
			message := must(g.setup.Keys(j, g.secrets[j].Slots[1], g.received[j].Held[1], q, u))
			names(t, name, o.AddKeys(j, flip(message, len(message)-1)), j)
			names(t, name, o.AddKeys(j, message[1:]), j)
			if _, ok := errors.AsType[*KeysError](o.Unmask(slices.Clone(masked))); ok != (len(c.deposits) != len(flipped) || c.convicted) {
				t.Errorf("%s: keys are wanted: %t", name, ok)
			}
		}
		for _, j := range u {
			if err := o.AddKeys(j, must(g.setup.Keys(j, g.secrets[j].Slots[1], g.received[j].Held[1], q, u))); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if sum := slices.Clone(masked); o.Unmask(sum) != nil || !slices.Equal(sum, want) {
			t.Errorf("%s: another sum in the end", name)
		}
	}
}

// TestProofIsOfTheShareSent: a helper that proves a share, is dropped for its silence about
// another, and sends other shares then, has to prove these: no honest dealer is named for them.
func TestProofIsOfTheShareSent(t *testing.T) {
	g := sharedGroup(t, 5)
	q, u, liar, dealer := Query{Context: labelled("proven before"), Bits: 32, Lanes: 2}, without(5), 1, 3
	masked, want := g.sums(t, q, u)
	other := func(m []byte) { copy(m[len(m)-64:], plusOne(t, m[len(m)-64:][:32])) } // of dealer 3
	o := g.openingOf(t, q, u, 0, other)
	for round := range 2 {
		e, ok := errors.AsType[*ProofsError](o.Unmask(slices.Clone(masked)))
		if !ok || e.Dealer != dealer || !slices.Contains(e.Helpers, liar) {
			t.Fatalf("round %d: %v", round, e)
		}
		for _, i := range e.Helpers {
			if i == 0 {
				continue // and is never heard again
			}
			err := o.AddProof(i, must(g.setup.Proof(i, dealer, q, u, g.received[i].Public)))
			if (err != nil) != (round == 1 && i == liar) {
				t.Fatalf("round %d: site %d: %v", round, i, err)
			}
		}
		if round == 0 {
			o.Drop(liar)
			message := g.shares(t, liar, q, u, g.certificate(t, q, u))
			other(message)
			if err := o.Add(liar, message); err != nil {
				t.Fatal(err)
			}
		}
	}
	o.Drop(0)
	o.Drop(0)
	if err := o.Add(0, g.shares(t, 0, q, u, g.certificate(t, q, u))); err != nil || o.Helpers() != 4 {
		t.Errorf("%d helpers, %v", o.Helpers(), err)
	}
	if sum := slices.Clone(masked); o.Unmask(sum) != nil || !slices.Equal(sum, want) {
		t.Error("another sum")
	}
}
