package clip

import "math"

const (
	// round is 1.5·2^52. For |p| ≤ 2^51 the float64 nearest to p+round is in [2^52, 2^53], where
	// consecutive floats are consecutive integers and have consecutive bit patterns: rounding to it
	// (half to even) rounds p to an integer, and the integer is the difference of the bit patterns.
	round     = 3 << 51
	roundBits = 1075<<52 | 1<<51

	// margin takes up every rounding between a unit's true size and its bound (package comment).
	margin = 1 - 0x1p-30

	// blockBytes of rows stay in a 32 KB first-level cache between the two uses of a row, with the
	// direction and the sums. The block after them is fetched meanwhile.
	blockBytes = 16 << 10

	// farBytes is the largest block that stays in a second-level cache while the one after it is
	// fetched there.
	farBytes = 512 << 10

	// momentBlocks times blockBytes of rows stay in a second-level cache while each is used d
	// times.
	momentBlocks = 16

	// run is how many squares are added to one sum before the next is begun.
	run = 1 << 10

	// negligible is the largest magnitude below which a vector is a zero vector: over any grid and
	// times any row it rounds to zero.
	negligible = 0x1p-1000
)

// Sum is Σ_units round(clip_R(map(unit))/g), integers in grid units, as many as [Query.Values]
// says. Replacing one unit of m changes it by at most [query.Definition.Sensitivity] in L2. It is
// an exact sum over private rows: mask it or add noise before it leaves the site.
//
// workers goroutines share the units (workers ≤ 0: GOMAXPROCS), with an accumulator of 8 bytes a
// value each. The integers are the same for every number of them. It fails with [*QueryError] only,
// on values that are public: an invalid query, or so many units that n(R/g+1) reaches 2^62.
func Sum(m *Matrix, q Query, workers int) ([]int64, error) {
	return sum(m, q, workers, blockBytes)
}

func sum(m *Matrix, q Query, workers, blockBytes int) ([]int64, error) {
	if err := q.Validate(m.d); err != nil {
		return nil, err
	}
	ratio := q.Radius / q.Grid // exact: the grid is a power of two
	if float64(m.N())*(ratio+1) >= 0x1p62 {
		return nil, &QueryError{"grid", "is too fine: the sum over all units could reach 2^62"}
	}
	l := limit{scale: 1 / q.Grid, bound: ratio * margin} // scale is exact
	lanes := q.Values(m.d)
	var total []uint64
	// Which path a unit takes depends on public things alone: the map, and whether the matrix was
	// made with a unit column. It MUST NOT depend on how many rows the units have, or one unit of
	// two rows would change how all the others round.
	fused, height := m.starts == nil, m.fusedHeight(blockBytes)
	norms := m.normsFor(q.Map, workers)
	switch {
	case fused && q.Map == Power && lanes == m.d:
		total = share(m.N(), height, lanes, workers, func() func([]uint64, int, int) { return m.powerRows(q, l, height, norms) })
	case fused && q.Map == Power:
		total = share(m.N(), height, lanes, workers, func() func([]uint64, int, int) { return m.blockRows(q, l, height, norms) })
	case fused && q.Map == Mean:
		total = share(m.N(), height, lanes, workers, func() func([]uint64, int, int) { return m.meanRows(l, height, norms) })
	case fused && q.Map == Moment:
		height := m.height(momentBlocks * blockBytes)
		total = share(m.N(), height, lanes, workers, func() func([]uint64, int, int) { return m.momentRows(l, height, norms) })
	case q.Map == Moment:
		fused = false
		height := max(unitRows, m.height(momentBlocks*blockBytes))
		units := max(1, height*m.N()/max(1, m.Rows())) // with about height rows
		total = share(m.N(), units, lanes, workers, func() func([]uint64, int, int) { return m.momentUnits(q, l, height, blockBytes) })
	default:
		fused = false
		total = share(m.N(), 1, lanes, workers, func() func([]uint64, int, int) {
			f := newFold(m, q, norms, blockBytes)
			return func(acc []uint64, lo, hi int) {
				for i := lo; i < hi; i++ {
					f.unit(i)
					f.add(acc, l)
				}
			}
		})
	}
	constant := uint64(0)
	if fused { // each of the n rows left the constant's bits in every lane
		constant = uint64(m.N()) * roundBits
	}
	// The arithmetic is modulo 2^64, the true sum is below 2^62.
	out := make([]int64, lanes)
	for j, v := range total {
		out[j] = int64(v - constant)
	}
	return out, nil
}

// limit is the clip in grid units: a map is scaled by scale = 1/g and its size kept within bound =
// (R/g)(1-2^-30).
type limit struct{ scale, bound float64 }

// measure returns the length of v as length·2^e, where 2^e is the power of two at or below v's
// largest magnitude, so that no square overflows and length ≥ 1. It is computed from v·2^-e, which
// is exact but for values that far below the largest that they underflow. Squares are added in runs
// of 1024 and the runs' sums then: a term goes through at most 2^10+2^14 additions for 2^24 values.
// One that is negligible is of length 0, one that is not finite of length NaN. A negligible one
// takes as long as others: how many rows are zeros along a direction would show.
func measure(v []float64) (length float64, e int) {
	peak := 0.0
	for _, x := range v {
		peak = max(peak, math.Abs(x)) // a NaN stays
	}
	if !(peak <= math.MaxFloat64) {
		return math.NaN(), 0
	}
	e = int(math.Float64bits(peak)>>52) - 1023 // normal, if not negligible
	down := math.Ldexp(1, -e)
	total := 0.0
	for len(v) > 0 {
		n := min(len(v), run)
		part := 0.0
		for _, x := range v[:n] {
			w := x * down
			part += float64(w * w)
		}
		total += part
		v = v[n:]
	}
	if peak < negligible {
		total, e = 0, 0
	}
	return math.Sqrt(total), e
}

// size is the length of v for a histogram.
func size(v []float64) float64 {
	length, e := measure(v)
	return length * math.Ldexp(1, e) // Ldexp of a zero would be faster
}

// addClipped adds round(v·min(scale, bound/‖v‖)) to acc. A vector that is negligible adds nothing,
// in the time of another, and neither would one that is not finite, where 0·∞ would be a huge
// integer. There is none: at most 2^22 rows of norm at most 2^500(1+2^-29) make sums of products
// below 2^1023.
func addClipped(acc []uint64, v []float64, l limit) {
	length, e := measure(v)
	if math.IsNaN(length) {
		return
	}
	down := math.Ldexp(1, -e)
	// 2^e·scale is a power of two, or infinite: then the other is the smaller.
	c := min(math.Ldexp(l.scale, e), l.bound/infiniteIfZero(length))
	for j, x := range v {
		acc[j] += math.Float64bits(math.FMA(c, x*down, round)) - roundBits
	}
}
