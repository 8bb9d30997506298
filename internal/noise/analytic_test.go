package noise

import (
	"math"
	"testing"
)

// TestAnalyticAgainstExact: 18 digits computed in 60, at small δ, large and small ε.
func TestAnalyticAgainstExact(t *testing.T) {
	for _, row := range table(t, "analytic.csv") {
		sensitivity, sigma, rounds, delta, want := row[0], row[1], int(row[2]), row[3], row[4]
		got, err := AnalyticEpsilon(sensitivity, sigma, rounds, delta)
		if err != nil || !near(got, want, 1e-9*min(1, want)) {
			t.Errorf("%v: ε = %.15g, off by %g (%v)", row, got, got-want, err)
		}
		if back := AnalyticDelta(sensitivity, sigma, rounds, got); !near(back, delta, 1e-9*delta) {
			t.Errorf("%v: δ of ε is %.12g", row, back)
		}
	}
}

func TestDiscreteDeltaAgainstReference(t *testing.T) {
	for _, row := range table(t, "discrete_gaussian.csv") {
		got, err := DiscreteDelta(row[0], row[1], int(row[2]))
		if err != nil || !near(got, row[3], 1e-9) {
			t.Errorf("%v: δ = %.12g (%v)", row, got, err)
		}
	}
	for _, row := range table(t, "discrete_exact.csv") {
		got, err := DiscreteDelta(row[0], row[1], int(row[2]))
		if err != nil || !near(got, row[3], 1e-11*row[3]) {
			t.Errorf("%v: δ = %.15g (%v)", row, got, err)
		}
	}
}

// TestPartition: Poisson summation and the plain sum agree where both converge.
func TestPartition(t *testing.T) {
	for _, sigma2 := range []float64{1e-300, 0.01, 0.19999, 0.2, 0.20001, 0.3, 1, 10} {
		plain := 0.0
		for x := -200.0; x <= 200; x++ {
			plain += math.Exp(-x * x / (2 * sigma2))
		}
		if got := partition(sigma2); !near(got, plain, 1e-14*plain) {
			t.Errorf("Z(√%v) = %.17g, want %.17g", sigma2, got, plain)
		}
	}
}

// TestZCDPCoversTheLaws: the charge is a bound for what is really sampled, and
// for the continuous law, and not a loose one at a δ below 1e-3.
func TestZCDPCoversTheLaws(t *testing.T) {
	for _, sigma2 := range []float64{1, 4, 100, 10_000} {
		for _, sensitivity := range []int{1, 3, 10} {
			sigma := math.Sqrt(sigma2)
			rho := RhoOf(float64(sensitivity), sigma)
			for _, eps := range []float64{0.1, 1, 3, 10} {
				exact, err := DiscreteDelta(eps, sigma2, sensitivity)
				if err != nil {
					t.Fatal(err)
				}
				if exact < 1e-300 || exact >= 1 {
					continue
				}
				charged, err := Epsilon(rho, exact)
				if err != nil || charged < eps*(1-1e-9) || exact < 1e-3 && charged > 1.5*eps+0.5 {
					t.Errorf("σ²=%v Δ=%d: at δ=%v the accountant says ε = %v, the law has %v (%v)", sigma2, sensitivity, exact, charged, eps, err)
				}
				analytic, err := AnalyticEpsilon(float64(sensitivity), sigma, 1, exact)
				if err != nil || analytic > charged {
					t.Errorf("σ²=%v Δ=%d: at δ=%v the accountant says ε = %v, the continuous law has %v (%v)", sigma2, sensitivity, exact, charged, analytic, err)
				}
			}
		}
	}
}
