package noise

import (
	"errors"
	"io"
	"math/big"
	"math/bits"
)

// Gaussian samples the discrete Gaussian N_Z(0, σ²) exactly (Canonne, Kamath, Steinke 2020,
// algorithm 3). No floating point is used. It holds no randomness and may be shared.
//
// Proposals are accepted on machine words, where they provably fit, or else on integers of any
// size, which draw the same from the same bits.
type Gaussian struct {
	p, q *big.Int // σ = p/q, in lowest terms
	t    uint64   // ⌊σ⌋+1, the scale of the discrete Laplace proposals
	root *rootWords
}

var errRange = errors.New("noise: a draw does not fit 63 bits")

// NewGaussian prepares the sampler of a σ in (0, 2^52] grid steps; a *ParameterError otherwise.
func NewGaussian(sigma Sigma) (*Gaussian, error) {
	if sigma == 0 || sigma > maxSigma*sigmaStep {
		return nil, parameter("sigma", "must be in (0, 2^52]")
	}
	common := min(bits.TrailingZeros64(uint64(sigma)), bits.TrailingZeros64(sigmaStep))
	g := &Gaussian{
		p: new(big.Int).SetUint64(uint64(sigma) >> common),
		q: big.NewInt(sigmaStep >> common),
		t: uint64(sigma)/sigmaStep + 1,
	}
	g.root = newRootWords(g)
	return g, nil
}

// Fill draws len(out) independent values: a function of r's bytes alone, however r
// hands them out. r is read in blocks of 512 bytes and what a block has left at the end is
// dropped, so one Fill is not two of half the size. After an error, r's own or of a
// draw beyond 2^62 (probability below e^-1000), out is all zeros.
func (g *Gaussian) Fill(r io.Reader, out []int64) error {
	s := &bitSource{r: r}
	defer clear(s.buffer[:]) // what the last draws were made of
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
		accepted := g.accept(s, y)
		if s.err != nil {
			return 0, s.err
		}
		if accepted {
			if negative {
				return -int64(y), nil
			}
			return int64(y), nil
		}
	}
}

// laplace draws from P(y) ∝ exp(-|y|/t) (CKS 2020, algorithm 2), as a magnitude
// below 2^62 and a sign.
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
			return 0, false, errRange // t <= 2^52+1, so v >= 1000
		}
		if negative && y == 0 {
			continue // zero has one sign, or it would count twice
		}
		return y, negative, nil
	}
	return 0, false, s.err
}
