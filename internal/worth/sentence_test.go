package worth

import (
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestShortRowsAreSaidWhereTrue: noise is blamed only where it is why lengths do not count, and no
// sphere where a covariance found the components.
func TestShortRowsAreSaidWhereTrue(t *testing.T) {
	falling := append([]float64{2, 1}, slices.Repeat([]float64{0.1}, 14)...)
	for name, c := range map[string]struct {
		rows, method string
		n            int
		noise, asked bool
	}{
		"asked, many": {proposal.RowsSphere, proposal.MethodPower, 600_000, false, true},
		"auto, many":  {proposal.RowsAuto, proposal.MethodPower, 600_000, false, false},
		"auto, few":   {proposal.RowsAuto, proposal.MethodPower, 5000, true, false},
		"plain":       {proposal.RowsPlain, proposal.MethodPower, 6000, false, false},
		"covariance":  {"", proposal.MethodCovariance, 600_000, false, false},
	} {
		s := spec(16, 1, c.method)
		s.Rows = c.rows
		p, r := law{second: diagonal(falling...), radius: 8, rng: seeded(22)}.run(t, s, c.n)
		got := of(t, p, r)
		groups := says(got, "in groups with different averages")
		if got.Share == nil || says(got, "Noise is the limit here") != c.noise || says(got, "as asked (rows") != c.asked || groups != (c.noise || c.asked) {
			t.Errorf("%s, ι = %.2g: %q", name, p.Iota, got.Sentences)
		}
	}
}

// TestComponentsOfAllColumns: what as many components as columns capture is no finding.
func TestComponentsOfAllColumns(t *testing.T) {
	for k, want := range map[int]bool{1: false, 2: true} {
		p, r := law{second: diagonal(2, 1), radius: 8, rng: seeded(22)}.run(t, spec(2, k, proposal.MethodCovariance), 600_000)
		if got := of(t, p, r); got.Share == nil || says(got, "their share says nothing") != want || says(got, "at least 9") == want || strings.HasPrefix(got.Verdict(r).Headline, "At least") == want {
			t.Errorf("%d of 2: %q", k, got.Sentences)
		}
	}
}
