package picture

import (
	"cmp"
	"math"
	"slices"
)

// kernels are the smoothings in which peaks are looked for: t passes of (1, 2, 1)/4 along each
// axis, with nothing beyond the grid. Each is kept as its bins×bins matrix for one axis.
var kernels = func() (out [][bins][bins]float64) {
	var k [bins][bins]float64
	for i := range bins {
		k[i][i] = 1
	}
	for t := range 5 {
		if t == 0 || t == 1 || t == 2 || t == 4 {
			out = append(out, k)
		}
		var next [bins][bins]float64
		for i := range bins {
			for j := range bins {
				next[i][j] = k[i][j] / 2
				if i > 0 {
					next[i][j] += k[i-1][j] / 4
				}
				if i < bins-1 {
					next[i][j] += k[i+1][j] / 4
				}
			}
		}
		k = next
	}
	return out
}()

// peakZ is how many deviations of its noise a difference of two smoothed bins must have, so that
// over all ordered pairs, kernels and groups noise passes it with probability at most invented. The
// comparison of a bin with 0 takes the place of that with itself.
func peakZ(groups int) float64 {
	tests := float64(groups) * float64(len(kernels)) * bins * bins * bins * bins
	return math.Sqrt2 * math.Erfcinv(2*invented/tests)
}

// field is a group's counts smoothed by one kernel, with what is needed for their noise.
type field struct {
	smooth []float64
	gram   [bins][bins]float64 // of the kernel's rows on one axis
	sigma  float64
}

func fields(counts []float64, sigma float64) []field {
	var out []field
	for _, k := range kernels {
		f := field{smooth: make([]float64, bins*bins), sigma: sigma}
		var half [bins][bins]float64
		for x := range bins {
			for y := range bins {
				for i := range bins {
					half[x][y] += k[x][i] * counts[i*bins+y]
					f.gram[x][y] += k[x][i] * k[y][i]
				}
			}
		}
		for x := range bins {
			for y := range bins {
				for i := range bins {
					f.smooth[x*bins+y] += half[x][i] * k[y][i]
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// covariance is that of the noise of two smoothed bins, over sigma².
func (f *field) covariance(a, b int) float64 {
	return f.gram[a/bins][b/bins] * f.gram[a%bins][b%bins]
}

// above reports whether the smoothed truth at a is above that at b, unless noise passed z.
func (f *field) above(a, b int, z float64) bool {
	variance := f.covariance(a, a) + f.covariance(b, b) - 2*f.covariance(a, b)
	return f.smooth[a]-f.smooth[b] > z*f.sigma*math.Sqrt(max(0, variance))
}

// occupied reports whether the smoothed truth at a is above 0, unless noise passed z.
func (f *field) occupied(a int, z float64) bool {
	return f.smooth[a] > z*f.sigma*math.Sqrt(f.covariance(a, a))
}

// island is a connected set of bins that are higher than all around it, the highest first.
type island struct{ bins []int }

// dip is the most of the lower peak that the drawn density may have where it meets a higher one,
// for the two to stay apart. Smoothing makes peaks of its own where a thin line of bins bends; the
// unsmoothed counts have no dip there.
const dip = 0.9

// farthest is how many bins beyond an island the last of the rings is in which it may stand.
const farthest = 3

// stands reports whether the island's highest bin is above all bins of a ring around the island, in
// f. The ring is that of the bins a number of steps away, corners included, and other lies outside.
func (c *island) stands(other int, f *field, z float64) bool {
	top := c.bins[0]
	var in [bins * bins]bool
	edge := c.bins
	for _, b := range edge {
		in[b] = true
	}
	for range farthest {
		var ring []int
		for _, b := range edge {
			for _, n := range neighbors(b) {
				if !in[n] {
					in[n] = true
					ring = append(ring, n)
				}
			}
		}
		if in[other] {
			return false
		}
		if !slices.ContainsFunc(ring, func(b int) bool { return !f.above(top, b, z) }) {
			return true
		}
		edge = ring
	}
	return false
}

// apart reports whether two islands are separate in the truth, smoothed by one of the kernels.
func apart(a, b *island, all []field, z float64) bool {
	return slices.ContainsFunc(all, func(f field) bool {
		return a.stands(b.bins[0], &f, z) && b.stands(a.bins[0], &f, z)
	})
}

// flatten cuts off the peaks of shown that noise could explain ([New]) and returns the others, the
// highest first.
func flatten(shown, counts []float64, sigma, z float64) []int {
	all := fields(counts, sigma)
	order := make([]int, 0, bins*bins)
	for i, v := range shown {
		if v > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shown[b], shown[a]) })
	var peaks []int
	at := map[int]*island{}
	// join merges islands that meet at a height, the highest first, and cuts those that do not
	// stand.
	join := func(meet []*island, height float64) *island {
		slices.SortStableFunc(meet, func(a, b *island) int { return cmp.Compare(shown[b.bins[0]], shown[a.bins[0]]) })
		high := meet[0]
		grown := slices.Clone(high.bins)
		for _, low := range meet[1:] {
			if height <= dip*shown[low.bins[0]] && apart(high, low, all, z) {
				peaks = append(peaks, low.bins[0])
			} else {
				for _, b := range low.bins {
					shown[b] = min(shown[b], height)
				}
			}
			grown = append(grown, low.bins...)
		}
		return &island{grown}
	}
	for _, bin := range order {
		var meet []*island
		for _, n := range neighbors(bin) {
			if c := at[n]; c != nil && !slices.Contains(meet, c) {
				meet = append(meet, c)
			}
		}
		c := &island{}
		switch len(meet) {
		case 0:
		case 1:
			c = meet[0]
		default:
			c = join(meet, shown[bin])
		}
		c.bins = append(c.bins, bin)
		for _, b := range c.bins {
			at[b] = c
		}
	}
	var left []*island
	for _, bin := range order {
		if c := at[bin]; !slices.Contains(left, c) {
			left = append(left, c)
		}
	}
	if len(left) == 0 {
		return nil
	}
	top := order[0]
	if !slices.ContainsFunc(all, func(f field) bool { return f.occupied(top, z) }) {
		clear(shown)
		return nil
	}
	join(left, 0)
	peaks = append(peaks, top)
	slices.SortStableFunc(peaks, func(a, b int) int { return cmp.Compare(shown[b], shown[a]) })
	return peaks
}

// neighbors are the up to eight bins around one.
func neighbors(bin int) []int {
	var out []int
	x, y := bin/bins, bin%bins
	for i := max(0, x-1); i <= min(bins-1, x+1); i++ {
		for j := max(0, y-1); j <= min(bins-1, y+1); j++ {
			if n := i*bins + j; n != bin {
				out = append(out, n)
			}
		}
	}
	return out
}
