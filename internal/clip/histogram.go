package clip

import (
	"math"

	"covey/internal/query"
)

// bin is the index of the bin of p ≥ 0, exact by comparisons: no logarithm whose last bit could
// differ between machines. Within an octave the mantissa bits order as the values do; they are
// compared by the borrow of a subtraction, since which bin comes next is random and a mispredicted
// branch would cost more than the rest. Nor is there one for what lies beyond the bins: zeros would
// show in the time.
func bin(p float64) int {
	if math.IsNaN(p) { // it would also count once
		return 0
	}
	const mantissa = 1<<52 - 1
	bits := math.Float64bits(p) &^ (1 << 63)
	octave := int(bits>>52) - 1023
	over := func(edge float64) int { // 1 if p's mantissa is at least edge's
		return int((math.Float64bits(edge)&mantissa - 1 - bits&mantissa) >> 63)
	}
	at := 4*octave + query.HistogramBins/2 + over(query.Quarter1) + over(query.Quarter2) + over(query.Quarter3)
	return max(0, min(at, query.HistogramBins-1))
}

// Histogram counts the units by the size of their map before clipping, the one that [Sum] clips to
// R, into [query.HistogramBins] bins: bin j covers [2^((j-256)/4), 2^((j-255)/4)), bin 0 also
// everything below (zero rows included), bin 511 also everything above and what overflows. The
// counts add up to n. A unit's bin depends on that unit alone: replacing it changes the counts by
// at most [query.HistogramSensitivity] in L2, whatever the rounding of its size. They are exact
// counts of private units: mask them or add noise before they leave the site.
//
// The map and X are checked as in [Query.Validate]; Radius and Grid are ignored. workers as in
// [Sum].
func Histogram(m *Matrix, q Query, workers int) ([]int64, error) {
	return histogram(m, q, workers, blockBytes)
}

func histogram(m *Matrix, q Query, workers, blockBytes int) ([]int64, error) {
	if err := q.validateMap(m.d); err != nil {
		return nil, err
	}
	if q.Map == Moment { // its size is the trace
		q.Map = Total
	}
	var counts []uint64
	norms := m.normsFor(q.Map, workers)
	if height := m.height(blockBytes); m.starts == nil && q.Map == Power {
		counts = share(m.N(), height, query.HistogramBins, workers, func() func([]uint64, int, int) { return m.powerSizes(q, height, norms) })
	} else {
		counts = share(m.N(), 1, query.HistogramBins, workers, func() func([]uint64, int, int) {
			f := newFold(m, q, norms, blockBytes)
			return func(acc []uint64, lo, hi int) {
				for i := lo; i < hi; i++ {
					f.unit(i)
					acc[bin(size(f.v))]++
				}
			}
		})
	}
	return signed(counts), nil
}

// powerSizes counts ‖y‖·‖s‖, s the k products with a row that is a unit.
func (m *Matrix) powerSizes(q Query, height int, norms []float64) func(acc []uint64, lo, hi int) {
	d, k := m.d, len(q.X)/m.d
	s, w, from := make([]float64, k*height), make([]float64, k), m.reader()
	return func(acc []uint64, lo, hi int) {
		h, rows := hi-lo, from.rows(lo, hi)
		rows.dotsBlock(s, q.X, h, d)
		for i, norm := range norms[lo:hi] {
			length := math.Abs(s[i])
			if k > 1 {
				for j := range w {
					w[j] = s[j*h+i]
				}
				length = size(w)
			}
			acc[bin(norm*length)]++
		}
	}
}

func signed(counts []uint64) []int64 {
	out := make([]int64, len(counts))
	for j, v := range counts {
		out[j] = int64(v)
	}
	return out
}
