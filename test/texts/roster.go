package texts

import (
	"crypto/ed25519"
	"fmt"

	"covey/internal/proposal"
)

// Signer is the key of a test's coordinator: the first site's.
var Signer = ed25519.NewKeyFromSeed(append(make([]byte, 31), 1))

// Roster is sites of so many units, each with the key of a seed that is its place, from 1.
func Roster(units ...int) []proposal.Member {
	var out []proposal.Member
	for i, n := range units {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
		out = append(out, proposal.Member{Name: fmt.Sprintf("site-%d", i), Identity: proposal.Key(key), Units: n})
	}
	return out
}

// Keys are the identity keys of such a roster of n sites.
func Keys(n int) []ed25519.PrivateKey {
	var out []ed25519.PrivateKey
	for i := range n {
		out = append(out, ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))))
	}
	return out
}

// Propose is the proposal of a text to such a roster.
func Propose(text string, units ...int) ([]byte, error) {
	spec, err := proposal.ParseSpec([]byte(Iterating(text)))
	if err != nil {
		return nil, err
	}
	return proposal.Propose(spec, Roster(units...), Signer.Public().(ed25519.PublicKey), [32]byte{7})
}
