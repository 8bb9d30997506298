package noise

import (
	"encoding/csv"
	"math"
	"math/big"
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
	if len(out) == 0 {
		t.Fatalf("%s is empty", name)
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
		back, err := ZCDP.Rho(zcdp, delta)
		if err != nil || !near(SigmaFor(back/rounds, 1), sigma, 1e-9*sigma) {
			t.Errorf("ε=%v: σ = %.12g, want %v (%v)", zcdp, SigmaFor(back/rounds, 1), sigma, err)
		}
	}
}

func TestRhoAgainstReference(t *testing.T) {
	for _, row := range table(t, "rho.csv") {
		got, err := ZCDP.Rho(row[0], row[1])
		if err != nil || !near(got, row[2], 1e-9*row[2]) {
			t.Errorf("ε=%v δ=%v: ρ = %.12g, want %.12g (%v)", row[0], row[1], got, row[2], err)
		}
	}
}

// TestConversionRoundsUp: 18 digits of the exact infimum, from one end of the domain to the
// other: Epsilon is never below it, and within 1e-9 of it; Rho never buys more.
func TestConversionRoundsUp(t *testing.T) {
	for _, row := range table(t, "zcdp.csv") {
		rho, delta, want := row[0], row[1], row[2]
		got, err := Epsilon(rho, delta)
		if err != nil || got < want || got > want*(1+1e-9) {
			t.Errorf("ρ=%v δ=%v: ε = %.17g, want %.17g, not less (%v)", rho, delta, got, want, err)
		}
		if want == 0 || want > 1000 {
			continue
		}
		back, err := ZCDP.Rho(want, delta)
		if err != nil || back > rho || back < rho*(1-1e-9) {
			t.Errorf("ε=%v δ=%v: ρ = %.17g, want %.17g, not more (%v)", want, delta, back, rho, err)
		}
	}
}

// TestConversionRoundsUpWhereItCancels: ε a hair above 0, where rounding in the terms
// is many units in the last place of the result.
func TestConversionRoundsUpWhereItCancels(t *testing.T) {
	for _, row := range table(t, "zcdp_cancel.csv") {
		got, err := Epsilon(row[0], row[1])
		if err != nil || got < row[2] || got > row[2]*(1+1e-5) {
			t.Errorf("ρ=%v δ=%v: ε = %.17g, want %.17g, not less (%v)", row[0], row[1], got, row[2], err)
		}
	}
}

// delta is the tight conversion the other way (CKS 2020, proposition 12 with the
// minimum over α on a grid): ρ-zCDP is (ε, δ)-DP for δ = inf e^((α-1)(αρ-ε))·(1-1/α)^α/(α-1).
func delta(rho, eps float64) float64 {
	best := math.Inf(1)
	for s := -10.0; s < 15; s += 1e-3 {
		a := math.Exp(s)
		best = min(best, a*((1+a)*rho-eps)-(1+a)*math.Log1p(1/a)-s)
	}
	return math.Exp(best)
}

func TestEpsilonInvertsDelta(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rho := math.Exp(rapid.Float64Range(-10, 3).Draw(r, "log rho"))
		eps := rho + math.Sqrt(rho)*rapid.Float64Range(1, 10).Draw(r, "deviations")
		d := delta(rho, eps)
		if d < 1e-300 || d >= 1 {
			return
		}
		back, err := Epsilon(rho, d)
		if err != nil || !near(back, eps, 1e-6*eps) {
			r.Fatalf("ρ = %v: δ(%v) = %v, ε of that is %v (%v)", rho, eps, d, back, err)
		}
	})
}

