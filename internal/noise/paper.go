package noise

import "math"

// gamma is the failure probability of Algorithm 1.
const gamma = 1.0 / 256

// maxRounds bounds the T that a small α asks for.
const maxRounds = 1e6

// PaperInput is what Algorithm 1 is given.
type PaperInput struct {
	C              float64 // its constant
	Lambda         float64 // Λ, λ1 <= Λ <= 2 λ1
	Alpha          float64 // in (0, 1); sets T where Rounds is 0
	Epsilon, Delta float64 // ε > 0, δ in (0, 1)
	N, D           int     // rows and columns
	Rounds         int     // T, or 0
}

// Paper are the parameters of Algorithm 1 (Ene and Nguyen 2026, section 3), in
// the data's units, for the mean of n rows.
//
// Tau is proved (Proposition 1 with c = 1/2) for ε <= 2 ln(1/δ̄); Algorithm 1 takes ε in (0, 1]
// only, and a caller that charges by Tau must refuse more. U and Radius do not depend on ε.
type Paper struct {
	U        float64 `json:"u"`      // u = C ln(nT/γ)
	Radius   float64 `json:"radius"` // R = Λ(√d + √(2u))√(2u)
	Tau      float64 `json:"tau"`    // τ = 4R√(T ln(1/δ̄))/(nε)
	DeltaBar float64 `json:"delta_bar"`
	Rounds   int     `json:"rounds"` // T = C ln(e d)/α, rounded up
}

// NewPaper computes Algorithm 1's parameters. A *ParameterError names the field
// that is out of bounds, and the bound.
func NewPaper(in PaperInput) (Paper, error) {
	for _, f := range []struct {
		name  string
		value float64
	}{{"c", in.C}, {"lambda", in.Lambda}, {"epsilon", in.Epsilon}} {
		if !(f.value > 0) || math.IsInf(f.value, 0) {
			return Paper{}, parameter(f.name, "must be positive and finite, got %v", f.value)
		}
	}
	if err := checkDelta(in.Delta); err != nil {
		return Paper{}, err
	}
	switch {
	case in.N < 1:
		return Paper{}, parameter("n", "must be at least 1, got %d", in.N)
	case in.D < 1:
		return Paper{}, parameter("d", "must be at least 1, got %d", in.D)
	case in.Rounds < 0:
		return Paper{}, parameter("rounds", "must be at least 1, or 0 to be set by alpha, got %d", in.Rounds)
	case in.Rounds == 0 && !(in.Alpha > 0 && in.Alpha < 1):
		return Paper{}, parameter("alpha", "must be in (0, 1) where rounds are not given, got %v", in.Alpha)
	}
	p := Paper{Rounds: in.Rounds}
	n, d := float64(in.N), float64(in.D)
	if p.Rounds == 0 {
		rounds := math.Ceil(in.C * math.Log(math.E*d) / in.Alpha)
		if rounds > maxRounds {
			return Paper{}, parameter("alpha", "gives %.0f rounds, at most %.0f", rounds, maxRounds)
		}
		p.Rounds = int(rounds)
	}
	t := float64(p.Rounds)
	p.U = in.C * math.Log(n*t/gamma)
	p.Radius = in.Lambda * (math.Sqrt(d) + math.Sqrt(2*p.U)) * math.Sqrt(2*p.U)
	p.DeltaBar = min(in.Delta, gamma/(10*n*t))
	p.Tau = 4 * p.Radius * math.Sqrt(t*math.Log(1/p.DeltaBar)) / (n * in.Epsilon)
	if math.IsInf(p.Tau, 0) {
		return Paper{}, parameter("lambda", "gives an infinite tau, got %v", in.Lambda)
	}
	return p, nil
}
