package profile

import (
	"slices"
	"strings"
	"testing"
)

// TestUnitsAreCounted: a site is told how many units its rows are of, and which rows are of nobody:
// a study that counts a row as a unit where persons have several protects none of them.
func TestUnitsAreCounted(t *testing.T) {
	const text = "u,x\np1,1\n,2\np1,3\n,4\np2,5\n"
	for name, c := range map[string]struct {
		text, keys string
		units      int
		faults     []Fault // without what to do
	}{
		"every row is a unit":       {text, "", 5, nil},
		"a unit has several rows":   {strings.ReplaceAll(text, "\n,", "\np2,"), "unit = \"u\"\n", 2, nil},
		"rows of nobody":            {text, "unit = \"u\"\n", 2, []Fault{{Column: "u", What: "the unit is missing", Count: 2, First: 3}}},
		"one row of nobody":         {strings.Replace(text, "\n,", "\np2,", 1), "unit = \"u\"\n", 2, []Fault{{Column: "u", What: "the unit is missing", Count: 1, First: 5}}},
		"of which is not known":     {text, "unit = \"who\"\n", 0, []Fault{{Column: "who", What: "the unit: none of the header's 2 fields has this name", Count: 1, First: 1}}},
		"nor below a written title": {"title\nby hand\n" + text, "unit = \"who\"\nskip_rows = 2\n", 0, []Fault{{Column: "who", What: "the unit: none of the header's 2 fields has this name", Count: 1, First: 3}}},
	} {
		r := profiled(t, c.text, c.keys, nil)
		if r.Units != c.units || !slices.EqualFunc(r.Faults, c.faults, func(a, b Fault) bool {
			return a.Column == b.Column && a.What == b.What && a.Count == b.Count && a.First == b.First
		}) {
			t.Errorf("%s: %d units of %d rows, faults %+v", name, r.Units, r.Rows, r.Faults)
		}
	}
}
