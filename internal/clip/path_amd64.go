package clip

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// supported are the paths that processor and system have: cpu also asks whether the system saves the registers.
func supported() []path {
	all := []path{portable}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		all = append(all, avx2)
		if cpu.X86.HasAVX512F {
			all = append(all, avx512)
		}
	}
	return all
}

// dotsVector is dots where the path in use has a kernel for it. rows are len(s) rows as long as x, and not empty: the assembly trusts that.
func dotsVector[T number](s []float64, rows []T, x []float64) bool {
	p := path(active.Load())
	if p == portable {
		return false
	}
	ahead := ahead(rows)
	switch r := any(&rows[0]).(type) { // a pointer in an interface is not a copy
	case *float64:
		if p == avx512 {
			dotsAVX512(&s[0], r, &x[0], len(s), len(x), ahead)
		} else {
			dotsAVX2(&s[0], r, &x[0], len(s), len(x), ahead)
		}
	case *float32:
		if p == avx512 {
			dots32AVX512(&s[0], r, &x[0], len(s), len(x), ahead)
		} else {
			dots32AVX2(&s[0], r, &x[0], len(s), len(x), ahead)
		}
	}
	return true
}

// accumulateVector is accumulate where the path in use has a kernel for it. rows are len(c) rows as long as acc, and not empty.
func accumulateVector[T number](acc []uint64, rows []T, c []float64) bool {
	p := path(active.Load())
	if p == portable {
		return false
	}
	ahead := ahead(rows)
	switch r := any(&rows[0]).(type) {
	case *float64:
		if p == avx512 {
			accumulateAVX512(&acc[0], r, &c[0], len(c), len(acc), ahead)
		} else {
			accumulateAVX2(&acc[0], r, &c[0], len(c), len(acc), ahead)
		}
	case *float32:
		if p == avx512 {
			accumulate32AVX512(&acc[0], r, &c[0], len(c), len(acc), ahead)
		} else {
			accumulate32AVX2(&acc[0], r, &c[0], len(c), len(acc), ahead)
		}
	}
	return true
}

// ahead is how many bytes after a row the kernels fetch. What follows rows in memory is most often the next block: half of its rows are fetched in
// each of the two passes over this one, so that memory is at work throughout. Where a cache has no room for both, what is fetched is at hand.
func ahead[T number](rows []T) int {
	if n := int(unsafe.Sizeof(rows[0])) * len(rows); n <= farBytes {
		return n
	}
	return 0
}
