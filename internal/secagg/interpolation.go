package secagg

import (
	"math/bits"

	"filippo.io/edwards25519"
)

// interpolation makes Lagrange coefficients at 0 for shares that stand at some of 1..k:
//
//	λ_i = Π_{l≠i} l/(l-i) over the points present = present · absent_i / whole_i,
//
// with present the product of all points there, absent_i = Π (l-i) over those that are not, and
// whole_i = i · Π_{l≠i} (l-i) over all of 1..k = i·(-1)^(i-1)·(i-1)!·(k-i)!. whole is the same for
// every set of points, and few are absent: that makes a coefficient cheap where each secret has its
// own holders.
type interpolation struct {
	whole []*edwards25519.Scalar // 1/whole_i, by i-1
}

func newInterpolation(k int) *interpolation {
	factorial := make([]*edwards25519.Scalar, k+1)
	factorial[0] = scalarOf(1)
	for i := 1; i <= k; i++ {
		factorial[i] = edwards25519.NewScalar().Multiply(factorial[i-1], scalarOf(uint64(i)))
	}
	in := &interpolation{make([]*edwards25519.Scalar, k)}
	// product of whole up to i, i left out: one inversion for all
	before := make([]*edwards25519.Scalar, k)
	all := scalarOf(1)
	for i := 1; i <= k; i++ {
		w := edwards25519.NewScalar().Multiply(factorial[i], factorial[k-i])
		if i%2 == 0 {
			w.Negate(w)
		}
		in.whole[i-1] = w
		before[i-1] = edwards25519.NewScalar().Set(all)
		all.Multiply(all, w)
	}
	inverse := all.Invert(all)
	for i := k; i >= 1; i-- {
		w := edwards25519.NewScalar().Set(in.whole[i-1])
		in.whole[i-1].Multiply(before[i-1], inverse)
		inverse.Multiply(inverse, w)
	}
	return in
}

// at returns the coefficients of points, which are in 1..k and differ, in their order.
func (in *interpolation) at(points []int) []*edwards25519.Scalar {
	there := make([]bool, len(in.whole)+1)
	var present product
	for _, i := range points {
		there[i] = true
		present.times(i)
	}
	var absent []int
	for l := 1; l < len(there); l++ {
		if !there[l] {
			absent = append(absent, l)
		}
	}
	over := present.scalar()
	out := make([]*edwards25519.Scalar, len(points))
	for a, i := range points {
		var p product
		for _, l := range absent {
			p.times(l - i)
		}
		out[a] = p.scalar()
		out[a].Multiply(out[a], in.whole[i-1])
		out[a].Multiply(out[a], over)
	}
	return out
}

// product multiplies small numbers, as many as fit in a word before each multiplication of scalars.
type product struct {
	word     uint64 // 0 for 1: no factor yet
	negative bool
	rest     *edwards25519.Scalar // nil for 1
}

func (p *product) times(v int) {
	if v < 0 {
		p.negative = !p.negative
		v = -v
	}
	if p.word == 0 {
		p.word = 1
	}
	high, low := bits.Mul64(p.word, uint64(v))
	if high != 0 {
		p.flush()
		low = uint64(v)
	}
	p.word = low
}

func (p *product) flush() {
	if p.word == 0 {
		return
	}
	word := scalarOf(p.word)
	if p.rest == nil {
		p.rest = word
	} else {
		p.rest.Multiply(p.rest, word)
	}
	p.word = 0
}

// scalar returns the product, and ends it.
func (p *product) scalar() *edwards25519.Scalar {
	p.flush()
	out := p.rest
	if out == nil {
		out = scalarOf(1)
	}
	if p.negative {
		out.Negate(out)
	}
	return out
}
