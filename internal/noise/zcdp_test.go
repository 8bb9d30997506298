package noise

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// table reads a reference file: values from an independent script.
func table(t *testing.T, name string) [][]float64 {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]float64
	for _, row := range rows[1:] {
		var values []float64
		for _, cell := range row {
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, v)
		}
		out = append(out, values)
	}
	return out
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

func TestAccountantAgainstReference(t *testing.T) {
	for _, row := range table(t, "accountant.csv") {
		sigma, rounds, delta, analytic, zcdp := row[0], row[1], row[2], row[3], row[4]
		rho := rounds * RhoOf(1, sigma)
		got, err := Epsilon(rho, delta)
		if err != nil || !near(got, zcdp, 1e-9*zcdp) {
			t.Errorf("σ=%v T=%v δ=%v: zCDP ε = %.12g, want %.12g (%v)", sigma, rounds, delta, got, zcdp, err)
		}
		got, err = AnalyticEpsilon(1, sigma, int(rounds), delta)
		if err != nil || !near(got, analytic, 1e-9) {
			t.Errorf("σ=%v T=%v δ=%v: analytic ε = %.12g, want %.12g (%v)", sigma, rounds, delta, got, analytic, err)
		}
		back, err := Rho(zcdp, delta)
		if err != nil || !near(SigmaFor(back/rounds, 1), sigma, 1e-9*sigma) {
			t.Errorf("ε=%v: σ = %.12g, want %v (%v)", zcdp, SigmaFor(back/rounds, 1), sigma, err)
		}
	}
}

func TestRhoAgainstReference(t *testing.T) {
	for _, row := range table(t, "rho.csv") {
		got, err := Rho(row[0], row[1])
		if err != nil || !near(got, row[2], 1e-9*row[2]) {
			t.Errorf("ε=%v δ=%v: ρ = %.12g, want %.12g (%v)", row[0], row[1], got, row[2], err)
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
}

// TestRoundsAgainstTheSpender: whatever is converted there and back never gains.
func TestRoundsAgainstTheSpender(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		eps := rapid.Float64Range(0.01, 20).Draw(r, "epsilon")
		delta := math.Pow(10, -rapid.Float64Range(1, 14).Draw(r, "exponent"))
		rho, err := Rho(eps, delta)
		if err != nil {
			r.Fatal(err)
		}
		back, err := Epsilon(rho, delta)
		if err != nil || back > eps || back < eps*(1-1e-9) {
			r.Fatalf("ε = %v gives ρ = %v, which gives ε = %v (%v)", eps, rho, back, err)
		}
		sensitivity := rapid.Float64Range(0.1, 1e6).Draw(r, "sensitivity")
		if charged := RhoOf(sensitivity, SigmaFor(rho, sensitivity)); charged > rho*(1+1e-14) {
			r.Fatalf("σ for ρ = %v is charged %v", rho, charged)
		}
		more, err := Epsilon(rho*1.01, delta)
		if err != nil || more <= back {
			r.Fatalf("ε does not grow with ρ: %v, then %v (%v)", back, more, err)
		}
		less, err := Epsilon(rho, delta/2)
		if err != nil || less <= back {
			r.Fatalf("ε does not grow as δ shrinks: %v, then %v (%v)", back, less, err)
		}
	})
}

// TestZCDPCoversTheDiscreteLaw: the charge is a bound for what is really sampled.
func TestZCDPCoversTheDiscreteLaw(t *testing.T) {
	for _, sigma2 := range []float64{1, 4, 100, 10_000} {
		for _, sensitivity := range []int{1, 3, 10} {
			rho := RhoOf(float64(sensitivity), math.Sqrt(sigma2))
			for _, eps := range []float64{0.1, 1, 3} {
				exact, err := DiscreteDelta(eps, sigma2, sensitivity)
				if err != nil {
					t.Fatal(err)
				}
				if exact < 1e-300 || exact >= 1 {
					continue
				}
				charged, err := Epsilon(rho, exact)
				if err != nil || charged < eps*(1-1e-9) {
					t.Errorf("σ²=%v Δ=%d: at δ=%v the accountant says ε = %v, the law has %v (%v)", sigma2, sensitivity, exact, charged, eps, err)
				}
			}
		}
	}
}

func TestBadParameters(t *testing.T) {
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Rho(bad, 1e-6); err == nil {
			t.Errorf("Rho(%v) was accepted", bad)
		}
		if _, err := Rho(1, bad); err == nil {
			t.Errorf("Rho(1, %v) was accepted", bad)
		}
		if _, err := AnalyticEpsilon(1, bad, 1, 1e-6); err == nil {
			t.Errorf("AnalyticEpsilon(σ=%v) was accepted", bad)
		}
		if _, err := SigmaAtLeast(bad); err == nil {
			t.Errorf("SigmaAtLeast(%v) was accepted", bad)
		}
	}
	if _, err := Epsilon(math.NaN(), 1e-6); err == nil {
		t.Error("Epsilon(NaN) was accepted")
	}
	if _, err := NewPaper(PaperInput{C: 1, Lambda: 1, Epsilon: 1, Delta: 1e-6, N: 10, D: 2}); err == nil {
		t.Error("a paper without rounds and alpha was accepted")
	}
}

func TestPaper(t *testing.T) {
	// The row flatq-paper of the utility table: T = 19 at d = 16, α = 0.2, C = 1.
	p, err := NewPaper(PaperInput{C: 1, Lambda: 1, Alpha: 0.2, Epsilon: 1, Delta: 1e-6, N: 200_000, D: 16})
	if err != nil || p.Rounds != 19 {
		t.Fatalf("%+v, %v", p, err)
	}
	rho := float64(p.Rounds) * RhoOf(2*p.Radius/200_000, p.Tau)
	if eps, err := Epsilon(rho, p.DeltaBar); err != nil || eps > 1 {
		t.Fatalf("the paper's τ spends ε = %v (%v)", eps, err)
	}
	// Design section 6: zCDP needs 0.61 of the paper's noise at ε = 1, δ = 1e-6.
	best, err := Rho(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	ratio := SigmaFor(best, 2) / (4 * math.Sqrt(math.Log(1e6)))
	if !near(ratio, 0.61, 0.005) {
		t.Errorf("zCDP needs %.3f of the paper's noise", ratio)
	}
}
