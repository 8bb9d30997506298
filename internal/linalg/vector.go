package linalg

import (
	"cmp"
	"math"
	"slices"
)

// normalize returns v/‖v‖ in a new slice, or false for a zero or non-finite v.
func normalize(v []float64) ([]float64, bool) {
	unit := make([]float64, len(v))
	return unit, normalizeTo(unit, v)
}

// normalizeTo makes unit v/‖v‖, or returns false for a zero or non-finite v. Both may be one slice.
func normalizeTo(unit, v []float64) bool {
	n := Norm(v)
	if n == 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return false
	}
	for i := range v {
		unit[i] = v[i] / n
	}
	return true
}

// Against returns v less its part in the span of an orthonormal basis, at unit length, or
// false where nothing of it is left. Twice is enough (Kahan; Parlett 1998, section 6.9).
func Against(v []float64, basis [][]float64) ([]float64, bool) {
	unit, ok := normalize(v) // a nil v has no direction
	for range 2 {
		if !ok {
			return nil, false
		}
		for _, b := range basis {
			c := Dot(unit, b)
			for i := range unit {
				unit[i] -= float64(c * b[i])
			}
		}
		if Norm(unit) < 1e-8 {
			return nil, false
		}
		ok = normalizeTo(unit, unit)
	}
	return unit, ok
}

// Orthonormalize is the Q of a QR decomposition of the columns, with a positive
// diagonal. A column that depends on those before it is replaced by its fallback, or by
// the first unit vector that is independent.
func Orthonormalize(columns, fallback [][]float64) [][]float64 {
	var out [][]float64
	for i, v := range columns {
		unit, ok := Against(v, out)
		if !ok {
			unit, ok = Against(fallback[i], out)
		}
		for j := 0; !ok; j++ { // at most len(out)+1 turns: as many unit vectors span more
			e := make([]float64, len(fallback[i]))
			e[j] = 1
			unit, ok = Against(e, out)
		}
		out = append(out, unit)
	}
	return out
}

// Orthonormal says what is wrong with the vectors of d in v, empty if nothing.
// Privacy does not need it: it keeps every intermediate at the sites finite.
func Orthonormal(v []float64, d int) string {
	for i := 0; i < len(v); i += d {
		if !(math.Abs(Norm(v[i:i+d])-1) <= 1e-9) {
			return "is not of unit norm within 1e-9"
		}
		for j := 0; j < i; j += d {
			if !(math.Abs(Dot(v[i:i+d], v[j:j+d])) <= 1e-9) {
				return "is not orthogonal within 1e-9"
			}
		}
	}
	return ""
}

// Split cuts vectors of d, one after another, apart.
func Split(v []float64, d int) [][]float64 {
	var out [][]float64
	for ; len(v) > 0; v = v[d:] {
		out = append(out, v[:d:d])
	}
	return out
}

// Flat puts vectors one after another.
func Flat(vectors [][]float64) []float64 { return slices.Concat(vectors...) }

// Dot is the inner product of two vectors of one length.
func Dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i] * b[i])
	}
	return sum
}

// Norm is the Euclidean norm, safe from overflow.
func Norm(v []float64) float64 {
	big := 0.0
	for _, x := range v {
		big = max(big, math.Abs(x)) // NaN propagates through max
	}
	if big == 0 || math.IsInf(big, 0) || math.IsNaN(big) {
		return big
	}
	sum := 0.0
	for _, x := range v {
		sum += float64((x / big) * (x / big))
	}
	return big * math.Sqrt(sum)
}

// Orient returns x with its largest loading positive.
func Orient(x []float64) []float64 {
	x = slices.Clone(x)
	at := 0
	for i, v := range x {
		if math.Abs(v) > math.Abs(x[at]) {
			at = i
		}
	}
	if x[at] < 0 {
		for i := range x {
			x[i] = -x[i]
		}
	}
	return x
}

// OrientAll returns each vector with its largest loading positive.
func OrientAll(vectors [][]float64) [][]float64 {
	out := make([][]float64, len(vectors))
	for i, v := range vectors {
		out[i] = Orient(v)
	}
	return out
}

// Falling returns the indices of z by falling value, the first of equal ones first.
func Falling(z []float64) []int {
	order := make([]int, len(z))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(z[b], z[a]) })
	return order
}
