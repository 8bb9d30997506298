package clip

// powerRows adds the power vectors of one direction, for rows that are units: with s = yᵀx, c =
// clamp(s/g, ±bound/‖y‖), they are c·y.
func (m *Matrix) powerRows(q Query, l limit, height int, norms []float64) func(acc []uint64, lo, hi int) {
	scratch, from := make([]float64, height), m.reader()
	return func(acc []uint64, lo, hi int) {
		s, rows := scratch[:hi-lo], from.rows(lo, hi)
		rows.dots(s, q.X)
		clampRows(s, norms[lo:hi], l)
		rows.accumulate(acc, s)
	}
}

// blockRows is powerRows for k directions: with s the k products, c = s·min(1/g, (bound/‖y‖)/‖s‖),
// and the vectors are c_1·y … c_k·y, together of length ‖c‖·‖y‖.
func (m *Matrix) blockRows(q Query, l limit, height int, norms []float64) func(acc []uint64, lo, hi int) {
	d, k := m.d, len(q.X)/m.d
	scratch, w, from := make([]float64, k*height), make([]float64, k), m.reader()
	return func(acc []uint64, lo, hi int) {
		h, rows := hi-lo, from.rows(lo, hi)
		rows.dotsBlock(scratch, q.X, h, d)
		clampBlock(scratch, norms[lo:hi], w, h, l)
		rows.accumulateBlock(acc, scratch, h, d)
	}
}

// meanRows adds y·min(1/g, bound/‖y‖), for rows that are units.
func (m *Matrix) meanRows(l limit, height int, norms []float64) func(acc []uint64, lo, hi int) {
	scratch, from := make([]float64, height), m.reader()
	return func(acc []uint64, lo, hi int) {
		c := scratch[:hi-lo]
		for i, norm := range norms[lo:hi] {
			c[i] = min(l.scale, l.bound/infiniteIfZero(norm))
		}
		from.rows(lo, hi).accumulate(acc, c)
	}
}
