package noise

import (
	"math/big"
	"math/bits"
)

// accept is true with probability exactly exp(-(y - σ²/t)²/(2σ²)), y < 2^62.
func (g *Gaussian) accept(s *bitSource, y uint64) bool {
	if g.square {
		if g.root != nil {
			if x, ok := g.root.distance(y); ok {
				return g.root.accept(s, x)
			}
		}
		return g.acceptRoot(s, y)
	}
	if g.ratio != nil {
		if x, ok := g.ratio.distance(y); ok {
			return g.ratio.accept(s, x)
		}
	}
	return g.acceptRatio(s, y)
}

// rootWords accepts for σ = p/q on 64-bit words. With
//
//	(y - σ²/t)/σ = (y·t·q² - p²)/(t·q·p) = ±x/m,  x = w·m + f,
//
// (x/m)²/2 = w²/2 + w·(f/m) + (f/m)²/2: exponents of at most 1 each, whose
// fractions fit words although x² would not.
type rootWords struct {
	tqq uint64 // t·q²
	pp  uint64 // p²
	m   uint64 // t·q·p
}

// newRootWords gives nil where the numbers do not fit.
func newRootWords(g *Gaussian) *rootWords {
	t := new(big.Int).SetUint64(g.t)
	tqq := new(big.Int).Mul(t, g.den)
	// t·tqq < 2^59 leaves room for proposals of 16t; without it words are not worth it.
	// As t > p/q, p² and m = t·q·p are below t²q² and so fit too.
	if tqq.BitLen()+bits.Len64(g.t) > 59 {
		return nil
	}
	m := new(big.Int).Mul(t, g.q)
	m.Mul(m, g.p)
	return &rootWords{tqq.Uint64(), g.num.Uint64(), m.Uint64()}
}

// distance is x, if it and w² fit.
func (r *rootWords) distance(y uint64) (x uint64, ok bool) {
	hi, v := bits.Mul64(y, r.tqq)
	if hi != 0 || v >= 1<<63 {
		return 0, false
	}
	x = max(v, r.pp) - min(v, r.pp)
	return x, x/r.m < 1<<31
}

func (r *rootWords) accept(s *bitSource, x uint64) bool {
	w, f := x/r.m, x%r.m
	for range w * w {
		if !s.bernoulliExpRatio(1, 2) || s.err != nil {
			return false
		}
	}
	for range w {
		if !s.bernoulliExpRatio(f, r.m) || s.err != nil {
			return false
		}
	}
	return s.bernoulliExpHalfSquare(f, r.m)
}

// acceptRoot is rootWords on integers of any size.
func (g *Gaussian) acceptRoot(s *bitSource, y uint64) bool {
	t := new(big.Int).SetUint64(g.t)
	x := new(big.Int).SetUint64(y)
	x.Mul(x, t).Mul(x, g.den).Sub(x, g.num).Abs(x)
	m := t.Mul(t, g.q)
	m.Mul(m, g.p)
	w, f := new(big.Int).QuoRem(x, m, new(big.Int))
	return s.times(new(big.Int).Mul(w, w), func() bool { return s.bernoulliExpRatio(1, 2) }) &&
		s.times(w, func() bool {
			return s.bernoulliExp(func(k uint64) bool { return s.bernoulliBig(f, m) && s.bernoulli(1, k) })
		}) &&
		s.bernoulliExp(func(k uint64) bool {
			for range 2 {
				if !s.bernoulliBig(f, m) {
					return false
				}
			}
			return s.bernoulli(1, 2*k)
		})
}

// ratioWords accepts for a σ² that is no square, in 128 bits:
//
//	(y - σ²/t)²/(2σ²) = x²/b,  x = |y·t·den - num|,  b = 2·num·den·t².
type ratioWords struct {
	tden uint64 // t·den
	num  uint64
	b    wide // < 2^119
}

// newRatioWords gives nil where the numbers do not fit.
func newRatioWords(g *Gaussian) *ratioWords {
	tden := new(big.Int).Mul(new(big.Int).SetUint64(g.t), g.den)
	// As in newRootWords; num < t²·den < 2^59, so b < 2^119.
	if tden.BitLen()+bits.Len64(g.t) > 59 {
		return nil
	}
	b := g.divisor()
	hi := new(big.Int).Rsh(b, 64)
	lo := new(big.Int).Sub(b, new(big.Int).Lsh(hi, 64))
	return &ratioWords{tden.Uint64(), g.num.Uint64(), wide{hi.Uint64(), lo.Uint64()}}
}

// divisor is b.
func (g *Gaussian) divisor() *big.Int {
	t := new(big.Int).SetUint64(g.t)
	b := t.Mul(t, t)
	return b.Mul(b, g.num).Mul(b, g.den).Lsh(b, 1)
}

// distance is x, if it fits.
func (r *ratioWords) distance(y uint64) (x uint64, ok bool) {
	hi, v := bits.Mul64(y, r.tden)
	if hi != 0 || v >= 1<<63 {
		return 0, false
	}
	return max(v, r.num) - min(v, r.num), true
}

func (r *ratioWords) accept(s *bitSource, x uint64) bool {
	var rest wide
	rest.hi, rest.lo = bits.Mul64(x, x)
	for !rest.less(r.b) { // the whole part of x²/b, a factor e^-1 each
		if !s.bernoulliExpRatio(1, 1) || s.err != nil {
			return false
		}
		rest = rest.minus(r.b)
	}
	return s.bernoulliExp(func(k uint64) bool { return s.bernoulliWide(rest, r.b) && s.bernoulli(1, k) })
}

// acceptRatio is ratioWords on integers of any size.
func (g *Gaussian) acceptRatio(s *bitSource, y uint64) bool {
	b := g.divisor()
	x := new(big.Int).SetUint64(y)
	x.Mul(x, new(big.Int).SetUint64(g.t)).Mul(x, g.den).Sub(x, g.num)
	return s.bernoulliExpBig(x.Mul(x, x), b)
}
