package secagg

import (
	"crypto/sha512"
	"crypto/subtle"

	"filippo.io/edwards25519"
)

// A dealer commits to its shares by hashes, and proves that they lie on polynomials of degree below
// T with one linear combination, which a further polynomial masks (Atapoor, Baghery, Cozzo and
// Pedersen, Asiacrypt 2023, here for all of a setup's secrets at once):
//
//	P = f_0 + Σ_m g^m f_m,  g = hash of everything committed to,
//
// f_m the polynomial of the m-th shared secret, m = 1.. by slot, b before e. Who holds y_m = f_m(x)
// checks that y_0 = P(x) - Σ g^m y_m and the y_m are what the dealer committed to for place x. If
// the honest holders' shares of some secret are on no polynomial of degree below T, at most 2S of ℓ
// values of g let that pass. f_0 is uniform and known at fewer than T places, so P tells nothing of
// the secrets. T values of f_0 would tell one relation of all of them: y_0 is never shown, and f_0
// is forgotten when the announcement is made.
//
// Sound: the hashes fix what every honest holder has before g is known. If for some secret the
// honest holders' values are on no polynomial of degree below T, some coordinate of Σ g^m v_m, v_m
// the class of the m-th secret's values modulo those on such polynomials, is a non-zero polynomial
// in g of degree at most 2S; P is on one however it is chosen. At most 2S of ℓ challenges pass; Q
// tries at a challenge pass with 2S·Q/ℓ < 2^-241·Q.
//
// Hiding: corrupt holders are at fewer than T places. For every choice of all f_m that agrees with
// their shares there is exactly one f_0 that makes this P, and f_0 is uniform there. The other
// hashes hide uniform 252-bit numbers, each hashed with site, place, slot and kind. After an
// opening f_m is known whole and f_0 covers the rest as before. A proof adds hashes.
//
// f_0 must stay unknown: T of its values, or its key, make one linear relation of all of a
// dealer's secrets; if all but one have been opened, the last one follows. So y_0 is never sent (a
// proof shows its hash), and the key of f_0 is drawn, used and forgotten in one call. It is never
// stored: secrets and announcement are written together before anything leaves, and a crash before
// that draws anew.
//
// Not proved: a dealer can commit to another number than it shares. Then its secret misses its
// hash at the opening, all helpers prove, and it is named: in U the study ends there, outside U
// the survivors send the keys. It is always the guilty one: T proved shares of an honest dealer
// make its secret.

// committer hashes what one site commits to.
type committer struct{ header [32]byte } // hash of its announcement's header

// leaf commits to the share of a slot's secret at x.
func (c committer) leaf(x, slot, which int, share *edwards25519.Scalar) [32]byte {
	return hash("leaf", c.header[:], u16(x), u32(slot), []byte{byte(which)}, share.Bytes())
}

// maskLeaf commits to f_0(x).
func (c committer) maskLeaf(x int, share *edwards25519.Scalar) [32]byte {
	return hash("mask leaf", c.header[:], u16(x), share.Bytes())
}

// place is the commitment to all shares at x: of its leaves, the mask's first, then by slot.
func (c committer) place(x int, leaves []byte) [32]byte {
	return hash("place", c.header[:], u16(x), leaves)
}

// secret is the commitment to a slot's secret, which an opening compares.
func (c committer) secret(slot, which int, value *edwards25519.Scalar) [32]byte {
	return hash("secret", c.header[:], u32(slot), []byte{byte(which)}, value.Bytes())
}

// challenge is g: of everything that the combination must not be chosen after. places are c_1..c_K.
func (c committer) challenge(transport, sealHash, secrets, places []byte) *edwards25519.Scalar {
	h := sha512.New()
	h.Write([]byte("covey secagg challenge v2\x00"))
	h.Write(c.header[:])
	h.Write(transport)
	h.Write(sealHash)
	h.Write(secrets)
	h.Write(u16(len(places) / 32))
	h.Write(places)
	return reduced(h.Sum(nil))
}

// dealing is what a dealer makes of its polynomials for an announcement.
type dealing struct {
	secrets []byte // 32 a shared secret: the commitments
	body    []byte // c_1..c_K, then P, 32 each
}

