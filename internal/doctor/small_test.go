package doctor

import (
	"strconv"
	"strings"
	"testing"

	"covey/internal/siteconfig"
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

// TestLocalWarns: a mapping from a column that is not there is seen without a study, and a budget
// that promises little is said to.
func TestLocalWarns(t *testing.T) {
	warnings := func(keys, budget string) (out []string) {
		c := messySite(t, "small.csv", messyTable(nil), keys)
		switch budget {
		case "":
			c.Populations[0].CapRho = 0.1
		case "0.2", "0.4", "1e300":
			c.Populations[0].CapRho, _ = strconv.ParseFloat(budget, 64)
		default:
			c.Populations[0].CapRho, c.Populations[0].Budget = 0, &siteconfig.Budget{Epsilon: 30, Delta: 1e-6}
		}
		for _, f := range Local(c) {
			if f.Err != nil {
				t.Error(f.Err)
			}
			if f.Warning {
				out = append(out, f.Result)
			}
		}
		return out
	}
	if got := warnings("[dataset.columns]\nage = \"Alter\"\nweight = \"weight_kg\"\n", ""); len(got) != 1 || !strings.Contains(got[0], `columns that the source does not have: 1, the first "Alter"`) {
		t.Errorf("%q", got)
	}
	if got := warnings("", "30"); len(got) != 1 || !strings.Contains(got[0], "epsilon = 30 promises its people little") {
		t.Errorf("%q", got)
	}
	for rho, want := range map[string]string{"0.4": "cap_rho = 0.4, which is epsilon = 4.", "1e300": "cap_rho = 1e+300, which is epsilon = +Inf at delta = 1e-06, promises its people little"} {
		if got := warnings("", rho); len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q", got)
		}
	}
	for _, budget := range []string{"", "0.2"} {
		if got := warnings("", budget); len(got) > 0 {
			t.Errorf("%q: %q", budget, got)
		}
	}
}
