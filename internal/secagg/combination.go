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
// The r_j are uniform 128-bit numbers of crypto/rand that nobody else sees, and all points
// are of the prime-order subgroup. Let e_j = y_j - f_j(x_i): good shares always pass, and if
// some e_j ≠ 0, at most one value of r_j makes Σ_j r_j e_j = 0 mod ℓ, whatever the other r are:
// wrong shares pass with probability 2^-128. A sender learns of each message whether it
// passed, and as long as none does, what it sends next is fixed before r is drawn: t wrong
// messages all fail but with probability t·2^-128.
type combination struct {
	r []*edwards25519.Scalar // by dealer
	d commitment
}

// combine draws the coefficients. All commitments have the same length.
func combine(dealers []commitment) *combination {
	c := &combination{r: make([]*edwards25519.Scalar, len(dealers)), d: make(commitment, len(dealers[0]))}
	for j := range c.r {
		var raw [32]byte
		rand.Read(raw[:16]) // never fails: the process ends instead
		r, err := decodeScalar(raw[:])
		if err != nil {
			panic(err) // 128 bits are below ℓ
		}
		c.r[j] = r
	}
	column := make([]*edwards25519.Point, len(dealers))
	for k := range c.d {
		for j := range column {
			column[j] = &dealers[j][k]
		}
		c.d[k].VarTimeMultiScalarMult(c.r, column)
	}
	return c
}

// fits says that shares, by dealer, are site's.
func (c *combination) fits(site int, shares []*edwards25519.Scalar) bool {
	sum := edwards25519.NewScalar()
	for j, share := range shares {
		sum.MultiplyAdd(c.r[j], share, sum)
	}
	return c.d.fits(site, sum)
}
