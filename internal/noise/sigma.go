package noise

import (
	"fmt"
	"math"
	"math/big"
)

// sigmaStep is how many units of a Sigma make one grid step.
const sigmaStep = 1 << 10

// wholeSigma is the σ from which a Sigma is a whole number of grid steps: the sampler's
// word-sized path needs it, and it costs at most 2^-16 of σ.
const wholeSigma = 1 << 16

// maxSigma bounds σ: no ring holds more.
const maxSigma = 1 << 52

// Sigma is the parameter σ of a discrete Gaussian in units of 2^-10 grid steps:
// an exact number that travels on the wire and is hashed.
type Sigma uint64

// ParameterError is a parameter outside its bounds.
type ParameterError struct {
	Name   string
	Reason string
}

func (e *ParameterError) Error() string { return "noise: " + e.Name + ": " + e.Reason }

func parameter(name, format string, args ...any) error {
	return &ParameterError{name, fmt.Sprintf(format, args...)}
}

// SigmaAtLeast gives the smallest Sigma of at least x grid steps: a multiple of
// 2^-10 below 2^16, a whole number above.
func SigmaAtLeast(x float64) (Sigma, error) {
	if !(x > 0 && x <= maxSigma) {
		return 0, parameter("sigma", "must be in (0, 2^52], got %v", x)
	}
	if x > wholeSigma {
		return Sigma(math.Ceil(x)) * sigmaStep, nil
	}
	return Sigma(math.Ceil(x * sigmaStep)), nil // x·2^10 is exact
}

// Float is σ in grid steps.
func (s Sigma) Float() float64 { return float64(s) / sigmaStep }

// Squared is σ² in squared grid steps, exactly.
func (s Sigma) Squared() *big.Rat {
	k := new(big.Int).SetUint64(uint64(s))
	return new(big.Rat).SetFrac(k.Mul(k, k), big.NewInt(sigmaStep*sigmaStep))
}
