package prior

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Small dense matrices are slices of rows; blocks of vectors are slices of columns.

// gram is AᵀB of columns.
func gram(a, b [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for i := range a {
		out[i] = make([]float64, len(b))
		for j := range b {
			out[i][j] = floats.Dot(a[i], b[j])
		}
	}
	return out
}

// product is M Mᵀ.
func product(m [][]float64) [][]float64 { return gram(m, m) }

func symmetric(m [][]float64) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = make([]float64, len(m))
		for j := range m {
			out[i][j] = (m[i][j] + m[j][i]) / 2
		}
	}
	return out
}

// orthonormal is the Q of a QR decomposition of columns. A column that depends on those in front of
// it becomes zero.
func orthonormal(v [][]float64) [][]float64 {
	out := make([][]float64, 0, len(v))
	for _, c := range v {
		c = append([]float64(nil), c...)
		for range 2 {
			for _, b := range out {
				add(c, b, -floats.Dot(b, c))
			}
		}
		if n := math.Sqrt(floats.Dot(c, c)); n > 0 {
			for i := range c {
				c[i] /= n
			}
		}
		out = append(out, c)
	}
	return out
}

// span is an orthonormal basis of the span of vectors.
func span(v [][]float64) [][]float64 {
	var out [][]float64
	for _, c := range v {
		c = append([]float64(nil), c...)
		least := 1e-8 * math.Sqrt(floats.Dot(c, c))
		for range 2 {
			for _, b := range out {
				add(c, b, -floats.Dot(b, c))
			}
		}
		if n := math.Sqrt(floats.Dot(c, c)); n > least {
			floats.Scale(1/n, c)
			out = append(out, c)
		}
	}
	return out
}

// coordinates are the inner products of v with each of a basis, and combined is the sum of vectors,
// each times its weight. With span they do what package linalg does, but faster (BenchmarkBegun):
// draws need not be the same bits on every processor.
func coordinates(v []float64, basis [][]float64) []float64 { return gram([][]float64{v}, basis)[0] }

func combined(weights []float64, vectors [][]float64) []float64 {
	out := make([]float64, len(vectors[0]))
	for i, v := range vectors {
		add(out, v, weights[i])
	}
	return out
}

// add is y += a·x.
func add(y, x []float64, a float64) { floats.AddScaled(y, a, x) }

// times is the columns A·m.
func times(a [][]float64, m [][]float64) [][]float64 {
	out := make([][]float64, len(m[0]))
	for j := range out {
		out[j] = make([]float64, len(a[0]))
		for i := range a {
			add(out[j], a[i], m[i][j])
		}
	}
	return out
}
