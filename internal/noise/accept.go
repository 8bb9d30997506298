package noise

import (
	"math/big"
	"math/bits"
)

// accept is true with probability exactly exp(-(y - σ²/t)²/(2σ²)), y < 2^62.
func (g *Gaussian) accept(s *bitSource, y uint64) bool {
	if g.root != nil {
		if x, ok := g.root.distance(y); ok {
			return g.root.accept(s, x)
		}
	}
	return g.acceptRoot(s, y)
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

// newRootWords returns nil where the numbers do not fit.
func newRootWords(g *Gaussian) *rootWords {
	t := new(big.Int).SetUint64(g.t)
	tqq := new(big.Int).Mul(t, g.q)
	tqq.Mul(tqq, g.q)
	// t·tqq < 2^59 leaves room for proposals of 16t; without it words are not worth it.
	// As t > p/q, p² and m = t·q·p are below t²q² and so fit too.
	if tqq.BitLen()+bits.Len64(g.t) > 59 {
		return nil
	}
	m := new(big.Int).Mul(t, g.q)
	m.Mul(m, g.p)
	return &rootWords{tqq.Uint64(), g.p.Uint64() * g.p.Uint64(), m.Uint64()}
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
	m := new(big.Int).SetUint64(g.t)
	m.Mul(m, g.q) // t·q
	x := new(big.Int).SetUint64(y)
	x.Mul(x, m).Mul(x, g.q).Sub(x, new(big.Int).Mul(g.p, g.p)).Abs(x)
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
