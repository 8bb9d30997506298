package clip

import "math"

// clamp is c limited to [-b, b], b ≥ 0. Magnitudes order as their bits do, and every NaN is above
// them all, so even a NaN (there is none: a partial sum of s is below d·2^500) would end within the
// bound. No branch: which rows are clipped is random.
func clamp(c, b float64) float64 {
	const sign = 1 << 63
	bits := math.Float64bits(c)
	return math.Float64frombits(min(bits&^sign, math.Float64bits(b)) | bits&sign)
}

// zeroBelow is x ≥ 0, but 0 if it is less than least. No branch: a mispredicted one takes longer
// than a short row, and would show how many rows of zeros are mixed with others.
func zeroBelow(x, least float64) float64 {
	bits := math.Float64bits(x)
	return math.Float64frombits(bits &^ uint64(int64(bits-math.Float64bits(least))>>63))
}

// infiniteIfZero is x ≥ 0, but infinite if it is 0: a bound over it is then 0. No branch, as in
// zeroBelow.
func infiniteIfZero(x float64) float64 {
	const inf = 0x7ff << 52
	bits := math.Float64bits(x)
	return math.Float64frombits(bits + inf*((bits-1)>>63))
}

// clampRows turns products s into coefficients clamp(s·scale, ±bound/norm) of rows with these
// norms, on the path in use.
func clampRows(s, norms []float64, l limit) {
	norms = norms[:len(s)]
	n := clampVector(s, norms, l)
	clampPortable(s[n:], norms[n:], l)
}

func clampPortable(s, norms []float64, l limit) {
	for i, norm := range norms {
		s[i] = clamp(s[i]*l.scale, l.bound/infiniteIfZero(norm))
	}
}

// clampBlock turns the products s[l·h+i] of rows i with the directions l into coefficients
// s·min(scale, (bound/norm)/‖s‖), on the path in use. w is scratch, one number for each direction.
func clampBlock(s, norms, w []float64, h int, l limit) {
	n := 0
	if len(w) <= run { // of which measure makes one sum
		n = clampBlockVector(s[:len(w)*h], norms[:h], len(w), h, l)
	}
	clampBlockPortable(s, norms, w, h, n, l)
}

// clampBlockPortable is clampBlock for rows from first on.
func clampBlockPortable(s, norms, w []float64, h, first int, l limit) {
	for i := first; i < h; i++ {
		for j := range w {
			w[j] = s[j*h+i]
		}
		length, e := measure(w)
		down, c := math.Ldexp(1, -e), min(math.Ldexp(l.scale, e), l.bound/infiniteIfZero(norms[i])/infiniteIfZero(length))
		if math.IsNaN(c) { // no length is infinite
			c = 0
		}
		for j, x := range w {
			s[j*h+i] = c * (x * down)
		}
	}
}
