package agent

import (
	"fmt"
	"math"
	"slices"

	"covey/internal/study"
)

// The values of Policy.Approve.
const (
	ApproveAsk          = "ask"
	ApproveWithinLimits = "within-limits"
)

// Policy says which studies the site approves without asking its operator. A
// study outside the limits waits for the operator; it is never refused by policy.
type Policy struct {
	// Approve is "ask" (the default: the operator decides every study) or
	// "within-limits" (studies within all limits below are approved at once).
	Approve string `toml:"approve,omitempty"`
	// MaxEpsilon and MaxDelta bound a study's own privacy parameters.
	MaxEpsilon float64 `toml:"max_epsilon,omitempty"`
	MaxDelta   float64 `toml:"max_delta,omitempty"`
	// OnDropout lists the allowed values of a study's on_dropout. ["wait"] if
	// not given.
	OnDropout []string `toml:"on_dropout,omitempty"`
	// MinSites is the smallest roster. 3 if not given.
	MinSites int `toml:"min_sites,omitempty"`
}

func (p *Policy) check(c *Config) error {
	if p.Approve == "" {
		p.Approve = ApproveAsk
	}
	if p.OnDropout == nil {
		p.OnDropout = []string{study.DropoutWait}
	}
	if p.MinSites == 0 {
		p.MinSites = 3
	}
	for i, v := range p.OnDropout {
		if v != study.DropoutWait && v != study.DropoutContinue {
			return c.error(fmt.Sprintf("policy.on_dropout[%d]", i), "must be %q or %q, got %q", study.DropoutWait, study.DropoutContinue, v)
		}
	}
	if p.MinSites < 2 || p.MinSites > study.MaxSites {
		return c.error("policy.min_sites", "must be in 2..%d, got %d", study.MaxSites, p.MinSites)
	}
	switch p.Approve {
	case ApproveAsk:
		if p.MaxEpsilon != 0 || p.MaxDelta != 0 {
			return c.error("policy", `max_epsilon and max_delta need approve = "within-limits"`)
		}
	case ApproveWithinLimits:
		if !(p.MaxEpsilon > 0) || math.IsInf(p.MaxEpsilon, 0) {
			return c.error("policy.max_epsilon", "must be positive, got %v", p.MaxEpsilon)
		}
		if !(p.MaxDelta > 0 && p.MaxDelta < 1) {
			return c.error("policy.max_delta", "must be in (0, 1), got %v", p.MaxDelta)
		}
	default:
		return c.error("policy.approve", "must be %q or %q, got %q", ApproveAsk, ApproveWithinLimits, p.Approve)
	}
	return nil
}

// exceeds says which of the policy's limits a plan is outside of, in words for
// the operator; none means that the policy approves it.
func (p *Policy) exceeds(plan *study.Plan) []string {
	if p.Approve != ApproveWithinLimits {
		return []string{`approve = "ask": the operator decides`}
	}
	s := plan.Proposal.Spec
	var out []string
	if !(s.Epsilon <= p.MaxEpsilon) {
		out = append(out, fmt.Sprintf("epsilon %g is over max_epsilon %g", s.Epsilon, p.MaxEpsilon))
	}
	if !(s.Delta <= p.MaxDelta) {
		out = append(out, fmt.Sprintf("delta %g is over max_delta %g", s.Delta, p.MaxDelta))
	}
	if !slices.Contains(p.OnDropout, s.OnDropout) {
		out = append(out, fmt.Sprintf("on_dropout %q is not among %q", s.OnDropout, p.OnDropout))
	}
	if n := len(plan.Proposal.Roster); n < p.MinSites {
		out = append(out, fmt.Sprintf("%d sites are fewer than min_sites %d", n, p.MinSites))
	}
	return out
}
