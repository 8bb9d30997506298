package clip

// stored are values as a matrix keeps them: all float64, or all float32. It is never written to.
type stored struct {
	wide   []float64
	narrow []float32
}

func (v stored) len() int { return len(v.wide) + len(v.narrow) }

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

// order is v with d values at a time moved, run i to run to[i].
func (v stored) order(d int, to []int) stored {
	if v.narrow != nil {
		return stored{narrow: order(d, v.narrow, to)}
	}
	return stored{wide: order(d, v.wide, to)}
}

func order[T number | byte](d int, values []T, to []int) []T {
	out := make([]T, len(values))
	for i, at := range to {
		copy(out[at*d:(at+1)*d], values[i*d:(i+1)*d])
	}
	return out
}

// dots is the function of that name for rows v.
func (v stored) dots(s, x []float64) {
	if v.narrow != nil {
		dots(s, v.narrow, x)
		return
	}
	dots(s, v.wide, x)
}

// dotsBlock is the function of that name for rows v.
func (v stored) dotsBlock(s, x []float64, h, d int) {
	if v.narrow != nil {
		dotsBlock(s, v.narrow, x, h, d)
		return
	}
	dotsBlock(s, v.wide, x, h, d)
}

// accumulateBlock is the function of that name for rows v.
func (v stored) accumulateBlock(acc []uint64, c []float64, h, d int) {
	if v.narrow != nil {
		accumulateBlock(acc, v.narrow, c, h, d)
		return
	}
	accumulateBlock(acc, v.wide, c, h, d)
}

// accumulate is the function of that name for rows v.
func (v stored) accumulate(acc []uint64, c []float64) {
	if v.narrow != nil {
		accumulate(acc, v.narrow, c)
		return
	}
	accumulate(acc, v.wide, c)
}
