package clip

import (
	"fmt"
	"math"
)

// maxCenter bounds a center's values: far below the limit of a matrix, at least 2^490, and far
// above any data that a study can make sense of.
const maxCenter = 0x1p300

// derived is the matrix of values, each brought to the nearest that a matrix may hold. The bounds
// that were checked at ingest hold again, whatever the rows: refusing one here would tell of data.
// It is float64 whatever it is derived from. absent rows, nil for none, are zeros again: what they
// became tells of no row.
func derived(d int, values []float64, starts []int, absent []bool) *Matrix {
	top := math.Nextafter(valueLimit(d), 0)
	for i, v := range values {
		values[i] = min(max(v, -top), top)
	}
	for i, gone := range absent {
		if gone {
			clear(values[i*d : (i+1)*d])
		}
	}
	m := withNorms(d, stored{wide: values}, starts)
	m.absent = absent
	return m
}

// Less is the matrix of rows less a center, the same for all: finite, |center_j| ≤ 2^300. The units
// stay, and a gap stays one, with 0 in its place. A [*QueryError] otherwise. A row of the result
// depends on the row and the center alone.
func (m *Matrix) Less(center []float64) (*Matrix, error) {
	if len(center) != m.d {
		return nil, &QueryError{"center", fmt.Sprintf("has length %d, rows have %d", len(center), m.d)}
	}
	for j, c := range center {
		if !(math.Abs(c) <= maxCenter) {
			return nil, &QueryError{"center", fmt.Sprintf("is not finite or above 2^300 at index %d", j)}
		}
	}
	values := make([]float64, m.values.len())
	var wide []float64
	var empty []int
	for i := range m.norms {
		lo := i * m.d
		out, row := values[lo:lo+m.d], m.values.part(lo, lo+m.d).widened(&wide)
		for j, c := range center {
			out[j] = row[j] - c
		}
		empty = places(empty[:0], m.gapsOf(i))
		for _, j := range empty {
			out[j] = 0
		}
	}
	less := derived(m.d, values, m.starts, m.absent)
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
	values := make([]float64, m.values.len())
	var wide []float64
	for i, norm := range m.norms {
		if norm == 0 {
			continue
		}
		lo := i * m.d
		out, row := values[lo:lo+m.d], m.values.part(lo, lo+m.d).widened(&wide)
		for j, v := range row {
			out[j] = v / norm
		}
	}
	sphere := derived(m.d, values, nil, m.absent)
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
	d := m.d
	values := make([]float64, m.values.len())
	var wide []float64
	s := make([]float64, len(found)/d)
	for lo := 0; lo < len(values); lo += d {
		out, row := values[lo:lo+d], m.values.part(lo, lo+d).widened(&wide)
		for l := range s {
			s[l] = -dot(row, found[l*d:(l+1)*d])
		}
		copy(out, row)
		blend(out, found, s)
	}
	return derived(d, values, m.starts, m.absent), nil
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
	d := m.d
	values := make([]float64, len(order)/2*d)
	var absent []bool
	if m.absent != nil { // half a pair is no difference
		absent = make([]bool, len(order)/2)
		for i := range absent {
			absent[i] = m.absent[order[2*i]] || m.absent[order[2*i+1]]
		}
	}
	var left, right []float64
	at := func(u int, scratch *[]float64) []float64 { return m.values.part(u*d, (u+1)*d).widened(scratch) }
	for i := range len(order) / 2 {
		a, b := at(order[2*i], &left), at(order[2*i+1], &right)
		out := values[i*d : (i+1)*d]
		for j := range out {
			out[j] = (a[j] - b[j]) * (math.Sqrt2 / 2)
		}
	}
	var gaps []byte
	if m.gaps != nil {
		gaps = make([]byte, len(order)/2*gapStride(d))
		var empty []int
		for i := range len(order) / 2 {
			both := gaps[i*gapStride(d) : (i+1)*gapStride(d)]
			for at := range both {
				both[at] = m.gapsOf(order[2*i])[at] | m.gapsOf(order[2*i+1])[at]
			}
			empty = places(empty[:0], both)
			for _, j := range empty {
				values[i*d+j] = 0
			}
		}
	}
	pairs := derived(d, values, nil, absent)
	pairs.gaps = gaps
	return pairs, nil
}
