package hostile

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/rand"
	"crypto/sha256"
	"slices"

	"filippo.io/edwards25519"

	"covey/internal/secagg"
)

// A corrupt site that makes its announcement and boxes by itself, as docs/protocol.md says and not
// with internal/secagg, so that it can lie in one place and be right in all others.

// announcement makes a site's announcement on the complete graph from its secrets. A lie about a
// secret is what the commitments are made for in its place, by kind and slot.
func announcement(c secagg.Config, site int, sec secagg.Secrets, key ed25519.PrivateKey, lie map[[2]int]*edwards25519.Scalar) []byte {
	transport, err := ecdh.X25519().NewPrivateKey(sec.Transport[:])
	if err != nil {
		panic(err) // any 32 bytes are one
	}
	seal, err := mlkem.NewDecapsulationKey768(sec.Seal[:])
	if err != nil {
		panic(err) // any 64 bytes are one
	}
	kinds := 2
	if c.Whole() {
		kinds = 1
	}
	head, threshold := headerHash(c, site), c.Quorum
	var all [][]*edwards25519.Scalar // of f_0, then in the order of m
	all = append(all, nil)
	for range threshold {
		var wide [64]byte
		rand.Read(wide[:])
		f, err := edwards25519.NewScalar().SetUniformBytes(wide[:])
		if err != nil {
			panic(err) // for other lengths alone
		}
		all[0] = append(all[0], f)
	}
	var secrets, places []byte
	for slot, secret := range sec.Slots {
		d := dealtBy(secret, slot, site, threshold)
		for kind := range kinds {
			all = append(all, d[kind])
			shown := d[kind][0]
			if other := lie[[2]int{kind, slot}]; other != nil {
				shown = other
			}
			h := commitment(head, kind, slot, shown)
			secrets = append(secrets, h[:]...)
		}
	}
	at := func(x int) (values []*edwards25519.Scalar) {
		for _, p := range all {
			values = append(values, evaluate(p, x))
		}
		return values
	}
	for x := 1; x <= len(c.Identity); x++ {
		c := place(head, x, kinds, at(x))
		places = append(places, c[:]...)
	}
	public, sealKey := transport.PublicKey().Bytes(), seal.EncapsulationKey().Bytes()
	g := challenge(head, public, sealKey, secrets, places)
	out := slices.Concat(header(c, site), public, sealKey, secrets, places)
	for k := range threshold {
		var coefficients []*edwards25519.Scalar
		for _, p := range all[1:] {
			coefficients = append(coefficients, p[k])
		}
		out = append(out, edwards25519.NewScalar().Add(all[0][k], combination(g, coefficients)).Bytes()...)
	}
	return append(out, ed25519.Sign(key, out)...)
}

// contents are a box's: shares by slot, b before e, then keys by slot; and tags.
type contents struct {
	shares, keys, tags []byte
}

// contentsFor is what a corrupt site's box for another holds on the complete graph.
func (w *world) contentsFor(from, to int) (c contents) {
	p, transcript := w.party[from], w.Setup.Transcript()
	owner, _ := ownerOf(from, to)
	for slot, secret := range p.secrets.Slots {
		d := dealtBy(secret, slot, from, w.plan.Thresholds.Threshold)
		for kind := range w.kinds() {
			c.shares = append(c.shares, evaluate(d[kind], to+1).Bytes()...)
		}
		if owner == from {
			k := pairKey(d[kindE][0], transcript, slot, from, to)
			t := tagOf(k, transcript, slot, from, to)
			c.keys, c.tags = append(c.keys, k[:]...), append(c.tags, t[:]...)
		}
	}
	if w.Config.Whole() {
		c.tags = nil
	}
	return c
}

// seal makes a corrupt site's box for another on the complete graph.
func (w *world) seal(from, to int, c contents) []byte {
	w.t.Helper()
	p, a, transcript := w.party[from], w.parts(to), w.Setup.Transcript()
	own, err := ecdh.X25519().NewPrivateKey(p.secrets.Transport[:])
	if err != nil {
		w.t.Fatal(err)
	}
	other, err := ecdh.X25519().NewPublicKey(a.transport)
	if err != nil {
		w.t.Fatal(err)
	}
	key, err := mlkem.NewEncapsulationKey768(a.seal)
	if err != nil {
		w.t.Fatal(err)
	}
	agreed, err := own.ECDH(other)
	if err != nil {
		w.t.Fatal(err)
	}
	secret, capsule := key.Encapsulate()
	sealHash, tagsHash := sha256.Sum256(a.seal), sha256.Sum256(c.tags)
	boxKey := derive(slices.Concat(secret, agreed), transcript[:], "box", 32, u16(from), u16(to), own.PublicKey().Bytes(), a.transport, sealHash[:], capsule)
	block, err := aes.NewCipher(boxKey)
	if err != nil {
		w.t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		w.t.Fatal(err)
	}
	bound := slices.Concat(transcript[:], u16(from), u16(to))
	sealed := aead.Seal(nil, make([]byte, aead.NonceSize()), slices.Concat(c.shares, c.keys), bound)
	return w.signBox(from, to, slices.Concat(capsule, sealed), c.tags, tagsHash)
}

// signBox puts a corrupt site's signature under a box.
func (w *world) signBox(from, to int, sealed, tags []byte, tagsHash [32]byte) []byte {
	transcript, sealedHash := w.Setup.Transcript(), sha256.Sum256(sealed)
	signed := slices.Concat([]byte("covey secagg box v2\x00"), transcript[:], u16(from), u16(to), sealedHash[:], tagsHash[:])
	return slices.Concat(sealed, tags, ed25519.Sign(w.party[from].identity, signed))
}
