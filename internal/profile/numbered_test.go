package profile

import (
	"fmt"
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestNumbered: the site is asked about numbers of rows and about dates written without marks, and
// neither about other whole numbers, in order or not, nor about few, nor where a study reads text.
func TestNumbered(t *testing.T) {
	for name, c := range map[string]struct {
		rows int
		cell func(i int) string
		want string
	}{
		"numbers of rows":         {60, func(i int) string { return fmt.Sprint(i + 1) }, "rises by one from row to row"},
		"with gaps":               {60, func(i int) string { return fmt.Sprint(1000 + i + i/20*5) }, "rises by one from row to row"},
		"that begin again":        {60, func(i int) string { return fmt.Sprint(i % 30) }, ""},
		"few":                     {40, func(i int) string { return fmt.Sprint(i + 1) }, ""},
		"every other one":         {60, func(i int) string { return fmt.Sprint(2 * i) }, ""},
		"in order, several times": {60, func(i int) string { return fmt.Sprint(20 + i/2) }, ""},
		"dates":                   {60, func(i int) string { return fmt.Sprintf("2024%02d%02d", 1+i*7%12, 1+i%28) }, "dates without marks"},
		"no such month":           {60, func(i int) string { return fmt.Sprintf("2024%02d%02d", 1+i*7%13, 1+i%28) }, ""},
		"no such day":             {60, func(i int) string { return fmt.Sprintf("202402%02d", 1+i*7%30) }, ""},
		"years":                   {60, func(i int) string { return fmt.Sprint(1950 + i*7%60) }, ""},
	} {
		var text strings.Builder
		text.WriteString("x\n")
		for i := range c.rows {
			text.WriteString(c.cell(i) + "\n")
		}
		r := profiled(t, text.String(), "", nil)
		if got := looks(r, AboutNumbered); (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
		texts := &proposal.Spec{Missing: proposal.MissingError, Columns: []proposal.Column{{Name: "x", Levels: []string{"1", "2"}}}}
		if got := looks(profiled(t, text.String(), "", texts), AboutNumbered); got != "" {
			t.Errorf("%s, as levels: %q", name, got)
		}
	}
}

// TestNoRows: a file without rows is at fault, and not in order with nothing to say.
func TestNoRows(t *testing.T) {
	r := profiled(t, "a,b\n", "", nil)
	if len(r.Faults) != 1 || r.Faults[0].What != "no rows follow the header" || r.Faults[0].First != 1 {
		t.Errorf("%+v", r.Faults)
	}
}

// TestMillimeters: lengths have their third usual unit.
func TestMillimeters(t *testing.T) {
	spec := &proposal.Spec{Missing: proposal.MissingError, Columns: []proposal.Column{{Name: "height_cm", Measure: "cm", Range: []float64{100, 230}, Standardize: proposal.StandardizePrivate}}}
	r := profiled(t, "height_cm\n"+strings.Repeat("1700\n1810\n1650\n", 20), "", spec)
	if got := looks(r, AboutUnit); !strings.Contains(got, "looks like mm where the study expects cm") {
		t.Error(got)
	}
	if got := strings.Join(r.Paste, "\n"); !strings.Contains(got, "multiply = 0.1 }") {
		t.Error(got)
	}
}