// TestRoundsAgainstTheSpender: whatever is converted there and back never gains.
func TestRoundsAgainstTheSpender(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		eps := rapid.Float64Range(0.01, 20).Draw(r, "epsilon")
		delta := math.Pow(10, -rapid.Float64Range(1, 14).Draw(r, "exponent"))
		rho, err := ZCDP.Rho(eps, delta)
		if err != nil {
			r.Fatal(err)
		}
		back, err := Epsilon(rho, delta)
		if err != nil || back > eps || back < eps*(1-1e-9) {
			r.Fatalf("ε = %v gives ρ = %v, which gives ε = %v (%v)", eps, rho, back, err)
		}
		sensitivity := math.Exp(rapid.Float64Range(-300, 300).Draw(r, "log sensitivity"))
		if charged := RhoOf(sensitivity, SigmaFor(rho, sensitivity)); charged > rho || charged < rho*(1-1e-14) {
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
		if wider := RhoOf(sensitivity*1.01, 1); wider <= RhoOf(sensitivity, 1) && wider < math.Inf(1) && wider > 0x1p-1000 {
			r.Fatalf("ρ does not grow with Δ = %v", sensitivity)
		}
	})
}

// exact holds any float64, and products of a few, without rounding.
func exact(v float64) *big.Float { return new(big.Float).SetPrec(2200).SetFloat64(v) }

// TestRhoOfIsRoundedUp: the exact Δ²/(2σ²) is never above; an underflow costs something.
func TestRhoOfIsRoundedUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d, s := rapid.Float64Range(1, 1e9).Draw(r, "Δ"), rapid.Float64Range(1, 1e9).Draw(r, "σ")
		// ρ·2σ² >= Δ² in exact arithmetic.
		rho := exact(RhoOf(d, s))
		if rho.Mul(rho, exact(s)).Mul(rho, exact(2*s)).Cmp(exact(d).Mul(exact(d), exact(d))) < 0 {
			r.Fatalf("RhoOf(%v, %v) is rounded down", d, s)
		}
	})
	if !(RhoOf(1e-200, 1e200) > 0) {
		t.Error("a query whose ρ underflows is free")
	}
}

func TestBadParameters(t *testing.T) {
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := ZCDP.Rho(bad, 1e-6); err == nil {
			t.Errorf("ZCDP.Rho(%v) was accepted", bad)
		}
		if _, err := ZCDP.Rho(1, bad); err == nil {
			t.Errorf("ZCDP.Rho(1, %v) was accepted", bad)
		}
		if _, err := Epsilon(1, bad); err == nil {
			t.Errorf("Epsilon(1, %v) was accepted", bad)
		}
		if _, err := Epsilon(bad, 1e-6); err == nil && bad != 0 {
			t.Errorf("Epsilon(%v) was accepted", bad)
		}
		if _, err := AnalyticEpsilon(1, bad, 1, 1e-6); err == nil {
			t.Errorf("AnalyticEpsilon(σ=%v) was accepted", bad)
		}
		if _, err := AnalyticEpsilon(bad, 1, 1, 1e-6); err == nil {
			t.Errorf("AnalyticEpsilon(Δ=%v) was accepted", bad)
		}
		if _, err := AnalyticEpsilon(1, 1, 1, bad); err == nil {
			t.Errorf("AnalyticEpsilon(δ=%v) was accepted", bad)
		}
		if _, err := DiscreteDelta(1, bad, 1); err == nil {
			t.Errorf("DiscreteDelta(σ²=%v) was accepted", bad)
		}
		if _, err := DiscreteDelta(bad, 1, 1); err == nil && bad != 0 {
			t.Errorf("DiscreteDelta(ε=%v) was accepted", bad)
		}
	}
	if _, err := ZCDP.Rho(1, 1); err == nil {
		t.Error("δ = 1 was accepted")
	}
	if _, err := AnalyticEpsilon(1, 1, 0, 1e-6); err == nil {
		t.Error("no rounds were accepted")
	}
	if _, err := AnalyticEpsilon(1, 1e-12, 1, 1e-6); err == nil {
		t.Error("a σ with an endless ε was accepted")
	}
	if _, err := DiscreteDelta(1, 1, 0); err == nil {
		t.Error("a sensitivity of 0 was accepted")
	}
}
