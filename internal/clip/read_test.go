package clip

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What benchmarks call a read reads every word.
func TestReadReadsAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for n := 0; n < 3*4096; n += 1 + rng.IntN(400) {
		values, want := make([]float64, n), uint64(0)
		for i := range values {
			b := rng.Uint64N(1 << 62)
			values[i] = math.Float64frombits(b)
			want += b
		}
		for _, p := range supported() {
			on(p, func() {
				if got := Read(values); got != want {
					t.Errorf("%s: %d words: got %d, want %d", pathNames[p], n, got, want)
				}
			})
		}
	}
}
