package profile

import (
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// TestTypedDatesHaveAForm: where the source's type says that a column is of dates, a day that is
// none, such as PostgreSQL's infinity, leaves no doubt about the form of the others.
func TestTypedDatesHaveAForm(t *testing.T) {
	spec, err := proposal.ParseSpec([]byte("name = \"s\"\ndataset = \"icu\"\nepsilon = 1\ndelta = 1e-6\nstandardize = \"private\"\nmissing = \"fill\"\n" +
		"columns = [{ name = \"seen\", as = \"days since 2000-01-01\" }]\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, d := site(t, t.TempDir(), "icu.csv", "", "")
	s := &sight{r: &Report{Dataset: "icu"}, spec: &spec, units: map[int]bool{}, kin: kin{seen: map[uint64]bool{}}, readings: d.Request(spec).Readings}
	s.Header([]string{"seen"}, -1)
	for i, text := range []string{"2024-05-31", "2024-06-01", "infinity"} {
		s.Row(i+1, -1)
		s.typedCell(0, dataset.Typed{Text: text, Date: true})
	}
	s.columns[0].fits = true
	s.report(dataset.Mapping{})
	if len(s.r.Faults) != 1 || s.r.Faults[0].Count != 1 || s.r.Faults[0].First != 3 || !strings.HasPrefix(s.r.Faults[0].Do, "missing_values") {
		t.Errorf("%+v", s.r.Faults)
	}
	if paste := strings.Join(s.r.Paste, "\n"); strings.Contains(paste, "dates") {
		t.Errorf("paste %q", paste)
	}
}
