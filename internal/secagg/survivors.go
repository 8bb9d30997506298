package secagg

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"covey/internal/graph"
)

// Survivors is U: the sites whose contributions are in a sum, strictly ascending.
type Survivors []int

// Validate checks that U is strictly ascending, within n sites and has at least
// least of them.
func (u Survivors) Validate(n, least int) error {
	return ofGraph(graph.CheckSet(u, n, least))
}

// Contains reports whether site i is in U.
func (u Survivors) Contains(i int) bool { _, ok := slices.BinarySearch(u, i); return ok }

// Bytes is U's canonical form.
func (u Survivors) Bytes() []byte {
	out := make([]byte, 0, 2*len(u)+2)
	out = binary.BigEndian.AppendUint16(out, uint16(len(u)))
	for _, i := range u {
		out = binary.BigEndian.AppendUint16(out, uint16(i))
	}
	return out
}

// Hash is H(U).
func (u Survivors) Hash() [32]byte {
	return sha256.Sum256(append([]byte("covey secagg survivors v2\x00"), u.Bytes()...))
}
