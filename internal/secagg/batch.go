package secagg

import (
	"slices"

	"github.com/hdevalence/ed25519consensus"
)

// Where many signatures have to hold they are checked together: one equation with random weights
// takes half the time of one equation each. It is RFC 8032's (section 5.1.7), which multiplies by
// the cofactor, and takes points in any encoding (ZIP 215). crypto/ed25519 leaves the cofactor
// out, as the RFC allows: what it accepts holds here, too, and some holds here alone that a site
// can make with its own key on purpose. Without the key nobody makes either, since identities are
// of prime order (checkIdentity). All who look at one list find the same, but with a chance of
// 2^-128.

// signature is what a site is said to have signed.
type signature struct {
	site            int
	message, signed []byte
}

// together is how many signatures go into one equation. More gain hardly anything, and each takes
// some 3 kB.
const together = 64

// holding returns how many signatures of a list hold before the first that does not.
func (w *Witness) holding(list []signature) int {
	good := 0
	for some := range slices.Chunk(list, together) {
		batch := ed25519consensus.NewPreallocatedBatchVerifier(len(some))
		for _, s := range some {
			batch.Add(w.cfg.Identity[s.site], s.message, s.signed)
		}
		if batch.Verify() {
			good += len(some)
			continue
		}
		for _, s := range some {
			if !ed25519consensus.Verify(w.cfg.Identity[s.site], s.message, s.signed) {
				return good
			}
			good++
		}
	}
	return good
}
