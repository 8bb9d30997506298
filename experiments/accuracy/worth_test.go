package main

import (
	"testing"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// TestOutside: no elliptical law by covariance is outside the promise, nor are groups where rows
// are clipped high.
func TestOutside(t *testing.T) {
	for _, c := range []struct {
		name, family, method string
		iota                 float64
		want                 bool
	}{
		{"slow0.05", "gauss", proposal.MethodCovariance, 0.4, false},
		{"slow0.05", "gauss", proposal.MethodPower, 0.4, true},
		{"slow0.05", "gauss", proposal.MethodPower, 0.2, false},
		{"t3-slow0.2", "t3", proposal.MethodPower, 0.4, false},
		{"groups1-pow1", "groups", proposal.MethodCovariance, 0.1, false},
		{"groups1-pow1", "groups", proposal.MethodCovariance, 0.11, true},
		{"groups1-pow1", "groups", proposal.MethodPower, 0.06, true},
		{"rare0.1-pow1", "rare", proposal.MethodCovariance, 0.01, true},
		{"diamonds", "real", proposal.MethodCovariance, 0.01, false},
	} {
		l := run.Law{Source: run.Source{Name: c.name}, Family: c.family}
		if got := outsideOf(l, judged{iota: c.iota, method: c.method}); (got != "") != c.want {
			t.Errorf("%s by %s at ι = %g: %q", c.name, c.method, c.iota, got)
		}
	}
}
