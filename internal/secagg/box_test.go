package secagg

import (
	"bytes"
	"crypto/ed25519"
	"crypto/mlkem"
	"errors"
	"fmt"
	"slices"
	"testing"

	"filippo.io/edwards25519"

	"pgregory.net/rapid"
)

// reseal is a box with other contents, sealed and signed by its sender.
func (g *group) reseal(t rapid.TB, from, to int, change func(plain, tags []byte)) []byte {
	t.Helper()
	way := g.setup.passage(from, to)
	p, err := way.unwrap(*g.box(from, to))
	if err != nil {
		t.Fatal(err)
	}
	seal, err := mlkem.NewDecapsulationKey768(g.secrets[to].Seal[:])
	if err != nil {
		t.Fatal(err)
	}
	own, err := g.secrets[to].transport()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := way.open(own, seal, p)
	if err != nil {
		t.Fatal(err)
	}
	tags := slices.Clone(p.tags)
	change(plain, tags)
	if own, err = g.secrets[from].transport(); err != nil {
		t.Fatal(err)
	}
	box, err := way.seal(own, g.keys[from], seal.EncapsulationKey(), (*mlkem.EncapsulationKey768).Encapsulate, plain, tags)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// receive is what site self says to a box in the place of from's.
func (g *group) receive(from, self int, box []byte) error {
	at := slices.Index(g.setup.graph.Senders(self), from)
	_, err := g.setup.Receive(self, g.secrets[self], g.keys[self], replace(g.boxesFor(self), at, box), g.bodiesFor(self))
	return err
}

// TestRelayedBoxes: a box that is not its sender's, or not for this site or setup, names nobody:
// every byte of it is signed.
func TestRelayedBoxes(t *testing.T) {
	g := sharedGroup(t, 3)
	box := *g.box(2, 0) // of shares, keys and tags
	for at := range box {
		relayed(t, fmt.Sprint("byte ", at), g.setup.CheckBox(2, 0, flip(box, at)), 2)
	}
	other, keys := testConfig(3, 2)
	other.Study[0] ^= 1
	later := groupOf(t, other, keys)
	for name, box := range map[string][]byte{
		"nothing": nil, "short": box[:len(box)-1], "long": append(slices.Clone(box), 0), "direction": *g.box(0, 2), "another sender's": *g.box(1, 0),
		"another recipient's": *g.box(2, 1), "of another study": *later.box(2, 0), "flipped": flip(box, 1100),
	} {
		relayed(t, name, g.receive(2, 0, box), 2)
		relayed(t, name, g.setup.CheckBox(2, 0, box), 2)
	}
	for _, pair := range [][2]int{{-1, 0}, {0, 3}, {3, 0}, {1, 1}} {
		if g.setup.CheckBox(pair[0], pair[1], box) == nil || g.setup.Convicts(pair[0], pair[1], box, nil) {
			t.Errorf("a box of %v", pair)
		}
	}
	if later.setup.CheckConfirmation(1, g.received[1].Confirmation) == nil {
		t.Error("a confirmation of another study")
	}
}

// TestFirstBoxThatDoesNotHold: boxes' signatures are checked together, and still the first box that
// does not hold decides what its recipient says.
func TestFirstBoxThatDoesNotHold(t *testing.T) {
	g := sharedGroup(t, 5)
	const self = 1
	senders := g.setup.graph.Senders(self)
	for at, from := range senders[:len(senders)-1] {
		boxes := replace(g.boxesFor(self), at, g.reseal(t, from, self, func(plain, _ []byte) { plain[0] ^= 1 }))
		next := senders[at+1]
		for name, box := range map[string][]byte{"flipped": flip(boxes[at+1], 0), "short": boxes[at+1][1:], "another's": boxes[at]} {
			_, err := g.setup.Receive(self, g.secrets[self], g.keys[self], replace(boxes, at+1, box), nil)
			names(t, name, err, from)
			_, err = g.setup.Receive(self, g.secrets[self], g.keys[self], replace(g.boxesFor(self), at+1, box), nil)
			relayed(t, name, err, next)
		}
		relayed(t, "in its place", g.setup.CheckBoxes(self, replace(g.boxes[self], at, flip(g.boxes[self][at], 1100))), self)
	}
	if err := g.setup.CheckBoxes(self, g.boxes[self]); err != nil {
		t.Error(err)
	}
}

// TestBoxNeedsNoCofactor: a box with a signature that a site made on purpose, so that it holds with
// the cofactor alone, holds for the coordinator, the recipient and whoever judges it: none of them
// can be made to think that another one changed it.
func TestBoxNeedsNoCofactor(t *testing.T) {
	g := sharedGroup(t, 5)
	const from, self = 3, 1
	way := g.setup.passage(from, self)
	odd := func(box []byte) []byte {
		p, err := way.split(box)
		if err != nil {
			t.Fatal(err)
		}
		return append(slices.Clone(box[:len(box)-ed25519.SignatureSize]), lowOrderSignature(t, g.keys[from], way.signed(p.sealedHash(), p.tags))...)
	}
	good, bad := odd(*g.box(from, self)), odd(g.reseal(t, from, self, func(_, tags []byte) { tags[0] ^= 1 }))
	for name, box := range map[string][]byte{"good": good, "bad": bad} {
		if err := g.setup.CheckBoxes(from, replace(g.boxes[from], slices.Index(g.setup.graph.Recipients(from), self), box)); err != nil {
			t.Errorf("%s: the coordinator does not relay it: %v", name, err)
		}
	}
	if err := g.receive(from, self, good); err != nil {
		t.Error(err)
	}
	names(t, "bad", g.receive(from, self, bad), from)
	if guilty, err := g.setup.Judge(from, self, g.setup.Accusation(g.secrets[self], bad), nil); guilty != from || err != nil {
		t.Errorf("%d is guilty, %v", guilty, err)
	}
	p, err := way.split(good)
	if err != nil {
		t.Fatal(err)
	}
	hash := p.sealedHash()
	if !g.setup.Convicts(from, self, bad, slices.Concat(hash[:], p.signature, p.tags)) {
		t.Error("two boxes with different tags do not convict")
	}
}

// TestBoxesOfOtherSites: boxes and commitments of more sites than a site hears from are not
// taken for those of fewer, and no sender is blamed for commitments that were left out.
func TestBoxesOfOtherSites(t *testing.T) {
	g := sharedSparse(t)
	boxes, bodies := g.boxesFor(1), g.bodiesFor(1)
	for name, given := range map[string][2][][]byte{
		"a box more":        {append(slices.Clone(boxes), boxes[0]), bodies},
		"a commitment more": {boxes, append(slices.Clone(bodies), bodies[0])},
		"no commitments":    {boxes, nil},
	} {
		_, err := g.setup.Receive(1, g.secrets[1], g.keys[1], given[0], given[1])
		if _, ok := errors.AsType[*ConfigError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBadBoxesNameTheDealer: whatever is wrong in a box that its sender signed is refused, and the
// recipient proves it with its keys of the setup; who accuses without cause convicts itself.
func TestBadBoxesNameTheDealer(t *testing.T) {
	for _, g := range []*group{sharedGroup(t, 5), sharedWhole(t, 5)} {
		const from, self = 3, 1 // 3 owns the pair
		bad := map[string]func(plain, tags []byte){
			"not a scalar": func(p, _ []byte) { copy(p[32:], bytes.Repeat([]byte{0xff}, 32)) },
			"cancelling": func(p, _ []byte) {
				copy(p, plusOne(t, p[:32]))
				s, _ := decodeScalar(p[32:64])
				copy(p[32:], s.Subtract(s, scalarOf(1)).Bytes())
			},
		}
		shares := g.cfg.shared()
		for at := range shares {
			bad[fmt.Sprint("share ", at)] = func(p, _ []byte) { copy(p[32*at:], plusOne(t, p[32*at:][:32])) }
		}
		for slot := 0; slot < g.cfg.Slots && !g.cfg.Whole(); slot++ {
			bad[fmt.Sprint("key ", slot)] = func(p, _ []byte) { p[32*(shares+slot)] ^= 1 }
			bad[fmt.Sprint("tag ", slot)] = func(_, tags []byte) { tags[32*slot+31] ^= 1 }
		}
		for name, change := range bad {
			box := g.reseal(t, from, self, change)
			names(t, name, g.receive(from, self, box), from)
			if guilty, err := g.setup.Judge(from, self, g.setup.Accusation(g.secrets[self], box), nil); guilty != from || err != nil {
				t.Errorf("%s: %d is guilty, %v", name, guilty, err)
			}
		}
		garbage := g.reseal(t, from, self, func(_, _ []byte) {})
		if err := g.receive(from, self, garbage); err != nil {
			t.Errorf("a second sealing of the same: %v", err)
		}
		garbage = garbage[:len(garbage)-ed25519.SignatureSize]
		garbage[5] ^= 1 // signed by its sender, as it is
		p := parcel{ct: garbage[:1088], sealed: garbage[1088 : 1088+g.setup.passage(from, self).plainSize()+gcmOverhead]}
		p.tags = garbage[1088+len(p.sealed):]
		garbage = append(garbage, ed25519.Sign(g.keys[from], g.setup.passage(from, self).signed(p.sealedHash(), p.tags))...)
		names(t, "a box that does not open", g.receive(from, self, garbage), from)
		sec, good := g.secrets[self], *g.box(from, self)
		other := sec
		other.Seal[40] ^= 1 // of what is for bad ciphertexts alone
		for name, accusation := range map[string][]byte{
			"a good box": g.setup.Accusation(sec, good), "nothing": nil, "no box": g.setup.Accusation(sec, nil), "another rejection": g.setup.Accusation(other, good),
			"another's keys": g.setup.Accusation(g.secrets[2], garbage), "another X25519 key": flip(g.setup.Accusation(sec, garbage), 3),
			"another ML-KEM key": flip(g.setup.Accusation(sec, garbage), 40), "a box of another": g.setup.Accusation(sec, *g.box(2, self)),
			"not as it was signed": g.setup.Accusation(sec, flip(good, 1200)),
		} {
			if guilty, err := g.setup.Judge(from, self, accusation, nil); guilty != self || err != nil {
				t.Errorf("%s: %d is guilty, %v", name, guilty, err)
			}
		}
	}
}

// TestEachShareIsOfItsPolynomial: a share off the dealer's polynomial is refused, of every slot and
// secret, at every place, though the dealer committed to it and its combination fits.
func TestEachShareIsOfItsPolynomial(t *testing.T) {
	for _, g := range []*group{sharedGroup(t, 5), sharedWhole(t, 5)} {
		const dealer = 3
		kinds := g.cfg.kinds()
		for at := range g.cfg.shared() {
			for x := 1; x <= g.cfg.holders(); x++ {
				s := must(Verify(g.cfg, replace(g.sent, dealer, g.recommitted(t, dealer, at/kinds, at%kinds, x))))
				check := func(off uint64) bool {
					shares := make([]SlotHeld, g.cfg.Slots)
					for k := range g.cfg.shared() {
						share := g.secrets[dealer].Slots[k/kinds].polynomial(k%kinds, k/kinds, dealer, g.cfg.threshold()).at(scalarOf(uint64(x)))
						if k == at {
							share.Add(share, scalarOf(off))
						}
						shares[k/kinds].add(k%kinds, share)
					}
					b := must(s.body(dealer, nil))
					_, ok := s.sites[dealer].dealt(s.cfg, x, b, shares)
					return ok
				}
				if check(0) || check(1) {
					t.Fatalf("secret %d, place %d: a share off the polynomial", at, x)
				}
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestChallengeBindsEverything that P must not be chosen after, and every leaf its share's slot,
// secret, place and announcement.
func TestChallengeBindsEverything(t *testing.T) {
	g := sharedGroup(t, 5)
	a := &g.setup.sites[3]
	b := must(g.setup.body(3, nil))
	fields := [][]byte{a.header[:], a.transport.Bytes(), a.sealHash[:], a.secrets, b.places}
	seen := map[string]bool{}
	put := func(what string, v []byte) {
		if seen[string(v)] {
			t.Errorf("%s is the same", what)
		}
		seen[string(v)] = true
	}
	of := func(f [][]byte) []byte {
		return committer{[32]byte(f[0])}.challenge(f[1], f[2], f[3], f[4]).Bytes()
	}
	put("g", of(fields))
	put("fewer places", of(replace(fields, 4, b.places[:32])))
	for i, f := range fields {
		for at := range f {
			put(fmt.Sprint("field ", i, ", byte ", at), of(replace(fields, i, flip(f, at))))
		}
	}
	v := edwards25519.NewScalar()
	for _, c := range []committer{{}, {[32]byte{1}}} {
		for x := range 3 {
			mask, place := c.maskLeaf(x, v), c.place(x, nil)
			put("mask leaf", mask[:])
			put("place", place[:])
			for at := range 4 {
				leaf := c.leaf(x, at/2, at%2, v)
				put("leaf", leaf[:])
			}
		}
		for at := range 4 {
			h := c.secret(at/2, at%2, v)
			put("secret", h[:])
		}
	}
}

// TestTwoBoxesConvict: who signs other tags for one recipient later is convicted by the recipient's
// record; the same keys sealed anew are no offence.
func TestTwoBoxesConvict(t *testing.T) {
	for _, g := range []*group{sharedGroup(t, 5), sharedSparse(t)} {
		const to = 1
		owner := g.setup.graph.Owners(to)[1]
		at, public := slices.Index(g.setup.graph.Senders(to), owner), g.received[to].Public
		second := g.reseal(t, owner, to, func(_, tags []byte) { tags[0] ^= 1 })
		who, evidence, ok := g.setup.Contradiction(to, public, replace(g.boxesFor(to), at, second))
		if !ok || who != owner || !g.setup.Convicts(owner, to, second, evidence) {
			t.Errorf("another box of site %d: %d, %t", owner, who, ok)
		}
		again := g.reseal(t, owner, to, func(_, _ []byte) {})
		for name, box := range map[string][]byte{"the same": *g.box(owner, to), "sealed anew": again, "not its own": flip(second, 1100), "nothing": nil} {
			if _, _, ok := g.setup.Contradiction(to, public, replace(g.boxesFor(to), at, box)); ok || g.setup.Convicts(owner, to, box, evidence) {
				t.Errorf("a box that is %s convicts", name)
			}
		}
		for k := range evidence {
			if g.setup.Convicts(owner, to, second, flip(evidence, k)) {
				t.Fatalf("evidence with another byte %d", k)
			}
		}
		if g.setup.Convicts(owner, to, second, evidence[1:]) {
			t.Error("short evidence")
		}
		if _, _, ok := g.setup.Contradiction(to, public[:100], replace(g.boxesFor(to), at, second)); ok {
			t.Error("a contradiction of what is not on record")
		}
	}
}

// TestStatements: a site signs its deposits and the tags that it checked: of no other site, boxes
// or setup.
func TestStatements(t *testing.T) {
	for _, g := range []*group{sharedGroup(t, 5), sharedSparse(t)} {
		const site = 2
		r, boxes := g.received[site], g.boxesFor(site)
		if err := g.setup.CheckStatement(site, r.Deposits, r.Statement, boxes); err != nil {
			t.Fatal(err)
		}
		owner := g.setup.graph.Owners(site)[0]
		at := slices.Index(g.setup.graph.Senders(site), owner)
		other := g.reseal(t, owner, site, func(_, tags []byte) { tags[40] ^= 1 })
		names(t, "tags of another box", g.setup.CheckStatement(site, r.Deposits, r.Statement, replace(boxes, at, other)), site)
		names(t, "deposits", g.setup.CheckStatement(site, flip(r.Deposits, 33), r.Statement, boxes), site)
		names(t, "short", g.setup.CheckStatement(site, r.Deposits[32:], r.Statement, boxes), site)
		names(t, "another's", g.setup.CheckStatement(site, r.Deposits, g.received[3].Statement, boxes), site)
		names(t, "a confirmation", g.setup.CheckStatement(site, r.Deposits, r.Confirmation, boxes), site)
		hashes := g.kept.TagHashes[site]
		for k := 0; k < len(g.kept.Tags[site]); k += 32 {
			if g.setup.CheckTags(site, flip(g.kept.Tags[site], k), hashes) {
				t.Fatalf("other tags at %d", k)
			}
		}
		if !g.setup.CheckTags(site, g.kept.Tags[site], hashes) || g.setup.CheckTags(site, nil, nil) || g.setup.CheckTags(3, g.kept.Tags[site], hashes) {
			t.Error("tags")
		}
		if g.setup.DepositHash(site, r.Deposits) == g.setup.DepositHash(site, flip(r.Deposits, 0)) || g.setup.DepositHash(site, nil) == g.setup.DepositHash(3, nil) {
			t.Error("one hash of two deposits")
		}
	}
}
