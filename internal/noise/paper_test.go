package noise

import (
	"errors"
	"math"
	"testing"
)

// TestPaper: Algorithm 1 with numbers worked out by hand, T = 19 and 26 as the listed
// experiments have it, and its τ against the accountant.
func TestPaper(t *testing.T) {
	in := PaperInput{C: 1, Lambda: 1, Alpha: 0.2, Epsilon: 1, Delta: 1e-6, N: 200_000, D: 16}
	p, err := NewPaper(in)
	if err != nil || p.Rounds != 19 {
		t.Fatalf("%+v, %v", p, err)
	}
	// u = ln(200,000·19·256) = ln 972,800,000; δ̄ = 1/(2560·3,800,000).
	for name, c := range map[string][2]float64{
		"u":         {p.U, 20.6956890692},
		"delta_bar": {p.DeltaBar, 1.02796052632e-10},
		"radius":    {p.Radius, 67.1258307304},
		"tau":       {p.Tau, 0.0280636459730},
	} {
		if !near(c[0], c[1], 1e-10*c[1]) {
			t.Errorf("%s is %.9g, want %.9g", name, c[0], c[1])
		}
	}
	rho := float64(p.Rounds) * RhoOf(2*p.Radius/200_000, p.Tau)
	if eps, err := Epsilon(rho, p.DeltaBar); err != nil || eps > 1 {
		t.Fatalf("the paper's τ spends ε = %v (%v)", eps, err)
	}
	in.D, in.N = 64, 500_000
	if p, err = NewPaper(in); err != nil || p.Rounds != 26 {
		t.Fatalf("%+v, %v", p, err)
	}
	in.Rounds, in.Alpha, in.Delta = 5, 0, 1e-30
	if p, err = NewPaper(in); err != nil || p.Rounds != 5 || p.DeltaBar != 1e-30 {
		t.Fatalf("%+v, %v", p, err)
	}
	in = PaperInput{C: 3, Lambda: 1, Alpha: 0.2, Epsilon: 0.5, Delta: 1e-6, N: 200_000, D: 16}
	if p, err = NewPaper(in); err != nil || p.Rounds != 57 { // ⌈15 ln(16e)⌉
		t.Fatalf("%+v, %v", p, err)
	}
	if u := 3 * math.Log(200_000*57*256); !near(p.U, u, 1e-12*u) {
		t.Errorf("u is %v, want %v", p.U, u)
	}
	if tau := 4 * p.Radius * math.Sqrt(57*-math.Log(p.DeltaBar)) / 100_000; !near(p.Tau, tau, 1e-12*tau) {
		t.Errorf("τ is %v, want %v", p.Tau, tau)
	}
	// zCDP needs 0.61 of the paper's noise at ε = 1, δ = 1e-6.
	best, err := ZCDP.Rho(1, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	if ratio := SigmaFor(best, 2) / (4 * math.Sqrt(math.Log(1e6))); !near(ratio, 0.61, 0.005) {
		t.Errorf("zCDP needs %.3f of the paper's noise", ratio)
	}
}

func TestPaperNamesTheField(t *testing.T) {
	for field, spoil := range map[string][]func(*PaperInput){
		"c":       {func(in *PaperInput) { in.C = 0 }, func(in *PaperInput) { in.C = math.Inf(1) }, func(in *PaperInput) { in.C = math.NaN() }},
		"lambda":  {func(in *PaperInput) { in.Lambda = -1 }, func(in *PaperInput) { in.Lambda = math.NaN() }, func(in *PaperInput) { in.Lambda = 1e308 }},
		"epsilon": {func(in *PaperInput) { in.Epsilon = 0 }, func(in *PaperInput) { in.Epsilon = math.Inf(1) }},
		"delta":   {func(in *PaperInput) { in.Delta = 0 }, func(in *PaperInput) { in.Delta = 1 }, func(in *PaperInput) { in.Delta = math.NaN() }},
		"n":       {func(in *PaperInput) { in.N = 0 }},
		"d":       {func(in *PaperInput) { in.D = 0 }},
		"rounds":  {func(in *PaperInput) { in.Rounds = -1 }},
		"alpha": {func(in *PaperInput) { in.Alpha = 0 }, func(in *PaperInput) { in.Alpha = 1 }, func(in *PaperInput) { in.Alpha = math.NaN() },
			func(in *PaperInput) { in.Alpha = 1e-9 }},
	} {
		for _, f := range spoil {
			in := PaperInput{C: 1, Lambda: 1, Alpha: 0.2, Epsilon: 1, Delta: 1e-6, N: 100, D: 16}
			f(&in)
			_, err := NewPaper(in)
			if e, ok := errors.AsType[*ParameterError](err); !ok || e.Name != field {
				t.Errorf("%+v: %v, want an error of %s", in, err, field)
			}
		}
	}
}
