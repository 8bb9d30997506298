package clip

import "math"

// momentRows adds y yᵀ·min(1/g, bound/‖y‖²), for rows that are units: its upper triangle row by
// row, off the diagonal times √2.
func (m *Matrix) momentRows(l limit, height int, norms []float64) func(acc []uint64, lo, hi int) {
	scratch := make([]float64, height)
	from, panel := m.reader(), newPanel(height, m.d)
	return func(acc []uint64, lo, hi int) {
		c := scratch[:hi-lo]
		for i, norm := range norms[lo:hi] {
			c[i] = min(l.scale, l.bound/infiniteIfZero(norm*norm))
		}
		rows := from.widened(lo, hi)
		if path(active.Load()) == portable {
			momentPortable(acc, rows, c, m.d)
			return
		}
		panel.add(acc, rows, c, m.d)
	}
}

// momentPortable adds c[i]·y yᵀ of each row to a triangle of d lines. A line stays in cache while
// all rows are added to it.
func momentPortable(acc []uint64, rows, c []float64, d int) {
	for j := range d {
		line, sum, i := acc[1:d-j], acc[0], 0
		for ; i+4 <= len(c); i += 4 {
			r := rows[i*d : (i+4)*d]
			a0, a1, a2, a3 := r[j], r[d+j], r[2*d+j], r[3*d+j]
			sum += math.Float64bits(math.FMA(c[i]*a0, a0, round)) +
				math.Float64bits(math.FMA(c[i+1]*a1, a1, round)) +
				math.Float64bits(math.FMA(c[i+2]*a2, a2, round)) +
				math.Float64bits(math.FMA(c[i+3]*a3, a3, round))
			add4(line, r[j+1:d], r[d+j+1:2*d], r[2*d+j+1:3*d], r[3*d+j+1:], off(c[i])*a0, off(c[i+1])*a1, off(c[i+2])*a2, off(c[i+3])*a3)
		}
		for ; i < len(c); i++ {
			r := rows[i*d : (i+1)*d]
			sum += math.Float64bits(math.FMA(c[i]*r[j], r[j], round))
			add1(line, r[j+1:], off(c[i])*r[j])
		}
		acc[0] = sum
		acc = acc[d-j:]
	}
}

// off is the coefficient of a row's products off the diagonal.
func off(c float64) float64 { return c * math.Sqrt2 }

// panelLines is how many lines of the triangle the kernels add to at a time, and so how often the
// tails of a block's rows are copied: once in sixteen products.
const panelLines = 16

// panel is a worker's scratch for lines of the triangle that are added to together, by the kernels
// for several directions: line j adds the tails of the rows, each times y_j. What falls on the
// diagonal and left of it is dropped.
type panel struct {
	tails []float64 // of the rows, from the panel's first column on
	wide  []float64 // coefficients, by line and row
	sums  []uint64  // by line and column
}

func newPanel(height, d int) *panel {
	lines := min(panelLines, d)
	return &panel{make([]float64, height*d), make([]float64, lines*height), make([]uint64, lines*d)}
}

// add is momentPortable.
func (p *panel) add(acc []uint64, rows, c []float64, d int) {
	h := len(c)
	for first := 0; first < d; first += panelLines {
		lines, w := min(panelLines, d-first), d-first
		for i, ci := range c {
			tail := p.tails[i*w : (i+1)*w]
			copy(tail, rows[i*d+first:])
			for j, y := range tail[:lines] {
				p.wide[j*h+i] = off(ci) * y
			}
		}
		sums := p.sums[:lines*w]
		clear(sums)
		accumulateBlock(sums, p.tails, p.wide[:lines*h], h, w, 0)
		for j := range lines {
			for i, ci := range c {
				y := p.tails[i*w+j]
				acc[0] += math.Float64bits(math.FMA(ci*y, y, round))
			}
			for k, v := range sums[j*w+j+1 : (j+1)*w] {
				acc[1+k] += v
			}
			acc = acc[w-j:]
		}
	}
}

// blendMoment adds Σ y yᵀ over rows to v, an upper triangle row by row without the √2.
func blendMoment(v, rows []float64, d int) {
	for j := range d {
		blendApart(v[:d-j], rows[j:], rows[j:], len(rows)/d, d, d)
		v = v[d-j:]
	}
}

// addMoment adds v·min(1/g, bound/trace) to acc, entries off the diagonal times √2. A trace that is
// not finite adds nothing.
func addMoment(acc []uint64, v []float64, d int, l limit) {
	trace := 0.0
	for j, at := 0, 0; j < d; j++ {
		trace += v[at]
		at += d - j
	}
	c, ok := momentCoefficient(trace, l)
	if !ok {
		return
	}
	wide := off(c)
	for j := range d {
		acc[0] += math.Float64bits(math.FMA(c, v[0], round)) - roundBits
		for i, x := range v[1 : d-j] {
			acc[1+i] += math.Float64bits(math.FMA(wide, x, round)) - roundBits
		}
		acc, v = acc[d-j:], v[d-j:]
	}
}
