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
		iota, next           float64
		want                 bool
	}{
		{"slow0.05", "gauss", proposal.MethodCovariance, 0.4, 0, false},
		{"slow0.05", "gauss", proposal.MethodPower, 0.4, 0, true},
		{"slow0.05", "gauss", proposal.MethodPower, 0.2, 0, false},
		{"t3-slow0.2", "t3", proposal.MethodPower, 0.4, 0, false},
		{"groups1-pow1", "groups", proposal.MethodCovariance, 0.1, 0, false},
		{"groups1-pow1", "groups", proposal.MethodCovariance, 0.11, 0, true},
		{"groups1-pow1", "groups", proposal.MethodPower, 0.06, 0, true},
		{"rare0.1-pow1", "rare", proposal.MethodCovariance, 0.01, 0, true},
		{"slow0.15", "gauss", proposal.MethodPower, 0.1, 0.87, true},
		{"slow0.15", "gauss", proposal.MethodCovariance, 0.1, 0.87, false},
		{"flat4", "gauss", proposal.MethodPower, 0.1, 1, false},
		{"pow1", "gauss", proposal.MethodPower, 0.1, 0.5, false},
		{"diamonds", "real", proposal.MethodCovariance, 0.01, 0, false},
	} {
		l := run.Law{Source: run.Source{Name: c.name}, Family: c.family}
		if got := outsideOf(l, judged{iota: c.iota, next: c.next, method: c.method}); (got != "") != c.want {
			t.Errorf("%s by %s at ι = %g: %q", c.name, c.method, c.iota, got)
		}
	}
}
