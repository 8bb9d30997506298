// Package histogram reads noised histograms of lengths: quantiles that noise does not make up, and
// whether lengths have two peaks. Bins are those of [query.BinEdge].
package histogram

import (
	"math"

	"covey/internal/query"
)

// Noised is a histogram with noise. Nobody changes it.
type Noised struct {
	Counts []int64 // of units, in each bin
	Spread float64 // the standard deviation of the noise on each count
	Units  int     // how many are counted, without noise
}

// FalseScale bounds the probability with which noise alone makes a bin of a histogram stand out.
const FalseScale = 0.01

// StandsOut is the noised count that a bin must reach to be believed: none of bins empty ones does
// but with probability FalseScale (stability, Karwa and Vadhan 2018; here every bin is on the wire,
// so the threshold is for utility alone). It is 4.66 sigma of 512 bins; the true probability is
// below 0.001, where 4 sigma would give 0.016.
func StandsOut(sigma float64, bins int) float64 {
	return sigma * math.Sqrt(2*math.Log(float64(bins)/FalseScale))
}

// Quantile returns a quantile of the lengths: bins that noise alone might fill are
// zeroed, and the quantile of what is left is given, between the edges of its bin in proportion; of
// quantile 1 the upper edge. Where zeroed bins hold more than a fifth of the units, neighboring
// bins are taken together, two, four, up to 32: few units for the noise still say where they are.
// It returns 0 if noise left nothing, or less than half of the units: what noise makes up now and
// then is one bin, anywhere.
func (h Noised) Quantile(quantile float64) float64 {
	return h.QuantileWith(Tail{Near: math.Inf(1)}, quantile)
}

// reach is how many bins from others a tail or a second peak may be, four octaves.
const reach = 16

// Tail says which bins within reach of those that stand out also count: one that holds Near·Spread
// or more, and n neighbors, up to Together of them, that hold Near·√n·Spread or more. A tail stands
// out less than the middle does. A bin of noise alone may count, one time in 40 where Near is 2.
type Tail struct {
	Near     float64
	Together int
}

// QuantileWith is Quantile where bins of a tail count, too.
func (h Noised) QuantileWith(also Tail, quantile float64) float64 {
	units := float64(h.Units)
	enough := 0.5 * units
	if quantile == 1 {
		enough = 0.8 * units
	}
	radius, most := 0.0, 0.0
	for width := 1; width <= widest && most < enough; width *= 2 {
		if width == widest && most >= 0.5*units {
			break // eight octaves together say little: a bound there would be of noise alone
		}
		if r, left := h.together(width, also, quantile, mostAlone*units); left > most {
			radius, most = r, left
		}
	}
	if most < 0.5*units {
		return 0
	}
	return radius
}

// widest is how many bins are taken together at most, eight octaves.
const widest = 32

// mostAlone is the most of the units that a bin of noise alone may seem to hold: two of them are
// less than half. Where noise makes fuller ones, a bin must be surely times as full as others must.
const mostAlone, surely = 0.25, 2.0

// farther is how many times as high as others a bin must be that is farther than reach bins from
// the fullest: a radius there would be of another scale altogether, with its noise. That noise
// alone makes one of 1,024 bins so high has a probability below 10^-7.
const farther = 1.5

// together is QuantileWith with bins of width together, and the count of those that stand out. A
// bin of noise alone may hold no more than alone.
func (h Noised) together(width int, also Tail, quantile, alone float64) (radius, left float64) {
	noised, spread := h.Counts, h.Spread*math.Sqrt(float64(width))
	floor := StandsOut(spread, len(noised)/width)
	if floor > alone {
		floor *= surely
	}
	counts := make([]float64, 0, len(noised)/width) // 0 where zeroed
	fullest := -1
	for at := 0; at < len(noised); at += width {
		sum := 0.0
		for _, c := range noised[at : at+width] {
			sum += float64(c)
		}
		// The lowest bin has no place: rows that were left out are in it.
		if at > 0 && (fullest < 0 || sum > counts[fullest]) {
			fullest = len(counts)
		}
		counts = append(counts, sum)
	}
	stands := func(j int) bool {
		if far := j != 0 && max(j-fullest, fullest-j) > reach/width; far {
			return counts[j] >= farther*floor
		}
		return counts[j] >= floor
	}
	first, last := -1, -1
	for j, sum := range counts {
		if stands(j) {
			left += sum
			if last = j; first < 0 {
				first = j
			}
		}
	}
	all, from, to := left, max(0, first-reach/width), min(len(counts), last+reach/width+1)
	counted := also.runs(counts, from, to, max(1, also.Together/width), spread)
	for j, sum := range counts {
		switch {
		case stands(j):
		case counted[j]:
			all += sum
		default:
			counts[j] = 0
		}
	}
	wanted, seen := float64(quantile*all), 0.0
	for j, c := range counts {
		if c > 0 && seen+c >= wanted {
			low, high := query.BinEdge(max(0, j*width-1)), query.BinEdge((j+1)*width-1)
			// Counts beyond 2^53 round, here to more than the whole bin.
			return min(high, low+float64((high-low)*((wanted-seen)/c))), left
		}
		seen += c
	}
	return 0, 0
}

// runs reports of each bin whether it is in a run of up to most bins, of a power of two, within
// from and to, whose sum stands out as far as t asks.
func (t Tail) runs(counts []float64, from, to, most int, spread float64) []bool {
	in := make([]bool, len(counts))
	for wide := 1; wide <= most; wide *= 2 {
		enough := float64(t.Near*spread) * math.Sqrt(float64(wide))
		for j := from; j+wide <= to; j++ {
			sum := 0.0
			for _, c := range counts[j : j+wide] {
				sum += c
			}
			if sum >= enough {
				for i := range wide {
					in[j+i] = true
				}
			}
		}
	}
	return in
}
