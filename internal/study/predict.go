package study

import (
	"fmt"
	"math"
)

// Prediction is what the public numbers say about a study's noise before any
// of it is spent: τ√d over a guess of λ1 from public values.
type Prediction struct {
	// NoiseToSignal is predicted for the last power step, or the covariance.
	NoiseToSignal float64 `json:"noise_to_signal"`
	// Assumption says what λ1 was taken to be.
	Assumption string `json:"assumption"`
	// Needed is the n at which NoiseToSignal would be 1, or 0 where it is below.
	Needed int `json:"units_needed,omitempty"`
}

func (p *Plan) predict() Prediction {
	out := Prediction{NoiseToSignal: math.Inf(1)}
	for _, q := range p.Queries {
		if q.Kind == KindPower && q.Round == p.Rounds-1 && q.Run == 0 {
			out.take(p.predictPower(q))
		}
		if q.Kind == KindMoment {
			out.take(p.predictMoment(q))
		}
	}
	if out.NoiseToSignal > 1 {
		out.Needed = int(math.Ceil(min(out.NoiseToSignal*float64(p.N), 1e15)))
	}
	return out
}

// take keeps the better of two methods: auto decides.
func (a *Prediction) take(noiseToSignal float64, assumption string) {
	if noiseToSignal < a.NoiseToSignal {
		a.NoiseToSignal, a.Assumption = noiseToSignal, assumption
	}
}

// predictPower is of the last power step.
func (p *Plan) predictPower(q Query) (float64, string) {
	d := float64(p.D)
	radius, why := p.Radius, "λ1 = lambda"
	lambda, public := p.Proposal.Spec.Lambda.Public()
	switch {
	case p.Proposal.Spec.Lambda == LambdaPrivate:
		radius, lambda, why = p.paperRadius(1), 1, "a private Λ that equals λ1"
	case radius == 0:
		// Columns scaled to about unit variance have trace d; the hardest case,
		// a flat spectrum, has λ1 = 1 and p_i about √(d·k).
		radius, lambda = 2*math.Sqrt(d*float64(p.block())), 1
		why = "columns of unit variance and a flat spectrum (λ1 = 1); a strong component does better"
	case !public:
		lambda, why = radius*radius/(4*d*float64(p.block())), "columns of unit variance and radius = 2√(trace·λ1)"
	}
	return p.NoiseFactor * q.Multiplier * p.atSites(2*radius) / float64(p.N) * math.Sqrt(d) / lambda, why
}

// predictMoment is of the covariance, by how far its noise moves an eigenvector.
func (p *Plan) predictMoment(q Query) (float64, string) {
	d := float64(p.D)
	squared, public := p.publicRadius(KindMoment)
	if !public {
		squared = 1.3 * d // where the last part is clipped high
	}
	return p.NoiseFactor * q.Multiplier * p.atSites(math.Sqrt2*squared) / float64(p.N) * math.Sqrt((d+1)/2), "columns of unit variance and a flat spectrum (λ1 = 1); a strong component does better"
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
	if s := p.Proposal.Spec; s.OnDropout == DropoutContinue && s.Noise == NoiseCentral {
		w = append(w, `on_dropout = "continue" with central noise: a hostile coordinator could subtract the exact sums of two rounds with different survivors and learn a site's sum (docs/threat-model.md)`)
	}
	if float64(p.N)*p.Proposal.Spec.Delta > 0.1 {
		w = append(w, fmt.Sprintf("delta = %.2g is not small against 1/n = %.2g", p.Proposal.Spec.Delta, 1/float64(p.N)))
	}
	return w
}
