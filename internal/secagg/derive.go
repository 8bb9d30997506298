package secagg

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"filippo.io/edwards25519"
)

// Secrets and shares are numbers below ℓ = 2^252 + 27742317777372353535851937790883648493, the
// order of edwards25519's prime group: the field is borrowed from it, the group is not used.

var (
	errScalar = errors.New("not the canonical encoding of a scalar")
	zero      = edwards25519.NewScalar()
)

const scalarSize = 32

func decodeScalar(raw []byte) (*edwards25519.Scalar, error) {
	s, err := edwards25519.NewScalar().SetCanonicalBytes(raw)
	if err != nil {
		return nil, errScalar
	}
	return s, nil
}

func scalarOf(v uint64) *edwards25519.Scalar {
	var raw [scalarSize]byte
	binary.LittleEndian.PutUint64(raw[:], v)
	s, err := edwards25519.NewScalar().SetCanonicalBytes(raw[:])
	if err != nil {
		panic(err) // every 64-bit number is below ℓ
	}
	return s
}

// derive is HKDF-SHA-256 (RFC 5869) with labelled info.
func derive(secret, salt []byte, label string, length int, info ...[]byte) []byte {
	return extract(secret, salt).expand(label, length, info...)
}

// extracted is HKDF's pseudorandom key, of which several things are derived.
type extracted []byte

func extract(secret, salt []byte) extracted {
	key, err := hkdf.Extract(sha256.New, secret, salt)
	if err != nil {
		panic(err) // only where FIPS 140 forbids the hash
	}
	return key
}

func (e extracted) expand(label string, length int, info ...[]byte) []byte {
	full := []byte("covey secagg v2 " + label + "\x00")
	for _, part := range info {
		full = append(full, part...)
	}
	out, err := hkdf.Expand(sha256.New, e, string(full), length)
	if err != nil {
		panic(err) // only for lengths over 255 hashes, which callers stay below
	}
	return out
}

// scalar returns a scalar within 2^-250 of uniform.
func (e extracted) scalar(label string, info ...[]byte) *edwards25519.Scalar {
	wide := e.expand(label, 64, info...)
	defer clear(wide)
	return reduced(wide)
}

// reduced returns 64 bytes, little-endian, mod ℓ.
func reduced(wide []byte) *edwards25519.Scalar {
	s, err := edwards25519.NewScalar().SetUniformBytes(wide)
	if err != nil {
		panic(err) // only for other lengths than 64
	}
	return s
}

// hash is SHA-256 of "covey secagg LABEL v2"0 and fields, whose lengths their label fixes.
func hash(label string, fields ...[]byte) [32]byte {
	h := sha256.New()
	h.Write([]byte("covey secagg " + label + " v2\x00"))
	for _, f := range fields {
		h.Write(f)
	}
	return [32]byte(h.Sum(nil))
}

func u16(v int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }
func u32(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
