package linalg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestLeadingSingularIsExact: columns that are read in parts give to the last bit what whole ones
// give, where a part is short, and where the columns end with one.
func TestLeadingSingularIsExact(t *testing.T) {
	for _, d := range []int{1, panel - 1, panel, panel + 1, 2*panel + 77} {
		rng := rand.New(rand.NewPCG(3, uint64(d)))
		columns, big := make([][]float64, 7), 0.0
		for j := range columns {
			columns[j] = make([]float64, d)
			for l := range columns[j] {
				columns[j][l] = rng.NormFloat64() + 1e3*math.Sin(float64(l))
			}
			big = max(big, Norm(columns[j]))
		}
		gram := mat.NewSymDense(len(columns), nil)
		for i, a := range columns {
			for j := i; j < len(columns); j++ {
				sum := 0.0
				for l := range a {
					sum += float64((a[l] / big) * (columns[j][l] / big))
				}
				gram.SetSym(i, j, sum)
			}
		}
		values, w, ok := Eigen(gram)
		vectors, sizes, found := LeadingSingular(ColumnsOf(columns), 3)
		if !ok || !found {
			t.Fatalf("%d numbers: no decomposition", d)
		}
		for i, v := range vectors {
			at := len(columns) - 1 - i
			if want := big * math.Sqrt(max(0, values[at])); sizes[i] != want {
				t.Errorf("%d numbers: singular value %d is %v, want %v", d, i, sizes[i], want)
			}
			for l := range v {
				want := 0.0
				for j, c := range columns {
					want += float64(w.At(j, at) * c[l])
				}
				if v[l] != want {
					t.Fatalf("%d numbers: number %d of vector %d is %v, want %v", d, l, i, v[l], want)
				}
			}
		}
	}
}
