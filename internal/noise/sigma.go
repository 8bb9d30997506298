package noise

import (
	"io"
	"math/big"
	"time"
)

// sigmaStep is how many units of a Sigma make one grid step.
const sigmaStep = 1 << 10

// maxSigma bounds σ: no ring holds more.
const maxSigma = 1 << 52

// Sigma is the parameter σ of a discrete Gaussian in units of 2^-10 grid steps:
// an exact number that travels on the wire and is hashed.
type Sigma uint64

// Squared is σ² in squared grid steps, exactly.
func (s Sigma) Squared() *big.Rat {
	k := new(big.Int).SetUint64(uint64(s))
	return new(big.Rat).SetFrac(k.Mul(k, k), big.NewInt(sigmaStep*sigmaStep))
}

// Draw fills into with independent draws of N_Z(0, σ²) from source. Its errors, and what they
// leave behind, are those of NewGaussian and Gaussian.Fill: zeros.
func (s Sigma) Draw(source io.Reader, into []int64) error {
	g, err := NewGaussian(s)
	if err != nil {
		clear(into)
		return err
	}
	return g.Fill(source, into)
}

// The time that a draw is assumed to take, on machine words and on larger integers: four to five
// times that of the machine of docs/performance.md.
const (
	wordDraw  = time.Microsecond
	largeDraw = 5 * time.Microsecond
)

// proposals a candidate: [Select] of n takes more than proposals·n with a probability of at most
// (1 - 1/n)^(proposals·n), less than 2^-64, whatever the scores. Their number is geometric, and its
// mean, between 1 and n, is told by the exact scores: a tick for the mean would tell of them.
const proposals = 45

// DrawTime returns a bound on the time of so many draws of N_Z(0, σ²), unless the machine is slow
// or busy: a function of σ and their number alone. A choice ([Select]) among so many has σ = 0.
func (s Sigma) DrawTime(values int) time.Duration {
	if s == 0 {
		return time.Duration(values) * proposals * wordDraw
	}
	if g, err := NewGaussian(s); err == nil && g.root == nil {
		return time.Duration(values) * largeDraw
	}
	return time.Duration(values) * wordDraw
}
