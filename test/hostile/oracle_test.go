package hostile

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/mlkem"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"filippo.io/edwards25519"

	"covey/internal/graph"
	"covey/internal/secagg"
	covey "covey/proto/covey/v1"
)

// Somebody recorded all that honest sites ever sent, and later breaks X25519, or ML-KEM, or both.
// What is broken gives, in a test, the private keys of all sites. Signatures are not forged: that
// needs to be done while slots live (docs/threat-model.md).

// broken is what somebody has broken.
type broken struct{ x25519, mlkem bool }

func (b broken) String() string {
	switch b {
	case broken{x25519: true}:
		return "X25519"
	case broken{mlkem: true}:
		return "ML-KEM"
	}
	return "X25519 and ML-KEM"
}

// letter is a box that went through the coordinator.
type letter struct {
	setup            *secagg.Setup
	from, to         int
	box              []byte
	sender, receiver secagg.Secrets // of which what is broken gives a part
	plain            []byte         // once it is read
}

const (
	capsuleSize = 1088
	gcmTag      = 16
)

// sealed returns the two parts of a box that matter to who wants to read it. A box also has tags,
// where the setup is not whole, and a signature.
func (l letter) sealed() (capsule, sealed []byte) {
	g, c := l.setup.Graph(), l.setup.Config()
	kinds := 2
	if c.Whole() {
		kinds = 1
	}
	size := gcmTag
	if slices.ContainsFunc(g.Held(l.to), func(s graph.Share) bool { return s.Dealer == l.from }) {
		size += 32 * kinds * c.Slots
	}
	if slices.Contains(g.Owned(l.from), l.to) {
		size += 32 * c.Slots
	}
	return l.box[:capsuleSize], l.box[capsuleSize:][:size]
}

// read tries to open a box with what is broken alone: as the protocol derives its key, and as it
// might if the part that is not broken were left out, empty, or known.
func (l letter) read(b broken) ([]byte, bool) {
	capsule, sealed := l.sealed()
	var own, other *ecdh.PrivateKey
	var seal *mlkem.DecapsulationKey768
	must := func(err error) {
		if err != nil {
			panic(err) // the sites announced with these
		}
	}
	var err error
	own, err = ecdh.X25519().NewPrivateKey(l.receiver.Transport[:])
	must(err)
	other, err = ecdh.X25519().NewPrivateKey(l.sender.Transport[:])
	must(err)
	seal, err = mlkem.NewDecapsulationKey768(l.receiver.Seal[:])
	must(err)
	sealHash, capsuleHash := sha256.Sum256(seal.EncapsulationKey().Bytes()), sha256.Sum256(capsule)
	guesses := [][]byte{{}, make([]byte, 32), capsuleHash[:], sealHash[:]} // of the part that is not broken
	var secrets, agreements [][]byte
	if b.mlkem {
		secret, err := seal.Decapsulate(capsule)
		must(err)
		secrets = [][]byte{secret}
	}
	if b.x25519 {
		agreed, err := own.ECDH(other.PublicKey())
		must(err)
		agreements = [][]byte{agreed}
	}
	if secrets == nil {
		secrets = append(guesses, agreements...)
	}
	if agreements == nil {
		agreements = append(guesses, secrets...)
	}
	transcript := l.setup.Transcript()
	for _, secret := range secrets {
		for _, agreed := range agreements {
			key := derive(slices.Concat(secret, agreed), transcript[:], "box", 32, u16(l.from), u16(l.to),
				other.PublicKey().Bytes(), own.PublicKey().Bytes(), sealHash[:], capsule)
			block, err := aes.NewCipher(key)
			must(err)
			aead, err := cipher.NewGCM(block)
			must(err)
			plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), sealed, slices.Concat(transcript[:], u16(l.from), u16(l.to)))
			if err == nil {
				return plain, true
			}
		}
	}
	return nil, false
}

