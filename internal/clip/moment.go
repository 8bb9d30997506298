package clip

import "math"

// momentRows adds y yᵀ·min(1/g, bound/‖y‖²), for rows that are units: its upper triangle row by
// row, off the diagonal times √2.
func (m *Matrix) momentRows(l limit, height int, norms []float64) func(acc []uint64, lo, hi int) {
	d := m.d
	scratch, wide := make([]float64, height), make([]float64, height)
	from := m.reader()
	return func(acc []uint64, lo, hi int) {
		c, off := scratch[:hi-lo], wide[:hi-lo]
		for i, norm := range norms[lo:hi] {
			c[i] = 0
			if norm > 0 {
				c[i] = min(l.scale, l.bound/(norm*norm))
			}
			off[i] = c[i] * math.Sqrt2
		}
		rows := from.widened(lo, hi)
		// A row of the triangle stays in cache while all rows of the block are added to it.
		for j := range d {
			line := acc[1 : d-j]
			sum := acc[0]
			i := 0
			for ; i+4 <= len(c); i += 4 {
				r := rows[i*d : (i+4)*d]
				a0, a1, a2, a3 := r[j], r[d+j], r[2*d+j], r[3*d+j]
				sum += math.Float64bits(math.FMA(c[i]*a0, a0, round)) +
					math.Float64bits(math.FMA(c[i+1]*a1, a1, round)) +
					math.Float64bits(math.FMA(c[i+2]*a2, a2, round)) +
					math.Float64bits(math.FMA(c[i+3]*a3, a3, round))
				add4(line, r[j+1:d], r[d+j+1:2*d], r[2*d+j+1:3*d], r[3*d+j+1:], off[i]*a0, off[i+1]*a1, off[i+2]*a2, off[i+3]*a3)
			}
			for ; i < len(c); i++ {
				r := rows[i*d : (i+1)*d]
				sum += math.Float64bits(math.FMA(c[i]*r[j], r[j], round))
				add1(line, r[j+1:], off[i]*r[j])
			}
			acc[0] = sum
			acc = acc[d-j:]
		}
	}
}

// blendMoment adds Σ y yᵀ over rows to v, an upper triangle row by row without the √2.
func blendMoment(v, rows []float64, d int) {
	for j := range d {
		line := v[:d-j]
		r := rows
		for ; len(r) >= 4*d; r = r[4*d:] {
			blend4(line, r[j:d], r[d+j:2*d], r[2*d+j:3*d], r[3*d+j:4*d], r[j], r[d+j], r[2*d+j], r[3*d+j])
		}
		for ; len(r) > 0; r = r[d:] {
			blend1(line, r[j:d], r[j])
		}
		v = v[d-j:]
	}
}

// addMoment adds v·min(1/g, bound/trace) to acc, entries off the diagonal times √2. A trace that is
// not finite (there is none, as in addClipped) adds nothing.
func addMoment(acc []uint64, v []float64, d int, l limit) {
	trace := 0.0
	for j, at := 0, 0; j < d; j++ {
		trace += v[at]
		at += d - j
	}
	if !(trace >= 0 && trace <= math.MaxFloat64) {
		return
	}
	c := min(l.scale, l.bound/trace)
	off := c * math.Sqrt2
	for j := range d {
		acc[0] += math.Float64bits(math.FMA(c, v[0], round)) - roundBits
		for i, x := range v[1 : d-j] {
			acc[1+i] += math.Float64bits(math.FMA(off, x, round)) - roundBits
		}
		acc, v = acc[d-j:], v[d-j:]
	}
}
