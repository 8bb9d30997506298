package doctor

import (
	"strings"
	"testing"
)

// TestSmallSiteOfALargeStudy: a site whose own size is too little for a study, were all like it, is
// no fault of the study: the dry run is made with larger sites, and the site is told.
func TestSmallSiteOfALargeStudy(t *testing.T) {
	c := messySite(t, "small.csv", messyTable(nil), "unit = \"patient_id\"\n")
	spec := func(more string) []byte {
		return []byte("name = \"s\"\ndataset = \"icu\"\nepsilon = 1.0\ndelta = 1e-6\nunit = \"patient_id\"\nstandardize = \"private\"\ncolumns = [\"age\", \"height_cm\"]\n" + more)
	}
	var told, ran bool
	for _, f := range CheckStudy(c, spec("")) {
		if f.Err != nil {
			t.Errorf("%s: %v", f.Check, f.Err)
		}
		told = told || f.Warning && strings.Contains(f.Result, "the other sites must have more") && strings.Contains(f.Result, "180 units are too few")
		ran = ran || f.Check == "dry run of one round" && strings.Contains(f.Result, "was computed on your 120 rows")
	}
	if !told || !ran {
		t.Errorf("%+v", CheckStudy(c, spec("")))
	}
	// What no number of units mends is a fault as before.
	found := CheckStudy(c, spec("corrupt = 2\n"))
	if last := found[len(found)-1]; last.Err == nil {
		t.Errorf("%+v", found)
	}
}
