package study

import (
	"fmt"
	"math"
)

// Prediction is what the public numbers say about a study's noise before any
// of it is spent: τ√d over a guess of λ1 from public values.
type Prediction struct {
	// NoiseToSignal is predicted for the last power step.
	NoiseToSignal float64 `json:"noise_to_signal"`
	// Assumption says what λ1 was taken to be.
	Assumption string `json:"assumption"`
	// Needed is the n at which NoiseToSignal would be 1, or 0 where it is below.
	Needed int `json:"units_needed,omitempty"`
}

func (p *Plan) predict() Prediction {
	s := p.Proposal.Spec
	d := float64(p.D)
	radius, lambda, why := p.Radius, s.Lambda, "λ1 = lambda"
	switch {
	case radius == 0:
		// Columns scaled to about unit variance have trace d; the hardest case,
		// a flat spectrum, has λ1 = 1 and p_i about √d.
		radius, lambda, why = 2*math.Sqrt(d), 1, "columns of unit variance and a flat spectrum (λ1 = 1); a strong component does better"
	case lambda == 0:
		lambda, why = radius*radius/(4*d), "columns of unit variance and radius = 2√(trace·λ1)"
	}
	last := p.Queries[len(p.Queries)-1] // a power step
	tau := last.Multiplier * 2 * radius / float64(p.N)
	out := Prediction{NoiseToSignal: tau * math.Sqrt(d) / lambda, Assumption: why}
	if out.NoiseToSignal > 1 {
		out.Needed = int(math.Ceil(min(out.NoiseToSignal*float64(p.N), 1e15)))
	}
	return out
}

// Warnings are what an operator should read before starting or approving.
func (p *Plan) Warnings() []string {
	var w []string
	if p.Prediction.Needed > 0 {
		w = append(w, fmt.Sprintf("the noise is predicted to be %.2g times the signal: about %d units are needed, there are %d (assuming %s)",
			p.Prediction.NoiseToSignal, p.Prediction.Needed, p.N, p.Prediction.Assumption))
	}
	if p.Thresholds.Corrupt == 0 {
		w = append(w, p.Thresholds.Collusion())
	}
	if p.Proposal.Spec.OnDropout == DropoutContinue {
		w = append(w, `on_dropout = "continue" with central noise: a hostile coordinator could subtract the exact sums of two rounds with different survivors and learn a site's sum (docs/threat-model.md)`)
	}
	if float64(p.N)*p.Proposal.Spec.Delta > 0.1 {
		w = append(w, fmt.Sprintf("delta = %.2g is not small against 1/n = %.2g", p.Proposal.Spec.Delta, 1/float64(p.N)))
	}
	return w
}
