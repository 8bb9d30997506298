package profile

import (
	"testing"

	"pgregory.net/rapid"

	"covey/internal/proposal"
)

// TestEveryCellIsCounted: a cell is a value of its column, is missing, or is at fault, whether a
// study asks for the column or not. A text that stands for a missing value may be at fault only
// where something reads the column.
func TestEveryCellIsCounted(t *testing.T) {
	cells := map[string][]string{
		"number":  {"1.5", "2", "", "NA", "x", "<5", "7 mg"},
		"measure": {"5 mg", "6 mg", "7 mg", "8", ""},
		"level":   {"east", "west", "", "1", "12"},
		"truth":   {"yes", "no", "1", "0", "", "perhaps"},
		"day":     {"2024-05-31", "2024-06-01", "", "soon", "20240601"},
	}
	names := []string{"number", "measure", "level", "truth", "day"}
	spec := &proposal.Spec{Dataset: "d", Missing: proposal.MissingFill, Columns: []proposal.Column{
		{Name: "number", Scale: 1}, {Name: "measure", Scale: 1}, {Name: "level", Levels: []string{"east", "1"}},
		{Name: "truth", As: proposal.AsBoolean, Scale: 1}, {Name: "day", As: "days since 2000-01-01", Scale: 1},
	}}
	rapid.Check(t, func(rt *rapid.T) {
		text, rows := "number,measure,level,truth,day\n", rapid.IntRange(1, 80).Draw(rt, "rows")
		for range rows {
			for j, name := range names {
				if j > 0 {
					text += ","
				}
				text += rapid.SampledFrom(cells[name]).Draw(rt, name)
			}
			text += "\n"
		}
		for _, asked := range []*proposal.Spec{nil, spec} {
			r := profiled(t, text, "", asked)
			faults := map[string]int{}
			for _, f := range r.Faults {
				faults[f.Column] += f.Count
			}
			for _, c := range r.Columns {
				if n := c.Values + c.Missing + faults[c.Name]; n != rows {
					rt.Errorf("study %v: of %d cells of %s %d are counted: %+v, faults %+v in\n%s", asked != nil, rows, c.Name, n, c, r.Faults, text)
				}
			}
		}
	})
}

// TestMeasuredIsAtFault: numbers that are written with their unit are not read, and that is said
// without a study, too.
func TestMeasuredIsAtFault(t *testing.T) {
	r := profiled(t, "dose,ward\n5 mg,east\n7 mg,west\n8 mg,east\n", "", nil)
	if len(r.Faults) != 1 || r.Faults[0].Column != "dose" || r.Faults[0].Count != 3 || r.Faults[0].First != 2 || r.Faults[0].Do != remedies[isMeasured] {
		t.Errorf("%+v", r.Faults)
	}
	if ward := r.Columns[1]; ward.Kind != isText || ward.Values != 3 {
		t.Errorf("%+v", ward)
	}
}
