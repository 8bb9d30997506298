package clip

// read is the sum of all words of v, as fast as the machine reads: the limit to which the kernels are compared. len(v) is a multiple of 64.
func read(v []float64) uint64 {
	switch all := supported(); all[len(all)-1] {
	case avx512:
		return readAVX512(&v[0], len(v))
	case avx2:
		return readAVX2(&v[0], len(v))
	}
	return readPortable(v)
}
