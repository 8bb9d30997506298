package secagg

import (
	"crypto/ed25519"
	"errors"

	"filippo.io/edwards25519"
)

var (
	errIdentity = errors.New("not the canonical encoding of a point of prime order")

	neutral  = edwards25519.NewIdentityPoint()
	minusOne = edwards25519.NewScalar().Negate(scalarOf(1))
)

// checkIdentity checks that a key is the one encoding of a point of the prime-order subgroup other
// than the neutral one. Under a key of low order a signature is good for many messages.
func checkIdentity(key ed25519.PublicKey) error {
	p, err := new(edwards25519.Point).SetBytes(key)
	if err != nil || string(p.Bytes()) != string(key) || p.Equal(neutral) == 1 {
		return errIdentity
	}
	// [ℓ-1]P = -P exactly for P of order dividing ℓ.
	check := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(minusOne, p, zero)
	if check.Add(check, p).Equal(neutral) != 1 {
		return errIdentity
	}
	return nil
}
