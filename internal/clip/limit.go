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

// clampRows turns products s into coefficients clamp(s·scale, ±bound/norm) of rows with these
// norms, on the path in use.
func clampRows(s, norms []float64, l limit) {
	norms = norms[:len(s)]
	n := clampVector(s, norms, l)
	clampPortable(s[n:], norms[n:], l)
}

func clampPortable(s, norms []float64, l limit) {
	for i, norm := range norms {
		b := 0.0
		if norm > 0 {
			b = l.bound / norm
		}
		s[i] = clamp(s[i]*l.scale, b)
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
		length, e, ok := measure(w)
		down, c := 0.0, 0.0
		if ok && norms[i] > 0 {
			down, c = math.Ldexp(1, -e), min(math.Ldexp(l.scale, e), l.bound/norms[i]/length)
		}
		for j, x := range w {
			s[j*h+i] = c * (x * down)
		}
	}
}
