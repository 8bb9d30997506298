package secagg

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

// TestHolding: of a list longer than one equation, the signatures before the first wrong one hold,
// wherever it is, and an empty list holds.
func TestHolding(t *testing.T) {
	g := sharedGroup(t, 5)
	w := &g.setup.Witness
	var good []signature
	for i := range 2*together + 3 {
		site, message := i%5, []byte{byte(i)}
		good = append(good, signature{site, message, ed25519.Sign(g.keys[site], message)})
	}
	if w.holding(nil) != 0 || w.holding(good) != len(good) {
		t.Fatalf("%d of %d hold", w.holding(good), len(good))
	}
	for i := range good {
		for what, wrong := range map[string]signature{
			"another message": {good[i].site, []byte("another"), good[i].signed},
			"another site's":  {(good[i].site + 1) % 5, good[i].message, good[i].signed},
			"short":           {good[i].site, good[i].message, good[i].signed[1:]},
			"none":            {good[i].site, good[i].message, nil},
			"flipped":         {good[i].site, good[i].message, flipped(good[i].signed, i%64)},
		} {
			list := slices.Clone(good)
			list[i] = wrong
			if n := w.holding(list); n != i {
				t.Fatalf("%s at %d: %d hold", what, i, n)
			}
		}
	}
}

// TestHoldingCancels: two wrong signatures whose errors add up to zero do not hold together, since
// each has a weight of its own.
func TestHoldingCancels(t *testing.T) {
	g := sharedGroup(t, 5)
	message := []byte("message")
	list := []signature{{0, message, ed25519.Sign(g.keys[0], message)}, {1, message, ed25519.Sign(g.keys[1], message)}}
	for i, by := range []*edwards25519.Scalar{scalarOf(1), minusOne} {
		s, err := edwards25519.NewScalar().SetCanonicalBytes(list[i].signed[32:])
		if err != nil {
			t.Fatal(err)
		}
		copy(list[i].signed[32:], s.Add(s, by).Bytes())
	}
	if n := g.setup.holding(list); n != 0 {
		t.Errorf("%d hold", n)
	}
}

// TestHoldingNeedsNoCofactor: a list is good together where each signature is good with the
// cofactor, also one that a site made with a part of low order, which crypto/ed25519 refuses: a
// list is never good for one who looks and bad for another.
func TestHoldingNeedsNoCofactor(t *testing.T) {
	g := sharedGroup(t, 5)
	message := []byte("message")
	odd := lowOrderSignature(t, g.keys[0], message)
	if ed25519.Verify(g.setup.cfg.Identity[0], message, odd) {
		t.Fatal("the signature has no part of low order")
	}
	plain := signature{1, message, ed25519.Sign(g.keys[1], message)}
	for range 20 {
		if n := g.setup.holding([]signature{{0, message, odd}, plain}); n != 2 {
			t.Fatalf("%d hold", n)
		}
		// and the same where another one makes the equation fail
		wrong := signature{1, message, flipped(plain.signed, 40)}
		if n := g.setup.holding([]signature{{0, message, odd}, wrong}); n != 1 {
			t.Fatalf("%d hold", n)
		}
	}
}

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

// lowOrderSignature signs with a nonce point that has a part of order eight.
func lowOrderSignature(t *testing.T, key ed25519.PrivateKey, message []byte) []byte {
	t.Helper()
	// The torsion point of order 8 in its encoding (Chalkias, Garillot, Nikolaenko 2020, table 1).
	torsion, err := new(edwards25519.Point).SetBytes([]byte("\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f" +
		"\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a"))
	if err != nil {
		t.Fatal(err)
	}
	digest := sha512.Sum512(key.Seed())
	secret, err := edwards25519.NewScalar().SetBytesWithClamping(digest[:32])
	if err != nil {
		t.Fatal(err)
	}
	nonce := scalarOf(12345)
	r := new(edwards25519.Point).ScalarBaseMult(nonce)
	out := r.Add(r, torsion).Bytes()
	h := sha512.Sum512(slices.Concat(out, key.Public().(ed25519.PublicKey), message))
	k, err := edwards25519.NewScalar().SetUniformBytes(h[:])
	if err != nil {
		t.Fatal(err)
	}
	return append(out, edwards25519.NewScalar().MultiplyAdd(k, secret, nonce).Bytes()...)
}
