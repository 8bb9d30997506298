package noise

import "math"

// wholeSigma is the σ from which SigmaAtLeast gives a whole number of grid steps: the
// sampler's word-sized path needs it, and it costs at most 2^-16 of σ.
const wholeSigma = 1 << 16

// SigmaAtLeast returns the smallest Sigma of at least x grid steps that is a multiple
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

// Float is σ in grid steps: exact for what SigmaAtLeast gives, the nearest float64 above 2^53
// units.
func (s Sigma) Float() float64 { return float64(s) / sigmaStep }
