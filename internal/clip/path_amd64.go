package clip

import "golang.org/x/sys/cpu"

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
func dotsVector(s, rows, x []float64) bool {
	switch path(active.Load()) {
	case avx2:
		dotsAVX2(&s[0], &rows[0], &x[0], len(s), len(x))
	case avx512:
		dotsAVX512(&s[0], &rows[0], &x[0], len(s), len(x))
	default:
		return false
	}
	return true
}

// accumulateVector is accumulate where the path in use has a kernel for it. rows are len(c) rows as long as acc, and not empty.
func accumulateVector(acc []uint64, rows, c []float64) bool {
	// What follows rows in memory is most often the next block: it is fetched while this one, in cache, is worked on. There is no room for
	// more than longRow allows: then what is fetched is at hand.
	ahead := 8 * len(rows)
	if len(acc) > longRow {
		ahead = 0
	}
	switch path(active.Load()) {
	case avx2:
		accumulateAVX2(&acc[0], &rows[0], &c[0], len(c), len(acc), ahead)
	case avx512:
		accumulateAVX512(&acc[0], &rows[0], &c[0], len(c), len(acc), ahead)
	default:
		return false
	}
	return true
}
