package study

import (
	"math"
	"strings"
	"testing"

	"covey/internal/noise"
)

// TestRefusalsHaveTheirDelta: what the release checks may refuse comes out of δ, so that the charges fit into what
// is left of it. At δ = 10^-15 that is a part that shows.
func TestRefusalsHaveTheirDelta(t *testing.T) {
	p := mustPlan(t, strings.Replace(minimal, "epsilon = 1.0\ndelta = 1e-6", "epsilon = 2.0\ndelta = 1e-15\nrounds = 10", 1), 1000, 2000, 3000)
	aside := float64(len(p.Queries)) * (1 + math.Exp(2)) * noise.FalseReject
	if spent, err := noise.Epsilon(p.Rho, 1e-15-aside); err != nil || spent > 2 {
		t.Errorf("ε = %v at a δ of 10^-15 less %.3g, %v", spent, aside, err)
	}
}
