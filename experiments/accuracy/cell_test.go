package main

import (
	"testing"

	"covey/experiments/run"
	"covey/internal/proposal"
)

// TestAuto: where public sizes leave it open, auto takes power iteration on a flat spectrum of many
// columns and the covariance on few strong components; where they do not it takes the covariance.
// It is nowhere far behind. Data and noise are seeded: it cannot fail by chance.
func TestAuto(t *testing.T) {
	for _, c := range []struct {
		name    string
		d, n, k int
		open    bool
		power   bool
	}{
		{"flatq", 128, 10_000, 1, true, true},
		{"lowrank", 64, 4000, 1, true, false},
		{"lowrank", 64, 4000, 5, true, false},
		{"flatq", 16, 4000, 1, false, false},
		{"clusters4-pow1", 8, 2000, 1, false, false},
	} {
		source, family, err := run.LawNamed(c.name, c.d)
		if err != nil {
			t.Fatal(err)
		}
		law := run.Law{Source: source, Family: family, N: c.n, K: c.k}
		in := cell{law, proposal.NoiseCentral}
		lines, err := in.lines(0, 6, -1)
		if err != nil {
			t.Fatal(err)
		}
		of := linesOf(lines, in)
		got := of[proposal.MethodAuto]
		best := max(of[proposal.MethodPower].captured, of[proposal.MethodCovariance].captured)
		_, low := behind(of)
		if why := limits(law, got.iota, best, got.captured, of[wideClip].captured, low); why != "" {
			t.Errorf("%v: behind: %s", law, why)
		}
		if c.open != (got.iota > 0.3) || c.power != (got.power > 3) {
			t.Errorf("%v: ι = %.2f, power in %d of %d", law, got.iota, got.power, got.runs)
		}
	}
}