// deal commits to a site's secrets. mask keys f_0, and is the caller's to erase.
func (c Config) deal(self int, sec *Secrets, mask *[32]byte, transport, sealHash []byte) dealing {
	commit := committer{c.headerHash(self)}
	kinds, threshold, k := c.kinds(), c.threshold(), c.holders()
	polynomials := make([]polynomial, c.shared()) // by m-1
	var d dealing
	for slot := range sec.Slots {
		for which := range kinds {
			p := sec.Slots[slot].polynomial(which, slot, self, threshold)
			polynomials[kinds*slot+which] = p
			h := commit.secret(slot, which, p[0])
			d.secrets = append(d.secrets, h[:]...)
		}
	}
	// f_0 is bound to all that the challenge binds but the places, which it is part of: under one
	// mask two announcements never have one f_0.
	all := hash("secrets", d.secrets)
	f0, from := make(polynomial, threshold), extract(mask[:], nil)
	defer clear(from)
	for i := range f0 {
		f0[i] = from.scalar("mask polynomial", commit.header[:], transport, sealHash, all[:], u16(i))
	}
	places := make([][32]byte, k)
	atOnce(k, func(i int) {
		x := scalarOf(uint64(i + 1))
		leaves := make([]byte, 0, 32*(1+len(polynomials)))
		share := f0.at(x)
		l := commit.maskLeaf(i+1, share)
		leaves = append(leaves, l[:]...)
		for m, p := range polynomials {
			share.Set(p.at(x))
			l := commit.leaf(i+1, m/kinds, m%kinds, share)
			leaves = append(leaves, l[:]...)
		}
		share.Set(zero)
		places[i] = commit.place(i+1, leaves)
	})
	d.body = make([]byte, 0, 32*(k+threshold))
	for i := range places {
		d.body = append(d.body, places[i][:]...)
	}
	g := commit.challenge(transport, sealHash, d.secrets, d.body)
	for i := range threshold {
		// Horner's rule in g, from the last secret to f_0.
		sum := edwards25519.NewScalar()
		for m := len(polynomials) - 1; m >= 0; m-- {
			sum.Multiply(sum.Add(sum, polynomials[m][i]), g)
		}
		d.body = append(d.body, sum.Add(sum, f0[i]).Bytes()...)
	}
	f0.erase()
	for _, p := range polynomials {
		p.erase()
	}
	return d
}

// body is a dealer's commitments to its places, and its combination P.
type body struct {
	places []byte // 32 each
	p      polynomial
}

// parseBody reads c_1..c_K and P.
func (c Config) parseBody(raw []byte) (body, error) {
	if len(raw) != c.bodySize() {
		return body{}, configError("commitments of %d bytes, must be %d", len(raw), c.bodySize())
	}
	b := body{places: raw[: 32*c.holders() : 32*c.holders()]}
	for at := 32 * c.holders(); at < len(raw); at += scalarSize {
		s, err := decodeScalar(raw[at : at+scalarSize])
		if err != nil {
			return body{}, err
		}
		b.p = append(b.p, s)
	}
	return b, nil
}

// bodySize is 32 a place, and 32 a coefficient of P.
func (c Config) bodySize() int { return 32 * (c.holders() + c.threshold()) }

// place returns c_x.
func (b body) place(x int) []byte { return b.places[32*(x-1) : 32*x] }

// dealt checks the dealer's shares at x, by slot, against its announcement. It returns the leaves
// of the place, 32 bytes each, which are not secret; false if the shares are not what the dealer
// committed to, or not of its polynomials.
func (a *announced) dealt(c Config, x int, b body, shares []SlotHeld) ([]byte, bool) {
	commit, g, kinds := committer{a.header}, a.challenge(b), c.kinds()
	sum := edwards25519.NewScalar()
	for slot := len(shares) - 1; slot >= 0; slot-- {
		for which := kinds - 1; which >= 0; which-- {
			sum.Multiply(sum.Add(sum, shares[slot].of(which)[0]), g)
		}
	}
	y0 := b.p.at(scalarOf(uint64(x)))
	y0.Subtract(y0, sum)
	l := commit.maskLeaf(x, y0)
	erase([]*edwards25519.Scalar{y0, sum}) // sum and P make y0 again
	leaves := append(make([]byte, 0, 32*(1+c.shared())), l[:]...)
	for slot := range shares {
		for which := range kinds {
			l := commit.leaf(x, slot, which, shares[slot].of(which)[0])
			leaves = append(leaves, l[:]...)
		}
	}
	place := commit.place(x, leaves)
	return leaves, subtle.ConstantTimeCompare(place[:], b.place(x)) == 1
}