// readAll returns what can be read of the letters between honest sites; total is how many there
// are.
func (w *world) readAll(b broken) (read []letter, total int) {
	for _, l := range w.mail {
		if slices.Contains(w.corrupt, l.from) || slices.Contains(w.corrupt, l.to) || w.shown[l.receiver.Transport] {
			continue // a corrupt site's, or of a setup that ended with an accusation
		}
		total++
		if plain, ok := l.read(b); ok {
			l.plain = plain
			read = append(read, l)
		}
	}
	return read, total
}

// oracle judges the recording again, for somebody with one of the two broken, who must not have
// more than the coordinator had, and for somebody with both, who must have all: else nothing was
// tested.
func (w *world) oracle(before report) {
	w.t.Helper()
	if w.Setup == nil || len(w.mail) == 0 {
		return
	}
	for _, b := range []broken{{x25519: true}, {mlkem: true}} {
		if read, total := w.readAll(b); len(read) > 0 {
			w.t.Errorf("who breaks %v reads %d of %d boxes", b, len(read), total)
			if after := w.checkWith(read); len(after.openings) != len(before.openings) {
				w.t.Errorf("and %d sums, where the coordinator reads %d", len(after.openings), len(before.openings))
			}
		}
	}
	w.secretsIn(w.recorded())
	if w.everythingRead || len(w.view.uploads) == 0 {
		return
	}
	w.everythingRead = true
	read, total := w.readAll(broken{true, true})
	if len(read) != total {
		w.t.Errorf("who breaks both reads %d of %d boxes: the attack is not one", len(read), total)
	}
	var mine []letter
	for _, l := range read {
		if l.setup.Transcript() == w.Setup.Transcript() {
			mine = append(mine, l)
		}
	}
	if after := w.checkWith(mine); len(after.openings) != len(w.view.uploads) && len(before.broken) == 0 && total > 0 {
		w.t.Errorf("who breaks both reads %d of %d uploads by themselves: the attack is not one", len(after.openings), len(w.view.uploads))
	}
}

// recorded is all that honest sites sent but uploads, shares and keys of pairs, which the checker
// judges, and what went from site to site.
func (w *world) recorded() (out [][]byte) {
	out = append(out, w.view.heard...)
	for _, l := range w.mail {
		if !slices.Contains(w.corrupt, l.from) {
			out = append(out, l.box)
		}
	}
	for i, raw := range w.Bodies {
		if !slices.Contains(w.corrupt, i) {
			out = append(out, raw)
		}
	}
	return out
}

// secretsIn looks for honest sites' secrets in what was recorded, and for what gives them to
// somebody who takes discrete logarithms: their multiples of the base points of edwards25519 and of
// X25519. A random 32 bytes are one of n of them with probability n/2^250.
func (w *world) secretsIn(recorded [][]byte) {
	w.t.Helper()
	if w.needles == nil || w.needlesOf != w.Setup.Transcript() {
		w.needles, w.needlesOf = w.newNeedles(), w.Setup.Transcript()
	}
	for _, raw := range recorded {
		if what, ok := find(w.needles, raw); ok {
			w.t.Errorf("what was recorded holds %s", what)
			return
		}
	}
}

// needles are 32 bytes each, by their first 8.
type needles map[uint64][]needle

type needle struct {
	what  string
	value [32]byte
}

func (n needles) add(what string, value []byte) {
	at := binary.LittleEndian.Uint64(value)
	n[at] = append(n[at], needle{what, [32]byte(value)})
}

// scalar adds a number below ℓ, and its images.
func (n needles) scalar(what string, s *edwards25519.Scalar, images bool) {
	n.add(what, s.Bytes())
	if !images {
		return
	}
	p := new(edwards25519.Point).ScalarBaseMult(s)
	n.add("the logarithm of "+what, p.Bytes())
	n.add("the logarithm of "+what, p.BytesMontgomery())
	n.clamped(what, s.Bytes())
}

// clamped adds what X25519 makes of 32 bytes.
func (n needles) clamped(what string, raw []byte) {
	key, err := ecdh.X25519().NewPrivateKey(raw)
	if err != nil {
		panic(err) // any 32 bytes are one
	}
	n.add("the logarithm of "+what, key.PublicKey().Bytes())
}

