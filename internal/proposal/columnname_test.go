package proposal

import (
	"strings"
	"testing"
)

// TestNamesWithSpacesAround: no site has such a column, so that a proposer hears of it before any
// site does.
func TestNamesWithSpacesAround(t *testing.T) {
	head := "name = \"n\"\ndataset = \"d\"\nepsilon = 1.0\ndelta = 1e-6\nstandardize = \"private\"\n"
	for text, want := range map[string]string{
		`columns = ["age", "age "]`:               "columns[1].name: has spaces around it: \"age \"",
		`columns = ["age", "  "]`:                 "columns[1].name: has spaces around it",
		"columns = [\"age\"]\nunit = \" person\"": "unit: has spaces around it",
	} {
		if _, err := ParseSpec([]byte(head + text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := ParseSpec([]byte(head + `columns = ["blood pressure"]`)); err != nil {
		t.Error(err)
	}
}
