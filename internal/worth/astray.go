package worth

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"covey/internal/linalg"
	"covey/internal/result"
	"covey/internal/study"
)

// Divided by its length, a row within the noise of a released center has the direction of that
// noise, whatever its own, and all such rows have the same; and rows that are short together, such
// as rows of zeros, count like long ones.
const (
	// mostNear is how large a part of the signal rows within the center's noise may be, and
	// mostHidden how large a part noise may hide: surely standard deviations of their count. Of
	// rows at the mean, a twentieth cost up to a tenth of the variance.
	mostNear, mostHidden, surely = 0.05, 0.5, 2.0

	nearWhy  = "rows were divided by their lengths, and some, or as many as noise can hide, are so near the mean that all of these have one direction, that of the center's noise"
	shortWhy = "rows were divided by their lengths, and the components have a larger part of these than of the variance: short rows, such as rows of zeros, have a direction of their own"
	// plainSentence is what may help against both.
	plainSentence = "With rows = \"plain\" or method = \"covariance\", short rows count little."
)

// astray returns why components of rows on the sphere may be those of short rows, or "". theta is
// the mean part that each of them has of such rows, tau the noise of each number of a step.
func astray(p *study.Plan, r *result.Result, theta, tau float64) string {
	// Rows that are left out are in no step, and in no count below.
	theta, tau = theta/keptShare(r), tau/keptShare(r)
	share, noise := nearby(p, r)
	if share > mostNear*theta+surely*noise || surely*noise > mostHidden*theta {
		return nearWhy
	}
	if r.TotalInterval == nil || len(r.VarianceInterval) != r.K {
		return ""
	}
	// Of elliptical rows, leading directions have more of the variance, and the clip lowers theta.
	part, square := 0.0, 0.0
	for i, v := range r.ExplainedVariance {
		half := (r.VarianceInterval[i][1] - r.VarianceInterval[i][0]) / 2
		part, square = part+v, square+half*half
	}
	k := float64(r.K)
	if (k*theta-normal95*tau*math.Sqrt(k))*r.TotalInterval[0] > part+math.Sqrt(square) {
		return shortWhy
	}
	return ""
}

// nearby returns the mean over rows of min(1, e²/‖y‖²), as histograms of lengths show it, and the
// standard deviation of its noise: e² is the squared length of the noise of a released center, at a
// quantile of 0.95. 0, 0 where no center was released.
func nearby(p *study.Plan, r *result.Result) (share, noise float64) {
	square := float64(r.D) * centerVariance(r)
	if square == 0 {
		return 0, 0
	}
	shape := float64(r.D) / 2
	least, most := mathext.GammaIncRegInv(shape, 0.001)/shape, mathext.GammaIncRegInv(shape, 0.95)/shape
	precision := 0.0
	for _, h := range lengthsOf(p, r, math.Inf(1)) {
		if h.Center == nil {
			continue
		}
		off := make([]float64, r.D) // an earlier center has its own noise
		for j, v := range r.Mean {
			off[j] = v - h.Center[j]
		}
		e, sum, weights := square+linalg.Dot(off, off), 0.0, 0.0
		for j := 1; j < len(h.Noised); j++ {
			if w := min(1, most*e/h.edge(j)); h.edge(j) >= least*e {
				sum += w * h.share(j)
				weights += w * w
			}
		}
		if variance := weights * h.noise() * h.noise(); variance > 0 {
			share, precision = share+sum/variance, precision+1/variance
		}
	}
	if precision == 0 {
		return 0, math.Inf(1)
	}
	return share / precision, 1 / math.Sqrt(precision)
}
