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
	p, err := decodeKnown(raw)
	if err != nil {
		return nil, err
	}
	// [ℓ-1]P = -P exactly for P of order dividing ℓ.
	check := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(minusOne, p, zero)
	if check.Add(check, p).Equal(identity) != 1 || p.Equal(identity) == 1 {
		return nil, errOrder
	}
	return p, nil
}

// decodeKnown reads a point of which others vouch that it is of the subgroup.
func decodeKnown(raw []byte) (*edwards25519.Point, error) {
	p, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil || !bytes.Equal(p.Bytes(), raw) {
		return nil, errPoint
	}
	return p, nil
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

// point is where site i's shares stand: x = i+1, never 0.
func point(site int) *edwards25519.Scalar { return scalarOf(uint64(site) + 1) }

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

// deriveScalar gives a scalar within 2^-250 of uniform.
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
