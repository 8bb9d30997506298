package result

import (
	"math"
	"testing"
)

// TestAngle: the angle is 0 in the span, 90° across it, and exact where it is small.
func TestAngle(t *testing.T) {
	block := [][]float64{{1, 0, 0}, {0, 1, 0}}
	for _, degrees := range []float64{0, 1e-10, 1e-3, 1, 30, 45, 89, 90} {
		c, s := math.Cos(degrees*math.Pi/180), math.Sin(degrees*math.Pi/180)
		if got := angle([]float64{0.6 * c, 0.8 * c, s}, block); math.Abs(got-degrees) > 1e-12+1e-6*degrees {
			t.Errorf("%v°, want %v°", got, degrees)
		}
	}
}
