package profile

import (
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestNearOfMany: of very many columns that a header lacks all are named, the first ones and the
// unit with names that may be meant. For a study of 100,000 other names all pairs took days.
func TestNearOfMany(t *testing.T) {
	const n = 2048
	var header []string
	spec := &proposal.Spec{Unit: "person_id", Missing: proposal.MissingError}
	for i := range n {
		header = append(header, fmt.Sprintf("gene %d level", i))
		spec.Columns = append(spec.Columns, proposal.Column{Name: fmt.Sprintf("gene_%d_levels", i), Scale: 1})
	}
	header[n-1] = "person id"
	row := strings.Repeat("1,", n-1) + "1\n"
	r := profiled(t, strings.Join(header, ",")+"\n"+row+row, "unit = \"person_id\"\n", spec)
	absent, named, unit := 0, 0, false
	for _, f := range r.Faults {
		switch {
		case f.Column == "person_id":
			unit = unit || len(f.Names) > 0
		case strings.Contains(f.What, "of the header's"):
			if absent++; len(f.Names) > 0 {
				named++
			}
		}
	}
	if absent != n || named != mostCompared/n || !unit {
		t.Errorf("%d columns are missing, for %d of them names are proposed, for the unit: %t", absent, named, unit)
	}
}

// TestManyColumns: as many columns as a study may have are each found among the study's at once; a
// walk through these for each took half a minute of a processor.
func TestManyColumns(t *testing.T) {
	var header []string
	spec := &proposal.Spec{Missing: proposal.MissingError}
	for i := range proposal.MaxColumns {
		header = append(header, fmt.Sprintf("gene_%05d", i))
		spec.Columns = append(spec.Columns, proposal.Column{Name: header[i], Offset: float64(i), Scale: 1})
	}
	row := strings.Repeat("1,", len(header)-1) + "1\n"
	r := profiled(t, strings.Join(header, ",")+"\n"+row+row, "", spec)
	if len(r.Faults) > 0 || len(r.Columns) != len(header) || r.Columns[len(header)-1].Name != header[len(header)-1] {
		t.Errorf("%d columns, %d faults", len(r.Columns), len(r.Faults))
	}
}
