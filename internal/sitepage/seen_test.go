package sitepage

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"covey/internal/agent"
	"covey/internal/siteconfig"
)

var seenOf = regexp.MustCompile(`name="seen" value="([0-9a-f]{64})"`)

// seenIn is what a page's form says of what was read.
func seenIn(page string) string {
	if found := seenOf.FindStringSubmatch(page); found != nil {
		return found[1]
	}
	return ""
}

// TestChangedFigures: the data set's file, another study's approval or agent.toml changes what was
// read. The form approves nothing, shows what there is now, and leaves the letters good; it can
// still reject.
func TestChangedFigures(t *testing.T) {
	for name, change := range map[string]func(*site, *agent.StudyDetail){
		"the rows":      func(s *site, _ *agent.StudyDetail) { s.figures.Columns[1].Median = 180 },
		"a warning":     func(s *site, _ *agent.StudyDetail) { s.figures.Columns[0].Warnings = []string{"is odd"} },
		"rows at fault": func(s *site, _ *agent.StudyDetail) { s.figures.Faulty = 3 },
		"the budget":    func(_ *site, d *agent.StudyDetail) { b := *d.Budget; b.LeftRho /= 2; d.Budget = &b },
		"a rule": func(_ *site, d *agent.StudyDetail) {
			d.Policy = []siteconfig.PolicyRule{{Rule: "max_epsilon", Limit: "0.1"}}
		},
	} {
		v, id := visited(t)
		v.site.figures.Columns[1].Median = 5
		form := v.form(id)
		d := v.site.studies[id]
		change(v.site, &d)
		v.site.studies[id] = d
		path := "/studies/" + id.String()
		w := v.do("POST", path, form, nil)
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "not what the page showed") || !v.site.untouched() {
			t.Errorf("%s: %d, approved %v", name, w.Code, v.site.approved)
		}
		form.Set("seen", seenIn(w.Body.String()))
		if w := v.do("POST", path, form, nil); w.Code != http.StatusSeeOther || len(v.site.approved) != 1 {
			t.Errorf("%s, read again: %d, approved %v", name, w.Code, v.site.approved)
		}
	}
	v, id := visited(t)
	form := v.form(id)
	v.site.figures.Columns[1].Median = 180
	form.Set("decision", "reject")
	if w := v.do("POST", "/studies/"+id.String(), form, nil); w.Code != http.StatusSeeOther || len(v.site.rejected) != 1 {
		t.Errorf("rejected: %d", w.Code)
	}
}
