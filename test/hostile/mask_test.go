package hostile

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"

	"filippo.io/edwards25519"

	"covey/internal/secagg"
)

// What docs/protocol.md says of keys, masks and shares, written down once more: the checker
// must not believe the code that it judges.

const (
	sharesLabel = "covey secagg shares v2\x00"
	keysLabel   = "covey secagg keys v2\x00"
	// headSize is the size of what comes before shares and keys, after the label: what the release
	// signature signs, and the helper.
	headSize = len("covey secagg release v2\x00") + 32 + 4 + 32 + 32 + 2
)

func u16(v int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }
func u32(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// derive is HKDF-SHA-256 with info "covey secagg v2 LABEL" ‖ 0 ‖ fields.
func derive(secret, salt []byte, label string, length int, fields ...[]byte) []byte {
	info := []byte("covey secagg v2 " + label + "\x00")
	for _, f := range fields {
		info = append(info, f...)
	}
	out, err := hkdf.Key(sha256.New, secret, salt, string(info), length)
	if err != nil {
		panic(err) // for lengths over 255 hashes alone
	}
	return out
}

// labelled is SHA-256 of "covey secagg LABEL v2" ‖ 0 ‖ fields.
func labelled(label string, fields ...[]byte) [32]byte {
	all := []byte("covey secagg " + label + " v2\x00")
	for _, f := range fields {
		all = append(all, f...)
	}
	return sha256.Sum256(all)
}

// header is what a site's announcement begins with; its hash stands for the site in its
// commitments.
func header(c secagg.Config, site int) []byte {
	graph, numbers := "complete", []int{len(c.Identity), c.Corrupt, c.Quorum, c.MinSurvivors, c.Slots}
	if g := c.Sparse; g.Holders > 0 {
		graph, numbers = "sparse", append(numbers, g.Holders, g.Threshold, g.Degree, g.MinNeighbors)
	}
	var keys []byte
	for _, key := range c.Identity {
		keys = append(keys, key...)
	}
	roster := sha256.Sum256(keys)
	out := []byte("covey secagg announcement v3\x00" + graph + "\x00")
	out = append(append(out, c.Study[:]...), roster[:]...)
	for _, v := range numbers {
		out = append(out, u16(v)...)
	}
	return append(out, u16(site)...)
}

func headerHash(c secagg.Config, site int) [32]byte { return sha256.Sum256(header(c, site)) }

// challenge is g of an announcement.
func challenge(header [32]byte, transport, seal, secrets, places []byte) *edwards25519.Scalar {
	sealHash, h := sha256.Sum256(seal), sha512.New()
	for _, part := range [][]byte{[]byte("covey secagg challenge v2\x00"), header[:], transport, sealHash[:], secrets, u16(len(places) / 32), places} {
		h.Write(part)
	}
	g, err := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	if err != nil {
		panic(err) // for other lengths alone
	}
	return g
}

// combination is Σ g^m f_m of what polynomials have in one place: values there, or coefficients.
func combination(g *edwards25519.Scalar, values []*edwards25519.Scalar) *edwards25519.Scalar {
	sum, power := edwards25519.NewScalar(), g
	for _, v := range values {
		sum.MultiplyAdd(power, v, sum)
		power = edwards25519.NewScalar().Multiply(power, g)
	}
	return sum
}

// place is a dealer's commitment to what it shares at x: values[0] is that of the polynomial that
// masks the combination.
func place(header [32]byte, x, kinds int, values []*edwards25519.Scalar) [32]byte {
	first := labelled("mask leaf", header[:], u16(x), values[0].Bytes())
	leaves := first[:]
	for m, y := range values[1:] {
		leaf := labelled("leaf", header[:], u16(x), u32(m/kinds), []byte{byte(m % kinds)}, y.Bytes())
		leaves = append(leaves, leaf[:]...)
	}
	return labelled("place", header[:], u16(x), leaves)
}

// polynomial returns that of one slot secret: kind "b" or "e".
func polynomial(secret [32]byte, kind string, slot, site, threshold int) []*edwards25519.Scalar {
	out := make([]*edwards25519.Scalar, threshold)
	for k := range out {
		wide := derive(secret[:], nil, kind, 64, u32(slot), u16(site), u16(k))
		s, err := edwards25519.NewScalar().SetUniformBytes(wide)
		if err != nil {
			panic(err) // for other lengths alone
		}
		out[k] = s
	}
	return out
}

func scalar(v int) *edwards25519.Scalar {
	var raw [32]byte
	binary.LittleEndian.PutUint64(raw[:], uint64(v))
	s, err := edwards25519.NewScalar().SetCanonicalBytes(raw[:])
	if err != nil {
		panic(err) // every 64-bit number is below ℓ
	}
	return s
}

func evaluate(p []*edwards25519.Scalar, x int) *edwards25519.Scalar {
	at, v := scalar(x), edwards25519.NewScalar()
	for k := len(p) - 1; k >= 0; k-- {
		v.MultiplyAdd(v, at, p[k])
	}
	return v
}

// interpolate returns the value at 0 of the polynomial through the points.
func interpolate(points map[int]*edwards25519.Scalar) *edwards25519.Scalar {
	sum := edwards25519.NewScalar()
	for i, y := range points {
		over, under := scalar(1), scalar(1)
		for l := range points {
			if l != i {
				over.Multiply(over, scalar(l))
				under.Multiply(under, edwards25519.NewScalar().Subtract(scalar(l), scalar(i)))
			}
		}
		over.Multiply(over, under.Invert(under))
		sum.MultiplyAdd(over, y, sum)
	}
	return sum
}

// dealt is one dealer's two polynomials of a slot.
type dealt [2][]*edwards25519.Scalar

const kindB, kindE = 0, 1

func dealtBy(secret [32]byte, slot, site, threshold int) dealt {
	return dealt{polynomial(secret, "b", slot, site, threshold), polynomial(secret, "e", slot, site, threshold)}
}

// commitment is what a site's announcement has of a secret.
func commitment(header [32]byte, kind, slot int, secret *edwards25519.Scalar) [32]byte {
	return labelled("secret", header[:], u32(slot), []byte{byte(kind)}, secret.Bytes())
}

// selfKey is H(b_i, ctx).
func selfKey(header [32]byte, d dealt, slot, site int, ctx [32]byte) [32]byte {
	h := commitment(header, kindB, slot, d[kindB][0])
	return [32]byte(derive(d[kindB][0].Bytes(), ctx[:], "self", 32, u32(slot), u16(site), h[:]))
}

// ownerOf is whose e keys a pair's masks.
func ownerOf(i, j int) (owner, other int) {
	low, high := min(i, j), max(i, j)
	if (low+high)%2 == 1 {
		return low, high
	}
	return high, low
}

func ofPair(secret []byte, transcript [32]byte, label string, slot, i, j int) [32]byte {
	return [32]byte(derive(secret, transcript[:], label, 32, u32(slot), u16(min(i, j)), u16(max(i, j))))
}

// pairKey is k of a pair, from the owner's e.
func pairKey(e *edwards25519.Scalar, transcript [32]byte, slot, i, j int) [32]byte {
	return ofPair(e.Bytes(), transcript, "pair", slot, i, j)
}

func tagOf(k, transcript [32]byte, slot, i, j int) [32]byte {
	return ofPair(k[:], transcript, "tag", slot, i, j)
}

// deposit is a pair's key under a pad of the other end's e, and a key that was so deposited.
func deposit(k [32]byte, e *edwards25519.Scalar, transcript [32]byte, slot, i, j int) (out [32]byte) {
	pad := ofPair(e.Bytes(), transcript, "deposit", slot, i, j)
	for n := range out {
		out[n] = k[n] ^ pad[n]
	}
	return out
}

// pairMask keys what a pair adds to an upload and takes away of another.
func pairMask(k [32]byte, slot, i, j int, ctx [32]byte) [32]byte {
	return [32]byte(derive(k[:], ctx[:], "mask", 32, u32(slot), u16(min(i, j)), u16(max(i, j))))
}

// keystream is PRG(key) for some lanes of a ring.
func keystream(key [32]byte, lanes int, bits uint) []uint64 {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // keys are 32 bytes
	}
	width := int(bits / 8)
	raw := make([]byte, lanes*width)
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(raw, raw)
	return unpack(raw, width)
}

func unpack(raw []byte, width int) []uint64 {
	var out []uint64
	for ; len(raw) >= width; raw = raw[width:] {
		var word [8]byte
		copy(word[:], raw[:width])
		out = append(out, binary.LittleEndian.Uint64(word[:]))
	}
	return out
}

func ring(bits uint) uint64 { return 1<<(bits-1)<<1 - 1 }

// noiseLanes are what keys the noise of a sum.
func noiseLanes(secret, ctx [32]byte, bits uint) []uint64 {
	n := (256 + int(bits) - 1) / int(bits)
	return unpack(derive(secret[:], ctx[:], "noise lanes", n*int(bits)/8), int(bits/8))
}

// releaseBytes are what a release signature signs.
func releaseBytes(transcript [32]byte, q secagg.Query, u []int) []byte {
	set := u16(len(u))
	for _, i := range u {
		set = append(set, u16(i)...)
	}
	hash := sha256.Sum256(append([]byte("covey secagg survivors v2\x00"), set...))
	out := append([]byte("covey secagg release v2\x00"), transcript[:]...)
	out = append(out, u32(q.Slot)...)
	out = append(out, q.Context[:]...)
	return append(out, hash[:]...)
}
