package clip

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// supported are the paths that processor and system have: cpu also asks whether the system saves
// the registers.
func supported() []path {
	all := []path{portable}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, avx2)
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL {
			all = append(all, avx512)
		}
	}
	return all
}

// dotsVector is dots where the path in use has a kernel for it. rows are len(s) rows as long as x,
// and not empty: the assembly trusts that.
func dotsVector[T number](s []float64, rows []T, x []float64, far int) bool {
	if path(active.Load()) == portable {
		return false
	}
	ahead := ahead(rows, far)
	switch r := any(&rows[0]).(type) { // a pointer in an interface is not a copy
	case *float64:
		dotsAVX2(&s[0], r, &x[0], len(s), len(x), ahead)
	case *float32:
		dots32AVX2(&s[0], r, &x[0], len(s), len(x), ahead)
	}
	return true
}

// accumulateVector is accumulate where the path in use has a kernel for it. rows are len(c) rows as
// long as acc, and not empty.
func accumulateVector[T number](acc []uint64, rows []T, c []float64, far int) bool {
	if path(active.Load()) == portable {
		return false
	}
	ahead := ahead(rows, far)
	switch r := any(&rows[0]).(type) {
	case *float64:
		accumulateAVX2(&acc[0], r, &c[0], len(c), len(acc), ahead)
	case *float32:
		accumulate32AVX2(&acc[0], r, &c[0], len(c), len(acc), ahead)
	}
	return true
}

// readVector is the sum of all words of v, a multiple of 4096.
func readVector(v []float64) uint64 {
	switch p := path(active.Load()); {
	case len(v) > 0 && p == avx512:
		return readAVX512(&v[0], len(v))
	case len(v) > 0 && p == avx2:
		return readAVX2(&v[0], len(v))
	}
	return readPortable(v)
}

// clampVector is clampRows for the first n rows, as many as there is a kernel for.
func clampVector(s, norms []float64, l limit) (n int) {
	if n = len(s) &^ 3; n == 0 || path(active.Load()) == portable {
		return 0
	}
	clampAVX2(&s[0], &norms[0], n, l.scale, l.bound)
	return n
}

// clampBlockVector is clampBlock for the first n rows, as many as there is a kernel for.
func clampBlockVector(s, norms []float64, k, h int, l limit) (n int) {
	if n = h &^ 3; n == 0 || path(active.Load()) == portable {
		return 0
	}
	clampBlockAVX2(&s[0], &norms[0], n, k, h, l.scale, l.bound)
	return n
}

// dotsTile is the first part of [dotsBlock]: s for so many directions and so many rows, from the
// first of each on. One direction and no rows: there is no kernel.
func dotsTile[T number](s []float64, rows []T, x []float64, h, d, far int) (width, n int) {
	p, ahead, k := path(active.Load()), ahead(rows, far), len(x)/d
	tile := func(w, step int) bool {
		width, n = w, h/step*step
		return k >= w && n > 0
	}
	switch r := any(&rows[0]).(type) {
	case *float64:
		switch {
		case p == avx512 && tile(4, 4):
			dotsBy4AVX512(&s[0], r, &x[0], n, d, h, ahead)
			return
		case p == avx512 && tile(2, 4):
			dotsBy2AVX512(&s[0], r, &x[0], n, d, h, ahead)
			return
		case p == avx2 && tile(2, 2):
			dotsBy2AVX2(&s[0], r, &x[0], n, d, h, ahead)
			return
		}
	case *float32:
		switch {
		case p == avx512 && tile(4, 4):
			dots32By4AVX512(&s[0], r, &x[0], n, d, h, ahead)
			return
		case p == avx512 && tile(2, 4):
			dots32By2AVX512(&s[0], r, &x[0], n, d, h, ahead)
			return
		case p == avx2 && tile(2, 2):
			dots32By2AVX2(&s[0], r, &x[0], n, d, h, ahead)
			return
		}
	}
	return 1, 0
}

