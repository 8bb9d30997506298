package prior

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Law draws the eigenvalues of d columns, falling from 1, from a public family: power laws
// from slow to steep, a flat top with a falling rest, spikes on a bulk, autoregressive series and
// exponential spacings.
func Law(rng *rand.Rand, d int) []float64 {
	out := make([]float64, d)
	logUniform := func(low, high float64) float64 { return low * math.Pow(high/low, rng.Float64()) }
	switch rng.IntN(5) {
	case 0:
		s, p := logUniform(0.004, 1.5), 0.5+1.5*rng.Float64()
		for i := range out {
			out[i] = math.Pow(1+s*float64(i), -p)
		}
	case 1:
		m := int(logUniform(1, float64(d)/2+1))
		start, rate := 0.5+0.5*rng.Float64(), logUniform(0.2, 6)
		for i := range out {
			if out[i] = 1; i >= m {
				out[i] = start * math.Exp(-rate*float64(i-m)/float64(d))
			}
		}
	case 2:
		m, bulk, fall := 1+rng.IntN(min(6, d)), 0.05+0.85*rng.Float64(), rng.Float64()
		for i := range out {
			if i < m {
				out[i] = bulk + (1-bulk)*(1-0.7*rng.Float64())
			} else {
				out[i] = bulk * (1 - fall*float64(i)/float64(d))
			}
		}
	case 3:
		rho := 0.2 + 0.78*rng.Float64()
		for i := range out {
			w := math.Pi * (float64(i) + 0.5) / float64(d)
			out[i] = (1 - rho*rho) / (1 - 2*rho*math.Cos(w) + rho*rho)
		}
	default:
		sum, rate := 0.0, logUniform(0.003, 0.5)
		for i := range out {
			out[i] = math.Exp(-sum)
			sum += rate * rng.ExpFloat64()
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	top := out[0]
	for i := range out {
		out[i] /= top
	}
	return out
}
