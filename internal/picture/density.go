package picture

import (
	"math"

	"covey/internal/result"
)

// Density is a picture as it is drawn.
type Density struct {
	// Shown are for each group, bin (ix, iy) at ix·PictureBins+iy as in [result.Picture], how many
	// units are drawn there: the noised counts without what noise explains, never below 0.
	Shown [][]float64
	// Total is each group's noised number of units, at least 0: the sum of its counts.
	Total []float64
	// Hidden is each group's share of Total that is not drawn, since noise could explain it.
	Hidden []float64
	// Peaks are each group's separate peaks, the highest first, as bins: those that the true counts
	// have too ([New]). A group whose noise explains everything has none and shows nothing.
	Peaks [][]int
}

// New returns what is drawn of a picture. Its noise is known, independent in each bin and Gaussian,
// and everything follows from that:
//
// Counts go through hard thresholds of the Haar wavelets of each window of 4 by 4 bins, averages
// included, and a bin is the mean over its 16 windows (translation-invariant denoising: Coifman and
// Donoho 1995). The threshold is the noise's deviation times √(2 ln 256), which with few exceptions
// noise alone does not pass (Donoho and Johnstone 1994).
//
// Then peaks that could be noise are taken off. The highest is drawn if its bin, in the counts
// smoothed by one of four kernels, is above 0 beyond noise; nothing is drawn otherwise. A further
// one stays if the density falls by a tenth between the two and, in counts smoothed by one kernel,
// the bin of each is above all bins of a ring around it beyond noise; else it is cut to the height
// at which it meets the higher one. Beyond noise means by more than z deviations of the noise of
// that very difference, where noise stays below z in all differences of all pairs of bins, kernels
// and groups together with probability 0.99. So with that probability there are units at the
// highest peak, and each further one is a peak of the true counts, smoothed by that kernel.
//
// It returns an [*Error] for a picture that no study released.
func New(p result.Picture) (*Density, error) {
	if len(p.Counts) == 0 || len(p.Groups) != 0 && len(p.Groups) != len(p.Counts) {
		return nil, fault("%d vectors of counts for %d groups", len(p.Counts), len(p.Groups))
	}
	for _, edges := range [][]float64{p.X, p.Y} {
		if err := checkEdges(edges, bins); err != nil {
			return nil, err
		}
	}
	out := &Density{}
	z := peakZ(len(p.Counts))
	for _, counts := range p.Counts {
		if err := check(counts, bins*bins, p.Sigma); err != nil {
			return nil, err
		}
		f := denoise(counts, p.Sigma)
		peaks := flatten(f, counts, p.Sigma, z)
		total, shown := 0.0, 0.0
		for i, c := range counts {
			total += c
			shown += f[i]
		}
		total = max(0, total)
		hidden := 0.0
		if total > 0 {
			hidden = max(0, 1-shown/total)
		}
		out.Shown, out.Total = append(out.Shown, f), append(out.Total, total)
		out.Hidden, out.Peaks = append(out.Hidden, hidden), append(out.Peaks, peaks)
	}
	return out, nil
}

// threshold is the smallest wavelet coefficient that is drawn, in deviations of the noise of one
// count.
var threshold = math.Sqrt(2 * math.Log(bins*bins))

// window is the side of the squares whose wavelets are taken.
const window = 4

// denoise returns counts less what noise of deviation sigma explains, at least 0.
func denoise(counts []float64, sigma float64) []float64 {
	out := make([]float64, bins*bins)
	// All windows that hold a bin; beyond the grid there is nothing.
	for x := 1 - window; x < bins; x++ {
		for y := 1 - window; y < bins; y++ {
			var v [window][window]float64
			each(x, y, func(i, j, bin int) { v[i][j] = counts[bin] })
			shrink(&v, threshold*sigma)
			each(x, y, func(i, j, bin int) { out[bin] += v[i][j] / (window * window) })
		}
	}
	for i := range out {
		out[i] = max(0, out[i])
	}
	return out
}

// each visits the bins of the grid in the window at (x, y).
func each(x, y int, visit func(i, j, bin int)) {
	for i := range window {
		for j := range window {
			if a, b := x+i, y+j; a >= 0 && a < bins && b >= 0 && b < bins {
				visit(i, j, a*bins+b)
			}
		}
	}
}

// shrink takes the window's two-level orthonormal Haar transform, sets coefficients up to cut to 0,
// an average below it too, and goes back.
func shrink(v *[window][window]float64, cut float64) {
	keep := func(c float64) float64 {
		if math.Abs(c) <= cut {
			return 0
		}
		return c
	}
	var coarse [4]float64
	var fine [4][3]float64
	for q := range 4 {
		i, j := 2*(q/2), 2*(q%2)
		s, a, b, c := haar(v[i][j], v[i][j+1], v[i+1][j], v[i+1][j+1])
		coarse[q], fine[q] = s, [3]float64{keep(a), keep(b), keep(c)}
	}
	s, a, b, c := haar(coarse[0], coarse[1], coarse[2], coarse[3])
	if s <= cut { // units are never fewer than none
		s = 0
	}
	coarse[0], coarse[1], coarse[2], coarse[3] = haar(s, keep(a), keep(b), keep(c))
	for q := range 4 {
		i, j := 2*(q/2), 2*(q%2)
		v[i][j], v[i][j+1], v[i+1][j], v[i+1][j+1] = haar(coarse[q], fine[q][0], fine[q][1], fine[q][2])
	}
}

// haar is orthonormal and its own inverse.
func haar(a, b, c, d float64) (float64, float64, float64, float64) {
	return (a + b + c + d) / 2, (a - b + c - d) / 2, (a + b - c - d) / 2, (a - b - c + d) / 2
}
