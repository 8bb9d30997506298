package noise

import (
	"errors"
	"io"
	"math/big"
	"math/bits"
)

// Gaussian samples the discrete Gaussian N_Z(0, σ²) exactly, for any rational
// σ² > 0 (Canonne, Kamath, Steinke 2020, algorithm 3). No floating point is used.
type Gaussian struct {
	num, den *big.Int // σ² = num/den
	t        uint64   // ⌊σ⌋+1, the scale of the discrete Laplace proposals
	// p/q is σ where σ² is the square of such a number and all of the words below
	// fit; q is 0 where only integers of any size will do.
	p, q uint64
	tqq  uint64 // t·q²
	pp   uint64 // p²
	tqp  uint64 // t·q·p
}

var errRange = errors.New("noise: a draw does not fit 63 bits")

// NewGaussian prepares a sampler for σ² in (0, 2^104].
func NewGaussian(sigma2 *big.Rat) (*Gaussian, error) {
	limit := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 104))
	if sigma2 == nil || sigma2.Sign() <= 0 || sigma2.Cmp(limit) > 0 {
		return nil, parameter("sigma²", "must be in (0, 2^104]")
	}
	g := &Gaussian{num: new(big.Int).Set(sigma2.Num()), den: new(big.Int).Set(sigma2.Denom())}
	floor := new(big.Int).Sqrt(new(big.Int).Quo(g.num, g.den)) // ⌊σ⌋ = ⌊√⌊σ²⌋⌋
	g.t = floor.Uint64() + 1
	g.small()
	return g, nil
}

// small sets the word-sized path up, where everything fits for |Y| up to 8t;
// accept falls back to integers of any size for the rest.
func (g *Gaussian) small() {
	p, q := new(big.Int).Sqrt(g.num), new(big.Int).Sqrt(g.den)
	square := func(v *big.Int) *big.Int { return new(big.Int).Mul(v, v) }
	if square(p).Cmp(g.num) != 0 || square(q).Cmp(g.den) != 0 || p.BitLen() > 31 || q.BitLen() > 31 {
		return
	}
	t := new(big.Int).SetUint64(g.t)
	tqq := new(big.Int).Mul(t, g.den)
	tqp := new(big.Int).Mul(new(big.Int).Mul(t, q), p)
	if tqq.BitLen()+bits.Len64(g.t)+4 > 63 || tqp.BitLen() > 63 {
		return
	}
	g.p, g.q, g.tqq, g.pp, g.tqp = p.Uint64(), q.Uint64(), tqq.Uint64(), g.num.Uint64(), tqp.Uint64()
}

// Sample gives one draw from the bits of r. It reads ahead; use Fill where what
// follows in r matters.
func (g *Gaussian) Sample(r io.Reader) (int64, error) {
	var one [1]int64
	err := g.Fill(r, one[:])
	return one[0], err
}

// Fill draws len(out) independent values: a function of r's bytes alone, which are
// read in blocks of 512.
func (g *Gaussian) Fill(r io.Reader, out []int64) error {
	s := &bitSource{r: r}
	for i := range out {
		v, err := g.draw(s)
		if err != nil {
			clear(out)
			return err
		}
		out[i] = v
	}
	return nil
}

// draw proposes from the discrete Laplace of scale t and accepts |y| with
// probability exp(-(|y| - σ²/t)²/(2σ²)).
func (g *Gaussian) draw(s *bitSource) (int64, error) {
	for {
		y, negative, err := g.laplace(s)
		if err != nil {
			return 0, err
		}
		if g.accept(s, y) {
			if s.err != nil {
				return 0, s.err
			}
			if negative {
				return -int64(y), nil
			}
			return int64(y), nil
		}
		if s.err != nil {
			return 0, s.err
		}
	}
}

// laplace draws from P(y) ∝ exp(-|y|/t) (CKS 2020, algorithm 2), as a magnitude and a sign.
func (g *Gaussian) laplace(s *bitSource) (y uint64, negative bool, err error) {
	for s.err == nil {
		u := s.below(g.t)
		if !s.bernoulliExpRatio(u, g.t) {
			continue
		}
		v := uint64(0)
		for s.bernoulliExpRatio(1, 1) && s.err == nil {
			v++
		}
		negative = s.word()>>63 == 1
		hi, lo := bits.Mul64(v, g.t)
		y, carry := bits.Add64(lo, u, 0)
		if hi != 0 || carry != 0 || y >= 1<<62 {
			return 0, false, errRange // with probability below exp(-2^9)
		}
		if negative && y == 0 {
			continue // zero has one sign, or it would count twice
		}
		return y, negative, nil
	}
	return 0, false, s.err
}

// accept is true with probability exp(-(y - σ²/t)²/(2σ²)).
func (g *Gaussian) accept(s *bitSource, y uint64) bool {
	if g.q != 0 {
		if hi, ytqq := bits.Mul64(y, g.tqq); hi == 0 && ytqq < 1<<63 {
			// (y - σ²/t)/σ = (y·t·q² - p²)/(t·q·p) = x/tqp, x = w·tqp + f. Then
			// (x/tqp)²/2 = w²/2 + w·(f/tqp) + (f/tqp)²/2, each a product of
			// exponentials that fit words.
			x := ytqq - g.pp
			if g.pp > ytqq {
				x = g.pp - ytqq
			}
			w, f := x/g.tqp, x%g.tqp
			for range w * w {
				if !s.bernoulliExpRatio(1, 2) || s.err != nil {
					return false
				}
			}
			for range w {
				if !s.bernoulliExpRatio(f, g.tqp) || s.err != nil {
					return false
				}
			}
			return s.bernoulliExpHalfSquare(f, g.tqp)
		}
	}
	// (y - σ²/t)²/(2σ²) = (y·t·den - num)²/(2·num·den·t²).
	t := new(big.Int).SetUint64(g.t)
	x := new(big.Int).SetUint64(y)
	x.Mul(x, t).Mul(x, g.den).Sub(x, g.num)
	x.Mul(x, x)
	b := new(big.Int).Mul(t, t)
	b.Mul(b, g.num).Mul(b, g.den).Lsh(b, 1)
	return s.bernoulliExpBig(x, b)
}
