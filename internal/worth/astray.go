package worth

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"covey/internal/linalg"
	"covey/internal/result"
	"covey/internal/study"
)

// Divided by its length, a row that is closer to a released center than the center's noise has the
// direction of that noise, as all such rows do. And short rows that are alike, such as rows of
// zeros, count like long ones.
const (
	// mostNear is how large a part of the signal rows within the center's noise may be, and
	// mostHidden how large a part noise may hide: surely standard deviations of their count. Of
	// rows at the mean, a twentieth cost up to a tenth of the variance.
	mostNear, mostHidden, surely = 0.05, 0.5, 2.0

	// mostAlong is how much more of the rows than of elliptical ones may have one score, in each of
	// the alongBins longest bins. leastMean keeps the mean of scores from 0 and 1.
	mostAlong, alongBins, leastMean = 0.01, 6, 1e-3

	nearWhy  = "rows were divided by their lengths, and some, or as many as noise can hide, are so near the mean that all of these have one direction, that of the center's noise"
	shortWhy = "rows were divided by their lengths, and the components have a larger part of these than of the variance: short rows, such as rows of zeros, have a direction of their own"
	alongWhy = "rows were divided by their lengths, and more of them point along the components than of rows without groups: those of a group that is short and alike, such as rows of zeros, count like long ones"
	// plainSentence says what may help against both.
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
	if r.TotalInterval != nil && len(r.VarianceInterval) == r.K {
		// Of elliptical rows, leading directions have more of the variance, and the clip lowers
		// theta.
		part, square := 0.0, 0.0
		for i, v := range r.ExplainedVariance {
			half := (r.VarianceInterval[i][1] - r.VarianceInterval[i][0]) / 2
			part, square = part+v, square+half*half
		}
		k := float64(r.K)
		if (k*theta-normal95*tau*math.Sqrt(k))*r.TotalInterval[0] > part+math.Sqrt(square) {
			return shortWhy
		}
	}
	if along(r) {
		return alongWhy
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

// along reports whether more rows lie near the span that rounds ask about than elliptical rows with
// the same mean squared score would: rows that are alike have one score. It takes the last two
// histograms of scores together.
func along(r *result.Result) bool {
	var bins [alongBins]struct{ more, variance float64 }
	k, taken := float64(r.K), 0
	for i := len(r.Releases) - 1; i > 0 && taken < 2; i-- {
		rel, step := r.Releases[i-1], r.Releases[i]
		if rel.Kind != study.KindHistogram || step.Kind != study.KindPower {
			continue
		}
		taken++
		h := histogram{rel, float64(rel.Units) * keptShare(r), 2}
		last := len(h.Noised) - 1
		for study.BinEdge(last-1) >= 1 {
			last--
		}
		mean := 0.0
		for c, x := range columns(step.X, r.D) {
			mean += linalg.Dot(x, columns(step.Z(), r.D)[c])
		}
		mean /= keptShare(r)
		for j := last; j > 0 && study.BinEdge(j-1) >= step.Radius; j-- { // what the clip took off
			s := math.Sqrt(study.BinEdge(j-1) * study.BinEdge(j))
			mean += h.share(j) * s * (s - step.Radius)
		}
		for b := range bins {
			low, high := h.edge(last-b-1), h.edge(last-b)
			most := k*mostAlong + alongOf(k, max(leastMean, min(mean, 1-leastMean)), low)
			if b > 0 { // of normal numbers, relative to what they are independent of, so many octaves
				most = mostAlong + fullest(r.K, 1/math.Log2(high/low*(1-low)/(1-high)))
			}
			bins[b].more += h.share(last-b) - most
			bins[b].variance += h.noise()*h.noise() + most/h.rows
		}
	}
	for _, s := range bins {
		if s.more > surely*math.Sqrt(s.variance) {
			return true
		}
	}
	return false
}

// alongOf is the largest part of elliptical rows of which a span of k directions has more than
// square of the squared length, and mean in the mean: about that of rows that have k/mean
// directions, all alike.
func alongOf(k, mean, square float64) float64 {
	return 1 - mathext.RegIncBeta(k/2, k/2*(1-mean)/mean, square)
}
