package study

import "fmt"

// Warnings are what an operator should read before starting or approving.
func (p *Plan) Warnings() []string {
	var w []string
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
