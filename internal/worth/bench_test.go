package worth

import (
	"math"
	"testing"
)

// BenchmarkDraw is one simulated study of five components, 64 columns and 24 rounds.
func BenchmarkDraw(b *testing.B) {
	s := &shape{d: 64, k: 5, n: 5000, pooled: true}
	for i := range 24 {
		s.tau = append(s.tau, 0.08/math.Sqrt(float64(i+1)))
	}
	rng := seeded(1)
	for b.Loop() {
		s.one(rng)
	}
}
