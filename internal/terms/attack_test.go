package terms

import (
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestIndicatorsAreSaid: an approver reads that the study also uses which rows have no value.
func TestIndicatorsAreSaid(t *testing.T) {
	for _, on := range []bool{false, true} {
		p := wordsPlan(t, 3, func(s *proposal.Spec) {
			s.Missing = proposal.MissingZero
			s.Columns[1].Indicator = on
		})
		if all := strings.Join(Privacy(p), "\n"); strings.Contains(all, "For 1 of the columns the study also asks where they have no value") != on {
			t.Errorf("indicator %t:\n%s", on, all)
		}
	}
}
