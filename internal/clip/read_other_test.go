//go:build !amd64

package clip

// read is the sum of all words of v: the limit to which the kernels are compared.
func read(v []float64) uint64 { return readPortable(v) }