func find(n needles, raw []byte) (string, bool) {
	for at := 0; at+32 <= len(raw); at++ {
		for _, x := range n[binary.LittleEndian.Uint64(raw[at:])] {
			if x.value == [32]byte(raw[at:]) {
				return x.what, true
			}
		}
	}
	return "", false
}

// mostImages bounds the slots whose secrets are looked for in the exponent too: the last, which are
// made as all are.
const mostImages = 4

// newNeedles are the honest sites' secrets of the setup at hand: seeds, slot secrets, b, e, all
// shares, the keys of pairs between them, and the values of the polynomials that mask combinations.
func (w *world) newNeedles() needles {
	n := needles{}
	g, threshold := w.Setup.Graph(), w.plan.Thresholds.Threshold
	isHonest := func(i int) bool { return !slices.Contains(w.corrupt, i) }
	for _, i := range w.honest {
		if w.agent(i) == nil && len(w.real()) > 0 {
			continue // by the book: made as the test makes it
		}
		sec := w.seeds[i]
		if !w.shown[sec.Transport] {
			n.add(fmt.Sprintf("site %d's X25519 key", i), sec.Transport[:])
			n.add(fmt.Sprintf("site %d's ML-KEM seed", i), sec.Seal[:32])
			n.add(fmt.Sprintf("site %d's ML-KEM seed", i), sec.Seal[32:])
		}
		if !w.plan.Thresholds.Sparse() { // there nonces are shown
			n.add(fmt.Sprintf("site %d's nonce", i), sec.Nonce[:])
		}
		var places []int
		for _, j := range w.everyone() {
			for _, at := range g.Held(j) {
				if at.Dealer == i && isHonest(j) {
					places = append(places, at.X)
				}
			}
		}
		for slot, secret := range sec.Slots {
			images := slot >= len(sec.Slots)-mostImages
			n.add(fmt.Sprintf("slot %d's secret of site %d", slot, i), secret[:])
			if images {
				n.clamped(fmt.Sprintf("slot %d's secret of site %d", slot, i), secret[:])
			}
			d := dealtBy(secret, slot, i, threshold)
			for kind, p := range d {
				name := fmt.Sprintf("slot %d's %c of site %d", slot, "be"[kind], i)
				n.scalar(name, p[0], images)
				for _, x := range places {
					n.scalar(fmt.Sprintf("%s at %d", name, x), evaluate(p, x), images)
				}
			}
			for _, j := range g.Owned(i) {
				if isHonest(j) {
					k := pairKey(d[kindE][0], w.Setup.Transcript(), slot, i, j)
					n.add(fmt.Sprintf("slot %d's key of sites %d and %d", slot, i, j), k[:])
				}
			}
		}
		w.maskValues(n, i, places)
	}
	return n
}

// announced by a site, by what docs/protocol.md says, on the complete graph.
type parts struct {
	transport, seal, secrets, places []byte
	p                                []*edwards25519.Scalar
}

func (w *world) parts(site int) (out parts) {
	rest := w.Announcements[site][keyAt:]
	take := func(n int) (part []byte) {
		part, rest = rest[:n], rest[n:]
		return part
	}
	out.transport, out.seal = take(32), take(mlkem.EncapsulationKeySize768)
	out.secrets, out.places = take(32*w.kinds()*w.plan.Slots), take(32*w.n())
	for range w.plan.Thresholds.Threshold {
		s, err := edwards25519.NewScalar().SetCanonicalBytes(take(32))
		if err != nil {
			w.t.Fatal(err)
		}
		out.p = append(out.p, s)
	}
	return out
}

