package score

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestShortest: the text of every number is the library's.
func TestShortest(t *testing.T) {
	check := func(v float64) {
		for _, v := range []float64{v, -v} {
			want := strconv.AppendFloat([]byte("7,"), v, 'g', -1, 64)
			if got := appendShortest([]byte("7,"), v); !bytes.Equal(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
		}
	}
	for _, v := range []float64{0, math.Inf(1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64} {
		check(v)
	}
	rng := rand.New(rand.NewPCG(15, 16))
	for e := -12; e <= 12; e++ {
		at := math.Pow10(e)
		for _, v := range []float64{at, math.Nextafter(at, 0), math.Nextafter(at, 1e300), 1.5 * at, 9 * at, 12345678 * at} {
			check(v)
		}
		for range 500 {
			check(at * rng.NormFloat64())
			check(float64(rng.IntN(1000)) * at)
		}
	}
	for range 20_000 {
		check(math.Float64frombits(rng.Uint64()))
	}
}
