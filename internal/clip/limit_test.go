package clip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

// product draws what a dot product or a norm may be, often at an edge.
func product(rng *rand.Rand) float64 {
	edges := []float64{0, math.Copysign(0, -1), 0x1p-1074, 0x1p-1000, math.Nextafter(0x1p-1000, 0), math.Nextafter(0x1p-1000, 1), 0x1p-480, 1, 2, math.Nextafter(2, 0), 0x1p500, 0x1p501}
	sign := float64(1 - 2*rng.IntN(2))
	switch rng.IntN(4) {
	case 0:
		return sign * edges[rng.IntN(len(edges))]
	case 1:
		return sign * math.Ldexp(1+rng.Float64(), rng.IntN(1500)-1000)
	}
	return rng.NormFloat64()
}

func drawLimit(rng *rand.Rand) limit {
	r := math.Ldexp(1+rng.Float64(), rng.IntN(398)-199)
	g := math.Ldexp(query.Grid(r), -rng.IntN(24))
	return limit{scale: 1 / g, bound: r / g * margin}
}

// Coefficients are the same to the bit on every path, but for the sign of a zero, and within the
// bound: every number of rows to 21 and of directions to 9.
func TestCoefficientsAreTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	zero := func(v []float64) []float64 { // -0 becomes +0
		for i := range v {
			v[i] += 0
		}
		return v
	}
	clipped, whole := 0, 0
	for trial := range 20000 {
		h, k, l := trial%22, 1+trial%9, drawLimit(rng)
		s, norms := make([]float64, k*h), make([]float64, h)
		for i := range s {
			s[i] = product(rng)
		}
		for i := range norms {
			norms[i] = math.Abs(product(rng))
		}
		rows, block := slices.Clone(s[:h]), slices.Clone(s)
		clampPortable(rows, norms, l)
		clampBlockPortable(block, norms, make([]float64, k), h, 0, l)
		for i, c := range rows {
			if math.Abs(c)*norms[i] > l.bound*(1+0x1p-50) {
				t.Fatalf("%v times a norm of %v is above %v", c, norms[i], l.bound)
			}
			if norms[i] > 0 && c == s[i]*l.scale {
				whole++
			} else {
				clipped++
			}
		}
		for _, p := range supported() {
			on(p, func() {
				got, all := slices.Clone(s[:h]), slices.Clone(s)
				clampRows(got, norms, l)
				clampBlock(all, norms, make([]float64, k), h, l)
				if !slices.Equal(zero(got), zero(rows)) || !slices.Equal(zero(all), zero(block)) {
					t.Fatalf("%s: h=%d k=%d %+v: products %v, norms %v: got %v and %v, want %v and %v", pathNames[p], h, k, l, s, norms, got, all, rows, block)
				}
			})
		}
	}
	if clipped < 1000 || whole < 1000 {
		t.Errorf("%d clipped and %d whole", clipped, whole)
	}
}

// A product that is not a number, which there is none of, would still end within the bound.
func TestCoefficientsOfNoNumber(t *testing.T) {
	l := limit{scale: 0x1p10, bound: 0x1p20}
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, p := range supported() {
			on(p, func() {
				s := []float64{odd, odd, odd, odd}
				clampRows(s, []float64{1, 2, 4, 0}, l)
				for i, b := range []float64{0x1p20, 0x1p19, 0x1p18, 0} {
					if math.Abs(s[i]) != b {
						t.Errorf("%s: %v became %v, not within %v", pathNames[p], odd, s[i], b)
					}
				}
			})
		}
		// The kernel alone: in Go 0·NaN stays.
		if p := slices.Max(supported()); p != portable {
			on(p, func() {
				s := []float64{1, odd, 1, 1, odd, 1, 1, 1}
				if n := clampBlockVector(s, []float64{1, 1, 1, 1}, 2, 4, l); n != 4 || s[0] != 0 || s[1] != 0 || s[4] != 0 || s[5] != 0 || s[2] == 0 {
					t.Errorf("%v: %v", odd, s)
				}
			})
		}
	}
}

// More directions than measure adds up in one run are left to Go.
func TestCoefficientsOfManyDirections(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	const k, h = run + 3, 5
	s, norms, l := gaussian(rng, k*h), []float64{1, 2, 3, 4, 5}, limit{scale: 0x1p20, bound: 0x1p21}
	want := slices.Clone(s)
	clampBlockPortable(want, norms, make([]float64, k), h, 0, l)
	for _, p := range supported() {
		on(p, func() {
			got := slices.Clone(s)
			clampBlock(got, norms, make([]float64, k), h, l)
			if !slices.Equal(got, want) {
				t.Errorf("%s differs", pathNames[p])
			}
		})
	}
}

// What stands in for branches on lengths is exact at its edges.
func TestNoLength(t *testing.T) {
	inf := math.Inf(1)
	for _, x := range []float64{0x1p-1074, 0x1p-1022, 0x1p-480, 1, math.MaxFloat64, inf} {
		if got := infiniteIfZero(x); got != x {
			t.Errorf("infiniteIfZero(%v) = %v", x, got)
		}
	}
	if got := infiniteIfZero(0); got != inf {
		t.Errorf("infiniteIfZero(0) = %v", got)
	}
	below := math.Nextafter(tinySquare, 0)
	for x, want := range map[float64]float64{0: 0, 0x1p-1074: 0, below: 0, tinySquare: tinySquare, 1: 1, math.MaxFloat64: math.MaxFloat64} {
		if got := zeroBelow(x, tinySquare); got != want {
			t.Errorf("zeroBelow(%v) = %v", x, got)
		}
	}
}

// TestFillFitsAMatrix: a prediction beyond what a matrix holds is brought to the nearest that it
// can.
func TestFillFitsAMatrix(t *testing.T) {
	a := math.Sqrt(fillRidge)
	// The second coordinate is predicted as 2.2 times the first.
	v := []float64{a, math.Sqrt(1 - a*a)}
	for _, sign := range []float64{-1, 1} {
		m, err := NewGapped(2, []float64{sign * top(2), 0}, []byte{2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m, err = m.Fill(v, nil); err != nil {
			t.Fatal(err)
		}
		if got := rowOf(m, 0); got[0] != sign*top(2) || got[1] != sign*top(2) {
			t.Errorf("filled %v, the most is %v", got, top(2))
		}
	}
}
