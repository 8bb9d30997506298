package clip

import "unsafe"

// stored are values as a matrix keeps them: all float64, or all float32. It is never written to.
type stored struct {
	wide   []float64
	narrow []float32
	far    int // as in [dots]
}

// end is where v ends in memory.
func (v stored) end() uintptr {
	if v.narrow != nil {
		return uintptr(unsafe.Pointer(unsafe.SliceData(v.narrow))) + 4*uintptr(len(v.narrow))
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(v.wide))) + 8*uintptr(len(v.wide))
}

// part is values lo to hi-1.
func (v stored) part(lo, hi int) stored {
	if v.narrow != nil {
		return stored{narrow: v.narrow[lo:hi]}
	}
	return stored{wide: v.wide[lo:hi]}
}

// widened is v as float64, which is exact: v itself, not to be written to, or a copy in scratch,
// which grows to hold it.
func (v stored) widened(scratch *[]float64) []float64 {
	if v.narrow == nil {
		return v.wide
	}
	if cap(*scratch) < len(v.narrow) {
		*scratch = make([]float64, len(v.narrow))
	}
	out := (*scratch)[:len(v.narrow)]
	for i, x := range v.narrow {
		out[i] = float64(x)
	}
	return out
}

// subtract sets out to rows v less a center, each value kept within ±top. out may be v.
func (v stored) subtract(out, center []float64, top float64) {
	if v.narrow != nil {
		subtract(out, v.narrow, center, top)
		return
	}
	subtract(out, v.wide, center, top)
}

// standard sets out to (v - center)/scale within ±limit, 0 where the scale is.
func (v stored) standard(out, center, scale, limit []float64) {
	if v.narrow != nil {
		standard(out, v.narrow, center, scale, limit)
		return
	}
	standard(out, v.wide, center, scale, limit)
}

// order moves v's values in place, d at a time, run i to run to[i], which this uses up.
func (v stored) order(d int, to []int) {
	if v.narrow != nil {
		order(d, v.narrow, to)
		return
	}
	order(d, v.wide, to)
}

func order[T number | byte](d int, values []T, to []int) {
	for i := range to {
		for at := to[i]; at != i; at = to[i] { // each turn takes one run to its place
			a, b := values[i*d:(i+1)*d], values[at*d:(at+1)*d]
			for j := range a {
				a[j], b[j] = b[j], a[j]
			}
			to[i], to[at] = to[at], at
		}
	}
}

// dots is the function of that name for rows v.
func (v stored) dots(s, x []float64) {
	if v.narrow != nil {
		dots(s, v.narrow, x, v.far)
		return
	}
	dots(s, v.wide, x, v.far)
}

// dotsBlock is the function of that name for rows v.
func (v stored) dotsBlock(s, x []float64, h, d int) {
	if v.narrow != nil {
		dotsBlock(s, v.narrow, x, h, d, v.far)
		return
	}
	dotsBlock(s, v.wide, x, h, d, v.far)
}

// accumulateBlock is the function of that name for rows v.
func (v stored) accumulateBlock(acc []uint64, c []float64, h, d int) {
	if v.narrow != nil {
		accumulateBlock(acc, v.narrow, c, h, d, v.far)
		return
	}
	accumulateBlock(acc, v.wide, c, h, d, v.far)
}

// accumulate is the function of that name for rows v.
func (v stored) accumulate(acc []uint64, c []float64) {
	if v.narrow != nil {
		accumulate(acc, v.narrow, c, v.far)
		return
	}
	accumulate(acc, v.wide, c, v.far)
}
