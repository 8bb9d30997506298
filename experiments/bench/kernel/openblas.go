//go:build openblas

package kernel

/*
#cgo LDFLAGS: -lopenblas
#include <cblas-openblas.h> // Debian's name for it: cblas.h may be another library's
*/
import "C"

func init() {
	C.openblas_set_num_threads(1)
	openblas.gemv, openblas.gemm = gemv, gemm
}

func pointer(v []float64) *C.double { return (*C.double)(&v[0]) }

func gemv(n, d int, y, x, s, z []float64) {
	rows, columns := C.blasint(n), C.blasint(d)
	C.cblas_dgemv(C.CblasRowMajor, C.CblasNoTrans, rows, columns, 1, pointer(y), columns, pointer(x), 1, 0, pointer(s), 1)
	C.cblas_dgemv(C.CblasRowMajor, C.CblasTrans, rows, columns, 1, pointer(y), columns, pointer(s), 1, 0, pointer(z), 1)
}

func gemm(n, d, k int, y, x, s, z []float64) {
	rows, columns, directions := C.blasint(n), C.blasint(d), C.blasint(k)
	C.cblas_dgemm(C.CblasRowMajor, C.CblasNoTrans, C.CblasTrans, rows, directions, columns, 1, pointer(y), columns, pointer(x), columns, 0, pointer(s), directions)
	C.cblas_dgemm(C.CblasRowMajor, C.CblasTrans, C.CblasNoTrans, directions, columns, rows, 1, pointer(s), directions, pointer(y), columns, 0, pointer(z), columns)
}
