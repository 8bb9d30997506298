package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestUnranged: a learned column with a unit and no range is named, and ten at most.
func TestUnranged(t *testing.T) {
	s := proposal.Spec{Columns: []proposal.Column{
		{Name: "age", Standardize: proposal.StandardizePrivate},
		{Name: "hb", Standardize: proposal.StandardizePrivate, Measure: "g/dL"},
		{Name: "ldl", Standardize: proposal.StandardizePrivate, Measure: "mg/dL", Range: []float64{10, 400}},
		{Name: "crp", Offset: 3, Scale: 2, Measure: "mg/L"},
	}}
	if got := unranged(s); !slices.Equal(got, []string{`"hb"`}) {
		t.Errorf("%q", got)
	}
	for i := range 20 {
		s.Columns = append(s.Columns, proposal.Column{Name: fmt.Sprint("c", i), Standardize: proposal.StandardizePrivate, Measure: "mg"})
	}
	if got := unranged(s); len(got) != 11 || got[10] != "and others" {
		t.Errorf("%q", got)
	}
}

// TestUnitsAreTheFlags: a count that no site can have is the flag's fault, not the study file's.
func TestUnitsAreTheFlags(t *testing.T) {
	for bad, units := range map[string][]int{"got 0": {0, 1, 1}, "got -3": {5, -3}, "got 1099511627777": {1, proposal.MaxUnits + 1}, "": {1, proposal.MaxUnits}} {
		err := counts(units)
		if (err != nil) != (bad != "") || err != nil && (!strings.HasPrefix(err.Error(), "--units: ") || !strings.Contains(err.Error(), bad)) {
			t.Errorf("%v: %v", units, err)
		}
	}
}
