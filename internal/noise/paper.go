package noise

import "math"

// gamma is the failure probability of Algorithm 1.
const gamma = 1.0 / 256

// PaperInput is what Algorithm 1 is given.
type PaperInput struct {
	C              float64 // its constant
	Lambda         float64 // Λ, λ1 <= Λ <= 2 λ1
	Alpha          float64 // sets T where Rounds is 0
	Epsilon, Delta float64 // ε in (0, 1], δ in (0, 1)
	N, D           int
	Rounds         int
}

// Paper are the parameters of Algorithm 1 (Ene and Nguyen 2026, section 3), in
// the data's units, for the mean of n rows.
type Paper struct {
	U        float64 `json:"u"`      // u = C ln(nT/γ)
	Radius   float64 `json:"radius"` // R = Λ(√d + √(2u))√(2u)
	Tau      float64 `json:"tau"`    // τ = 4R√(T ln(1/δ̄))/(nε)
	DeltaBar float64 `json:"delta_bar"`
	Rounds   int     `json:"rounds"` // T = C ln(e d)/α, rounded up
}

// NewPaper computes Algorithm 1's parameters.
func NewPaper(in PaperInput) (Paper, error) {
	switch {
	case !(in.C > 0):
		return Paper{}, parameter("c", "must be positive, got %v", in.C)
	case !(in.Lambda > 0):
		return Paper{}, parameter("lambda", "must be positive, got %v", in.Lambda)
	case !(in.Epsilon > 0):
		return Paper{}, parameter("epsilon", "must be positive, got %v", in.Epsilon)
	case in.N < 1 || in.D < 1:
		return Paper{}, parameter("n", "n and d must be at least 1, got %d and %d", in.N, in.D)
	case in.Rounds < 0 || in.Rounds == 0 && !(in.Alpha > 0 && in.Alpha < 1):
		return Paper{}, parameter("rounds", "must be at least 1, or alpha in (0, 1)")
	}
	if err := checkDelta(in.Delta); err != nil {
		return Paper{}, err
	}
	p := Paper{Rounds: in.Rounds}
	n, d := float64(in.N), float64(in.D)
	if p.Rounds == 0 {
		rounds := math.Ceil(in.C * math.Log(math.E*d) / in.Alpha)
		if rounds > 1e6 {
			return Paper{}, parameter("alpha", "gives %.0f rounds, at most 1e6", rounds)
		}
		p.Rounds = int(rounds)
	}
	t := float64(p.Rounds)
	p.U = in.C * math.Log(n*t/gamma)
	p.Radius = in.Lambda * (math.Sqrt(d) + math.Sqrt(2*p.U)) * math.Sqrt(2*p.U)
	p.DeltaBar = min(in.Delta, gamma/(10*n*t))
	p.Tau = 4 * p.Radius * math.Sqrt(t*math.Log(1/p.DeltaBar)) / (n * in.Epsilon)
	return p, nil
}
