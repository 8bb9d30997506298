package secagg

import (
	"crypto/rand"

	"filippo.io/edwards25519"
)

// combination checks the shares of many dealers at once, for one holder after another:
// with D_k = Σ_j r_j C_jk made once, the shares y_j of site i fit if
//
//	[Σ_j r_j y_j]B = Σ_k x_i^k D_k.
//
// The r_j are drawn from crypto/rand and nobody else sees them; all points are of the
// prime-order subgroup. Let e_j = y_j - f_j(x_i): good shares always pass, and if some e_j ≠ 0,
// at most one value of r_j makes Σ_j r_j e_j = 0 mod ℓ, whatever the other r are. So wrong
// shares pass with the probability of one value, below 2^-66. A sender learns of a message
// whether it passed, and as long as none does, what it sends next is fixed before r is drawn:
// of t wrong messages one passes with probability t·2^-66 at most. It would still open nothing
// wrong: Opening.Unmask compares each opened secret with its commitment, exactly.
type combination struct {
	r []*edwards25519.Scalar // by dealer
	d commitment
}

// A coefficient is a sum of combinationWeight different powers of 2 below
// 2^combinationBits < ℓ, so that it costs a point as many additions: there are
// C(252, 12) > 2^66 of them, all different mod ℓ and equally likely. Uniform numbers of 66 bits
// would cost 19, of 128 bits 29.
const (
	combinationBits   = 252
	combinationWeight = 12
)

// combine draws the coefficients. All commitments have the same length.
func combine(dealers []commitment) *combination {
	c := &combination{r: make([]*edwards25519.Scalar, len(dealers)), d: make(commitment, len(dealers[0]))}
	var having [combinationBits][]int // the dealers whose coefficient has this power
	for j := range dealers {
		var raw, drawn [32]byte
		for weight, used := 0, len(drawn); weight < combinationWeight; used++ {
			if used >= len(drawn) {
				rand.Read(drawn[:]) // never fails: the process ends instead
				used = 0
			}
			power := drawn[used]
			if bit := byte(1) << (power % 8); power < combinationBits && raw[power/8]&bit == 0 {
				raw[power/8] |= bit
				having[power] = append(having[power], j)
				weight++
			}
		}
		r, err := decodeScalar(raw[:])
		if err != nil {
			panic(err) // below 2^252, which is below ℓ
		}
		c.r[j] = r
	}
	for k := range c.d {
		sum := c.d[k].Set(identity)
		for power := combinationBits - 1; power >= 0; power-- {
			sum.Double(sum)
			for _, j := range having[power] {
				sum.Add(sum, &dealers[j][k])
			}
		}
	}
	return c
}

// fits reports whether shares, by dealer, are those at x.
func (c *combination) fits(x int, shares []*edwards25519.Scalar) bool {
	sum := edwards25519.NewScalar()
	for j, share := range shares {
		sum.MultiplyAdd(c.r[j], share, sum)
	}
	return c.d.fits(x, sum)
}
