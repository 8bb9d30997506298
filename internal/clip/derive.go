package clip

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// maxCenter bounds a center's values: far below the limit of a matrix, at least 2^490, and far
// above any data that a study can make sense of.
const maxCenter = 0x1p150

// top is the largest magnitude in a matrix of rows of length d. A derived row is brought to the
// nearest that a matrix may hold, so that the bounds checked at ingest hold for it too. Refusing a
// row instead would reveal something about the data.
func top(d int) float64 { return math.Nextafter(valueLimit(d), 0) }

// derived is the matrix of m's rows after a step: float64 whatever m is.
func (m *Matrix) derived(derive step) *Matrix {
	return &Matrix{d: m.d, rows: m.rows, starts: m.starts, absent: m.absent, from: m, derive: derive}
}

// empty clears the gaps of rows lo to hi-1.
func (m *Matrix) empty(out []float64, lo, hi int) {
	if m.gaps == nil {
		return
	}
	for i := lo; i < hi; i++ {
		row := out[(i-lo)*m.d:]
		gaps := m.gapsOf(i)
		for at := 0; at < len(gaps); at += 8 {
			for w := word(gaps[at:]); w != 0; w &= w - 1 {
				row[8*at+bits.TrailingZeros64(w)] = 0
			}
		}
	}
}

// Less is the matrix of rows less a center, the same for all: finite, |center_j| ≤ 2^150. The units
// stay, and a gap stays one, with 0 in its place. A [*QueryError] otherwise. A row of the result
// depends on the row and the center alone.
func (m *Matrix) Less(center []float64) (*Matrix, error) {
	if len(center) != m.d {
		return nil, &QueryError{"center", fmt.Sprintf("has length %d, rows have %d", len(center), m.d)}
	}
	for j, c := range center {
		if !(math.Abs(c) <= maxCenter) {
			return nil, &QueryError{"center", fmt.Sprintf("is not finite or above 2^150 at index %d", j)}
		}
	}
	center = slices.Clone(center)
	less := m.derived(func(from *reader) func([]float64, int, int) {
		return func(out []float64, lo, hi int) {
			from.rows(lo, hi).subtract(out, center, top(m.d))
			m.empty(out, lo, hi)
		}
	})
	less.gaps = m.gaps
	return less, nil
}

// Sphere is the matrix of rows divided by their lengths, one a unit: a row of zeros, or one that
// counts as such, is a row of zeros. A row of the result depends on the row alone. A [*QueryError]
// reports a matrix whose units have several rows.
func (m *Matrix) Sphere() (*Matrix, error) {
	if m.starts != nil {
		return nil, &QueryError{"rows", "are divided by their lengths, but the matrix has a unit column"}
	}
	sphere := m.derived(func(from *reader) func([]float64, int, int) {
		var norms []float64
		return func(out []float64, lo, hi int) {
			rows := from.rows(lo, hi)
			norms = append(norms[:0], make([]float64, hi-lo)...)
			from.norms(norms, rows)
			values := rows.widened(&from.wide)
			for i, norm := range norms {
				row := out[i*m.d : (i+1)*m.d]
				norm = infiniteIfZero(norm) // over which the row is zeros
				for j, v := range values[i*m.d : (i+1)*m.d] {
					row[j] = v / norm // at most 1, but for its rounding
				}
			}
		}
	})
	sphere.gaps = m.gaps // of 0
	return sphere, nil
}

// Off is the matrix of rows y - V(Vᵀy), V the orthonormal directions found, one after another:
// finite, norms and products as they should be within 1e-6. The units stay. None found is the
// matrix itself; else no cell of the result is a gap. A [*QueryError] otherwise. A row of the
// result depends on the row and V alone.
func (m *Matrix) Off(found []float64) (*Matrix, error) {
	if len(found) == 0 {
		return m, nil
	}
	if err := orthonormal(found, m.d, crossTolerance); err != nil {
		return nil, err
	}
	found = slices.Clone(found)
	d := m.d
	zero := make([]float64, d)
	return m.derived(func(from *reader) func([]float64, int, int) {
		s, along := make([]float64, len(found)/d), []float64(nil)
		return func(out []float64, lo, hi int) {
			h, rows := hi-lo, from.rows(lo, hi)
			along = append(along[:0], make([]float64, h*len(s))...)
			rows.dotsBlock(along, found, h, d)
			copy(out, rows.widened(&from.wide))
			for i := range h {
				for l := range s {
					s[l] = -along[l*h+i]
				}
				blend(out[i*d:(i+1)*d], found, s)
			}
			stored{wide: out}.subtract(out, zero, top(d))
		}
	}), nil
}

// Pairs is the matrix of rows (y_a - y_b)/√2, one a unit, for a = order[2i] and b = order[2i+1];
// the last of an odd number is left out. order MUST not depend on values. A unit is in one pair at
// most, so replacing it replaces one unit of the result. A gap in either row is one of the
// difference. A [*QueryError] reports an order that is not of distinct units, and a matrix whose
// units have several rows.
func (m *Matrix) Pairs(order []int) (*Matrix, error) {
	if m.starts != nil {
		return nil, &QueryError{"order", "pairs rows, but the matrix has a unit column"}
	}
	seen := make([]bool, m.N())
	for i, u := range order {
		if u < 0 || u >= len(seen) || seen[u] {
			return nil, &QueryError{"order", fmt.Sprintf("is not of distinct units at index %d", i)}
		}
		seen[u] = true
	}
	d, n := m.d, len(order)/2
	var absent []bool
	if m.absent != nil { // half a pair is no difference
		absent = make([]bool, n)
		for i := range absent {
			absent[i] = m.absent[order[2*i]] || m.absent[order[2*i+1]]
		}
	}
	var gaps []byte
	if m.gaps != nil {
		gaps = make([]byte, n*gapStride(d))
		for i := range n {
			both := gaps[i*gapStride(d) : (i+1)*gapStride(d)]
			for at := range both {
				both[at] = m.gapsOf(order[2*i])[at] | m.gapsOf(order[2*i+1])[at]
			}
		}
	}
	order = slices.Clone(order)
	pairs := &Matrix{d: d, rows: n, absent: absent, gaps: gaps, from: m}
	pairs.derive = func(from *reader) func([]float64, int, int) {
		return func(out []float64, lo, hi int) {
			for i := lo; i < hi; i++ {
				row := out[(i-lo)*d : (i-lo+1)*d]
				copy(row, from.widened(order[2*i], order[2*i]+1))
				for j, b := range from.widened(order[2*i+1], order[2*i+1]+1) {
					row[j] = min(max((row[j]-b)*(math.Sqrt2/2), -top(d)), top(d))
				}
			}
			pairs.empty(out, lo, hi)
		}
	}
	return pairs, nil
}
