package clip

import "math"

const (
	// round is 1.5·2^52. For |p| ≤ 2^51 the float64 nearest to p+round is in [2^52, 2^53], where consecutive floats are
	// consecutive integers and have consecutive bit patterns: rounding to it (half to even) rounds p to an integer, and the
	// integer is the difference of the bit patterns.
	round = 3 << 51

	// margin takes up every rounding between a row's true norm and its bound b_i (package comment).
	margin = 1 - 0x1p-30

	// blockBytes of rows stay in a 32 KB first-level cache between the two uses of a row.
	blockBytes = 24 << 10
)

// Sum is Σ_i round(clip_R(y_i y_iᵀx)/g), d integers in grid units. Replacing one row of m changes it by at most
// [Sensitivity] in L2. It is an exact sum over private rows: mask it or add noise before it leaves the site.
//
// workers goroutines share the rows (workers ≤ 0: GOMAXPROCS). The integers are the same for every number of them.
// It fails with [*QueryError] only, on values that are public: an invalid query, or so many rows that n(R/g+1) reaches 2^62.
func Sum(m *Matrix, q Query, workers int) ([]int64, error) {
	return sum(m, q, workers, blockBytes)
}

func sum(m *Matrix, q Query, workers, blockBytes int) ([]int64, error) {
	if err := q.Validate(m.d); err != nil {
		return nil, err
	}
	ratio := q.Radius / q.Grid // exact: the grid is a power of two
	if float64(m.N())*(ratio+1) >= 0x1p62 {
		return nil, &QueryError{"grid", "is too fine: the sum over all rows could reach 2^62"}
	}
	scale := 1 / q.Grid // exact
	bound := ratio * margin
	total := m.sum(m.d, blockBytes, workers, func(acc []uint64, s, rows, norms []float64) {
		dots(s, rows, q.X)
		for i, norm := range norms {
			b := 0.0
			if norm > 0 {
				b = bound / norm
			}
			s[i] = clamp(s[i]*scale, b)
		}
		accumulate(acc, rows, s)
	})
	// Each of the n rows left the constant's bits in every coordinate. The arithmetic is modulo 2^64, the true sum is below 2^62.
	constant := uint64(m.N()) * math.Float64bits(round)
	out := make([]int64, m.d)
	for j, v := range total {
		out[j] = int64(v - constant)
	}
	return out, nil
}

// clamp is c limited to [-b, b], b ≥ 0. Magnitudes order as their bits do, and every NaN is above them all, so even a NaN (there
// is none: a partial sum of s is below d·2^500) would end within the bound. No branch: which rows are clipped is random.
func clamp(c, b float64) float64 {
	const sign = 1 << 63
	bits := math.Float64bits(c)
	return math.Float64frombits(min(bits&^sign, math.Float64bits(b)) | bits&sign)
}

// dots sets s[i] to rows[i]ᵀx, added from left to right without fusing: four rows at a time for four independent chains of
// additions, but each row's order is its own, so a row's s does not depend on its neighbours or its place.
func dots(s, rows, x []float64) {
	d := len(x)
	for len(s) >= 4 {
		r0, r1, r2, r3 := rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d]
		r0, r1, r2, r3 = r0[:len(x)], r1[:len(x)], r2[:len(x)], r3[:len(x)] // no bounds check inside
		var s0, s1, s2, s3 float64
		for j, xj := range x {
			s0 += float64(r0[j] * xj)
			s1 += float64(r1[j] * xj)
			s2 += float64(r2[j] * xj)
			s3 += float64(r3[j] * xj)
		}
		s[0], s[1], s[2], s[3] = s0, s1, s2, s3
		s, rows = s[4:], rows[4*d:]
	}
	for i := range s {
		r := rows[:d][:len(x)]
		sum := 0.0
		for j, xj := range x {
			sum += float64(r[j] * xj)
		}
		s[i], rows = sum, rows[d:]
	}
}

// accumulate adds to acc the bits of round(c[i]·rows[i]) + 1.5·2^52 for each row. Each product is rounded by itself, from
// the constant: chaining one row's sum into the next FMA would save additions, but a tie would then go up or down with the
// parity of what other rows left, and one row would change all others' contributions.
func accumulate(acc []uint64, rows, c []float64) {
	d := len(acc)
	for len(c) >= 4 {
		r0, r1, r2, r3 := rows[:d], rows[d:2*d], rows[2*d:3*d], rows[3*d:4*d]
		r0, r1, r2, r3 = r0[:len(acc)], r1[:len(acc)], r2[:len(acc)], r3[:len(acc)]
		c0, c1, c2, c3 := c[0], c[1], c[2], c[3]
		for j := range acc {
			acc[j] += math.Float64bits(math.FMA(c0, r0[j], round)) +
				math.Float64bits(math.FMA(c1, r1[j], round)) +
				math.Float64bits(math.FMA(c2, r2[j], round)) +
				math.Float64bits(math.FMA(c3, r3[j], round))
		}
		c, rows = c[4:], rows[4*d:]
	}
	for _, ci := range c {
		r := rows[:d][:len(acc)]
		for j := range acc {
			acc[j] += math.Float64bits(math.FMA(ci, r[j], round))
		}
		rows = rows[d:]
	}
}