// maskValues adds the values at the given places of the polynomial that masks a site's combination,
// on the complete graph, and checks on the way that the site committed to all as it should.
func (w *world) maskValues(n needles, site int, places []int) {
	w.t.Helper()
	if w.plan.Thresholds.Sparse() {
		return
	}
	a, header, kinds := w.parts(site), headerHash(w.Config, site), w.kinds()
	g := challenge(header, a.transport, a.seal, a.secrets, a.places)
	var all [][]*edwards25519.Scalar // polynomials in the order of m
	for slot, secret := range w.seeds[site].Slots {
		d := dealtBy(secret, slot, site, w.plan.Thresholds.Threshold)
		for kind := range kinds {
			if h := commitment(header, kind, slot, d[kind][0]); h != [32]byte(a.secrets[32*len(all):]) {
				w.t.Errorf("site %d's announcement does not commit to slot %d's %c", site, slot, "be"[kind])
			}
			all = append(all, d[kind])
		}
	}
	for _, x := range places {
		values := make([]*edwards25519.Scalar, 1, 1+len(all))
		for _, p := range all {
			values = append(values, evaluate(p, x))
		}
		values[0] = edwards25519.NewScalar().Subtract(evaluate(a.p, x), combination(g, values[1:]))
		if c := place(header, x, kinds, values); c != [32]byte(a.places[32*(x-1):]) {
			w.t.Errorf("site %d's announcement does not commit to its shares at %d", site, x)
		}
		n.scalar(fmt.Sprintf("a value of what masks site %d's combination, at %d", site, x), values[0], true)
	}
}

// TestOracle goes through a study that uses all there is — two queries, one with sites that drop
// out, proofs and keys of pairs — and gives what was recorded of it, once the sites have erased its
// slots, to somebody who breaks X25519, then ML-KEM, then both: hold does. What hold looks for is
// found where it is.
func TestOracle(t *testing.T) {
	w := newWorld(t, options{sites: 5, corrupt: []int{4}})
	w.begin()
	for k, u := range [][]int{{0, 1, 2, 3, 4}, {0, 1, 3, 4}} {
		a := w.asking(k, k, 1)
		if n := w.round(a, u); n != 4 {
			t.Fatalf("%d sites helped, want 4", n)
		}
		proofs, told := 0, 0
		for _, i := range w.honest {
			for _, dealer := range w.honest {
				if w.prove(i, a, u, dealer) != nil {
					proofs++
				}
			}
			if w.keys(i, a, u) != nil {
				told++
			}
		}
		inside := len(slices.DeleteFunc(slices.Clone(u), func(i int) bool { return i == 4 }))
		if proofs != 16 || told != inside {
			t.Errorf("%d proofs and %d sites' keys, want 16 and %d", proofs, told, inside)
		}
		w.final(a, u)
		for _, i := range w.honest {
			if said := refusalTo(w.ask(i, keys(w.plan.Digest, a.Query, a.Slot, u))); said.GetCode() != covey.Code_CODE_FINAL {
				t.Errorf("site %d answers about an erased slot: %v", i, said)
			}
		}
	}
	if r := w.hold(); len(r.openings) != 2 {
		t.Errorf("open are %v", r.openings)
	}
	// What is looked for is found where it stands.
	d, seeds := dealtBy(w.truth[1][0], 0, 1, w.plan.Thresholds.Threshold), w.seeds[3]
	for name, secret := range map[string][]byte{
		"e":                  d[kindE][0].Bytes(),
		"a share":            evaluate(d[kindB], 3).Bytes(),
		"a Feldman point":    new(edwards25519.Point).ScalarBaseMult(dealtBy(w.truth[1][w.plan.Slots-1], w.plan.Slots-1, 1, 1)[kindE][0]).Bytes(),
		"a slot's secret":    w.truth[2][1][:],
		"a transport key":    seeds.Transport[:],
		"half a ML-KEM seed": seeds.Seal[32:],
		"the key of two ends": func() []byte {
			k := (&checker{w: w, slots: map[int][]dealt{}, keys: map[[3]int][32]byte{}}).key(1, 0, 2)
			return k[:]
		}(),
	} {
		if _, ok := find(w.needles, append(append([]byte("before"), secret...), "after"...)); !ok {
			t.Errorf("%s is not found", name)
		}
	}
}
