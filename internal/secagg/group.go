package secagg

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"filippo.io/edwards25519"
)

// The group is the prime-order subgroup of edwards25519 with base point B.

var (
	errPoint  = errors.New("not the canonical encoding of a point")
	errOrder  = errors.New("a point outside the prime-order subgroup")
	errScalar = errors.New("not the canonical encoding of a scalar")

	identity = edwards25519.NewIdentityPoint()
	zero     = edwards25519.NewScalar()
	minusOne = edwards25519.NewScalar().Negate(scalarOf(1))
)

// decodePoint reads a point of the prime-order subgroup other than the identity.
// Anything else could make a mask depend on a secret modulo 8 only.
func decodePoint(raw []byte) (*edwards25519.Point, error) {
	p := new(edwards25519.Point)
	if err := setPoint(p, raw); err != nil {
		return nil, err
	}
	if !primeOrder(p) {
		return nil, errOrder
	}
	return p, nil
}

// setPoint reads a point of the curve other than the identity. That it is of the subgroup
// is for others to check (inSubgroup) or to vouch for (Restore).
func setPoint(p *edwards25519.Point, raw []byte) error {
	if !canonical(raw) {
		return errPoint
	}
	if bytes.Equal(raw, one) {
		return errOrder
	}
	if _, err := p.SetBytes(raw); err != nil {
		return errPoint
	}
	return nil
}

// The field's prime is p = 2^255-19. An encoding is y in 255 bits, little-endian, and the sign
// of x (RFC 8032, 5.1.2).
var (
	// y = 1, the identity: x = 0
	one = append([]byte{1}, make([]byte, 31)...)
	// y = -1, of order 2: x = 0
	pMinus1  = append([]byte{0xec}, append(bytes.Repeat([]byte{0xff}, 30), 0x7f)...)
	signMask = byte(0x80)
)

// canonical says, without the inversion that encoding a point again takes, that raw is the
// one encoding of a point if it is any: y < p, and no sign where x = 0, that is y = ±1.
func canonical(raw []byte) bool {
	if len(raw) != 32 {
		return false
	}
	var y [32]byte
	copy(y[:], raw)
	y[31] &^= signMask
	if raw[31]&signMask != 0 && (bytes.Equal(y[:], one) || bytes.Equal(y[:], pMinus1)) {
		return false
	}
	for i := 31; i >= 0; i-- {
		if y[i] != pMinus1[i] {
			return y[i] < pMinus1[i]
		}
	}
	return true
}

// primeOrder reports whether [ℓ]P = 0: [ℓ-1]P = -P exactly for P of order dividing ℓ.
func primeOrder(p *edwards25519.Point) bool {
	check := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(minusOne, p, zero)
	return check.Add(check, p).Equal(identity) == 1
}

func decodeScalar(raw []byte) (*edwards25519.Scalar, error) {
	s, err := edwards25519.NewScalar().SetCanonicalBytes(raw)
	if err != nil {
		return nil, errScalar
	}
	return s, nil
}

func scalarOf(v uint64) *edwards25519.Scalar {
	var raw [32]byte
	binary.LittleEndian.PutUint64(raw[:], v)
	s, err := edwards25519.NewScalar().SetCanonicalBytes(raw[:])
	if err != nil {
		panic(err) // every 64-bit number is below ℓ
	}
	return s
}

// derive is HKDF-SHA-256 (RFC 5869) with labelled info.
func derive(secret, salt []byte, label string, length int, info ...[]byte) []byte {
	full := []byte("covey secagg v1 " + label + "\x00")
	for _, part := range info {
		full = append(full, part...)
	}
	out, err := hkdf.Key(sha256.New, secret, salt, string(full), length)
	if err != nil {
		panic(err) // only for lengths over 255 hashes, which callers stay below
	}
	return out
}

// deriveScalar returns a scalar within 2^-250 of uniform.
func deriveScalar(secret []byte, label string, info ...[]byte) *edwards25519.Scalar {
	wide := derive(secret, nil, label, 64, info...)
	s, err := edwards25519.NewScalar().SetUniformBytes(wide)
	if err != nil {
		panic(err) // only for other lengths than 64
	}
	clear(wide)
	return s
}

func u16(v int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }
func u32(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
