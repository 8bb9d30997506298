package noise

import (
	"io"
	"math"
	"math/big"
)

// sigmaStep is how many units of a Sigma make one grid step.
const sigmaStep = 1 << 10

// wholeSigma is the σ from which SigmaAtLeast gives a whole number of grid steps: the
// sampler's word-sized path needs it, and it costs at most 2^-16 of σ.
const wholeSigma = 1 << 16

// maxSigma bounds σ: no ring holds more.
const maxSigma = 1 << 52

// Sigma is the parameter σ of a discrete Gaussian in units of 2^-10 grid steps:
// an exact number that travels on the wire and is hashed.
type Sigma uint64

// SigmaAtLeast gives the smallest Sigma of at least x grid steps that is a multiple
// of 2^-10 up to 2^16 and a whole number above. A *ParameterError is for an x that
// is not in (0, 2^52].
func SigmaAtLeast(x float64) (Sigma, error) {
	if !(x > 0 && x <= maxSigma) {
		return 0, parameter("sigma", "must be in (0, 2^52], got %v", x)
	}
	if x > wholeSigma {
		return Sigma(math.Ceil(x)) * sigmaStep, nil
	}
	return Sigma(math.Ceil(x * sigmaStep)), nil // x·2^10 is exact
}

// Float is σ in grid steps: exact for what SigmaAtLeast gives, the nearest float64 above 2^53 units.
func (s Sigma) Float() float64 { return float64(s) / sigmaStep }

// Squared is σ² in squared grid steps, exactly.
func (s Sigma) Squared() *big.Rat {
	k := new(big.Int).SetUint64(uint64(s))
	return new(big.Rat).SetFrac(k.Mul(k, k), big.NewInt(sigmaStep*sigmaStep))
}

// Gaussian prepares the sampler of N_Z(0, σ²).
func (s Sigma) Gaussian() (*Gaussian, error) { return NewGaussian(s.Squared()) }

// Draw fills into with independent draws of N_Z(0, σ²) from source. Its errors, and what they
// leave behind, are those of NewGaussian and Gaussian.Fill: zeros.
func (s Sigma) Draw(source io.Reader, into []int64) error {
	g, err := s.Gaussian()
	if err != nil {
		clear(into)
		return err
	}
	return g.Fill(source, into)
}
