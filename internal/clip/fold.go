package clip

// fold turns one unit after another into one float64 vector, the sum of its rows' maps: a worker's
// own. What it computes depends on the unit's rows, in their order, and on the query alone: rows go
// four at a time from the unit's first, whatever the height of a block.
type fold struct {
	m      *Matrix
	q      Query
	v      []float64 // the unit's vector; a moment without the √2
	s      []float64 // scratch: one number for each row of a block
	from   *reader
	norms  []float64 // of rows; nil where the map needs none
	height int       // a multiple of four
}

func newFold(m *Matrix, q Query, norms []float64, blockBytes int) *fold {
	height := m.height(blockBytes)
	return &fold{m: m, from: m.reader(), norms: norms, q: q, v: make([]float64, q.Values(m.d)), s: make([]float64, height), height: height}
}

// unit sets v to the vector of unit i.
func (f *fold) unit(i int) {
	first, end := f.m.unit(i)
	d := f.m.d
	clear(f.v)
	for lo := first; lo < end; lo += f.height {
		hi := min(lo+f.height, end)
		s, rows := f.s[:hi-lo], f.from.widened(lo, hi)
		switch f.q.Map {
		case Power:
			for at := 0; at < len(f.v); at += d {
				dots(s, rows, f.q.X[at:at+d], 0)
				blend(f.v[at:at+d], rows, s)
			}
		case Mean:
			for i := range s {
				s[i] = 1
			}
			blend(f.v, rows, s)
		case Moment:
			blendMoment(f.v, rows, d)
		case Variance:
			for j := range f.v {
				dots(s, rows, f.q.X[j*d:(j+1)*d], 0)
				for _, t := range s {
					f.v[j] += float64(t * t)
				}
			}
		case Total:
			for _, norm := range f.norms[lo:hi] {
				f.v[0] += float64(norm * norm)
			}
		case Rows:
			for i := lo; i < hi; i++ {
				f.v[0] += float64(f.m.there(i))
			}
		default: // no code here but the table's
			add := f.q.Map.definition().Map
			for i := lo; i < hi; i++ {
				if !f.m.gone(i) {
					at := (i - lo) * d
					add(f.v, rows[at:at+d], f.q.X)
				}
			}
		}
	}
}

// add adds the vector of the last unit to acc, clipped and rounded once.
func (f *fold) add(acc []uint64, l limit) {
	if f.q.Map == Moment {
		addMoment(acc, f.v, f.m.d, l)
		return
	}
	addClipped(acc, f.v, l)
}
