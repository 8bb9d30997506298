// Package kernel measures the fused sum of internal/clip next to what it is compared with, on the
// same rows: the machine's plain read, and gonum's and OpenBLAS's products without clipping or
// rounding. It holds benchmarks alone.
//
// With -tags openblas, which needs cgo and Debian's libopenblas-dev, OpenBLAS takes part.
package kernel

// openblas has OpenBLAS's products of n rows y of length d, on one thread; nil without the build
// tag.
var openblas struct {
	gemv func(n, d int, y, x, s, z []float64)    // s = Yx, z = Yᵀs
	gemm func(n, d, k int, y, x, s, z []float64) // S = YXᵀ, Z = SᵀY, for k rows x
}