// accumulateTile is the first part of [accumulateBlock], as dotsTile is.
func accumulateTile[T number](acc []uint64, rows []T, c []float64, h, d, far int) (width, n int) {
	p, ahead, k := path(active.Load()), ahead(rows, far), len(acc)/d
	tile := func(w, step int) bool {
		width, n = w, h/step*step
		return k >= w && n > 0
	}
	switch r := any(&rows[0]).(type) {
	case *float64:
		switch {
		case p == avx512 && tile(4, 4):
			accumulateBy4AVX512(&acc[0], r, &c[0], n, d, h, ahead)
			return
		case p == avx512 && tile(2, 4):
			accumulateBy2AVX512(&acc[0], r, &c[0], n, d, h, ahead)
			return
		case p == avx2 && tile(2, 4):
			accumulateBy2AVX2(&acc[0], r, &c[0], n, d, h, ahead)
			return
		}
	case *float32:
		switch {
		case p == avx512 && tile(4, 4):
			accumulate32By4AVX512(&acc[0], r, &c[0], n, d, h, ahead)
			return
		case p == avx512 && tile(2, 4):
			accumulate32By2AVX512(&acc[0], r, &c[0], n, d, h, ahead)
			return
		case p == avx2 && tile(2, 4):
			accumulate32By2AVX2(&acc[0], r, &c[0], n, d, h, ahead)
			return
		}
	}
	return 1, 0
}

// ahead is how many bytes after a row the kernels fetch. The next block most often follows in
// memory: each of the two passes over this one fetches half of its rows, so that memory is busy
// throughout. The next block of derived rows is elsewhere (far). Where a cache has no room for
// both, what is fetched is at hand.
func ahead[T number](rows []T, far int) int {
	if far != 0 {
		return far
	}
	if n := int(unsafe.Sizeof(rows[0])) * len(rows); n <= farBytes {
		return n
	}
	return 0
}

// subtractVector is subtract where the path in use has a kernel for it. rows are whole rows as long
// as center, and not empty.
func subtractVector[T number](out []float64, rows []T, center []float64, top float64) bool {
	if path(active.Load()) == portable {
		return false
	}
	d := len(center)
	switch r := any(&rows[0]).(type) {
	case *float64:
		subtractAVX2(&out[0], r, &center[0], len(out)/d, d, top)
	case *float32:
		subtract32AVX2(&out[0], r, &center[0], len(out)/d, d, top)
	}
	return true
}

// standardVector is standard where the path in use has a kernel for it. center, scale and limit are
// as long as a row.
func standardVector[T number](out []float64, rows []T, center, scale, limit []float64) bool {
	if path(active.Load()) == portable {
		return false
	}
	d := len(center)
	switch r := any(&rows[0]).(type) {
	case *float64:
		standardAVX2(&out[0], r, &center[0], &scale[0], &limit[0], len(out)/d, d)
	case *float32:
		standard32AVX2(&out[0], r, &center[0], &scale[0], &limit[0], len(out)/d, d)
	}
	return true
}

// blendVector is blendApart where the path in use has a kernel for it.
func blendVector(v, rows, c []float64, n, stride, step int) bool {
	if path(active.Load()) == portable {
		return false
	}
	blendAVX2(&v[0], &rows[0], &c[0], n, len(v), stride, step)
	return true
}

// takeOffVector is takeOff where the path in use has a kernel for it. v's length is a multiple of
// eight, at is not empty, and rows holds each row that it names: the assembly trusts that.
func takeOffVector(v, rows []float64, at []int) bool {
	if path(active.Load()) == portable {
		return false
	}
	takeOffAVX2(&v[0], &rows[0], &at[0], len(at), len(v))
	return true
}

// addLinesVector is addLines of n rows where the path in use has a kernel for it.
func addLinesVector(sums []uint64, rows []float64, d, n, stride int, c float64) bool {
	if len(sums) == 0 {
		return true
	}
	switch path(active.Load()) {
	case avx512:
		addLinesAVX512(&sums[0], &rows[0], len(sums)/d, n, d, stride, c)
	case avx2:
		addLinesAVX2(&sums[0], &rows[0], len(sums)/d, n, d, stride, c)
	default:
		return false
	}
	return true
}
