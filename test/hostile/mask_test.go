package hostile

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"

	"filippo.io/edwards25519"

	"covey/internal/secagg"
)

// What docs/protocol.md says of keys, masks and shares, written down once more: the checker
// must not believe the code that it judges.

const sharesLabel = "covey secagg shares v1\x00"

func u16(v int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }
func u32(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }

// derive is HKDF-SHA-256 with info "covey secagg v1 LABEL" ‖ 0 ‖ fields.
func derive(secret, salt []byte, label string, length int, fields ...[]byte) []byte {
	info := []byte("covey secagg v1 " + label + "\x00")
	for _, f := range fields {
		info = append(info, f...)
	}
	out, err := hkdf.Key(sha256.New, secret, salt, string(info), length)
	if err != nil {
		panic(err) // for lengths over 255 hashes alone
	}
	return out
}

// polynomial is of one slot secret: kind "m" or "b".
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

func point(s *edwards25519.Scalar) []byte {
	return new(edwards25519.Point).ScalarBaseMult(s).Bytes()
}

// dealt is one dealer's two polynomials of a slot and the points of their constant terms.
type dealt struct {
	m, b   []*edwards25519.Scalar
	mp, bp []byte
}

func dealtBy(secret [32]byte, slot, site, threshold int) dealt {
	d := dealt{m: polynomial(secret, "m", slot, site, threshold), b: polynomial(secret, "b", slot, site, threshold)}
	d.mp, d.bp = point(d.m[0]), point(d.b[0])
	return d
}

// selfKey is H(b_i, ctx).
func selfKey(d dealt, slot, site int, ctx [32]byte) [32]byte {
	return [32]byte(derive(d.b[0].Bytes(), ctx[:], "self", 32, u32(slot), u16(site), d.bp))
}

// pairKey is k_ij, i < j, of agreed = [8 m_i m_j]B.
func pairKey(agreed []byte, a, b dealt, slot, i, j int, ctx [32]byte) [32]byte {
	return [32]byte(derive(agreed, ctx[:], "pair", 32, u32(slot), u16(i), u16(j), a.mp, b.mp))
}

func agreed(a, b dealt) []byte {
	s := edwards25519.NewScalar().Multiply(a.m[0], b.m[0])
	return point(s.Multiply(s, scalar(8)))
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
	hash := sha256.Sum256(append([]byte("covey secagg survivors v1\x00"), set...))
	out := append([]byte("covey secagg release v1\x00"), transcript[:]...)
	out = append(out, u32(q.Slot)...)
	out = append(out, q.Context[:]...)
	return append(out, hash[:]...)
}
