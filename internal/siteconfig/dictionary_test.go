package siteconfig

import (
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

const agreed = `dictionary = { creatinine = { measure = "µmol/L", offset = 90, scale = 25 }, sex = { levels = ["F", "M"] }, admitted = { as = "days since 2000-01-01" }, age = {} }
`

// TestDictionary: with one, a policy approves a study whose columns are all in it and as it has
// them, by the proposal's text alone; of any other the rule says which column and which key.
func TestDictionary(t *testing.T) {
	c, err := Parse([]byte(strings.Replace(goodConfig, "max_delta = 1e-6\n", "max_delta = 1e-6\n"+agreed, 1)), "/site/agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	as := []proposal.Column{
		{Name: "creatinine", Measure: "µmol/L", Offset: 90, Scale: 25}, {Name: "sex", Levels: []string{"F", "M"}, Scale: 1},
		{Name: "admitted", As: "days since 2000-01-01", Scale: 100}, {Name: "age", Offset: 3, Scale: 4, Measure: "anything"},
	}
	judge := func(c *Config, columns []proposal.Column) PolicyRule {
		t.Helper()
		plan := &study.Plan{Proposal: proposal.Proposal{Spec: proposal.Spec{Dataset: "rows", Columns: columns}}}
		for _, r := range c.Policy.Judge(plan, 0) {
			if strings.HasSuffix(r.Rule, "dictionary") {
				return r
			}
		}
		t.Fatal("no rule of the dictionary")
		return PolicyRule{}
	}
	if r := judge(c, as); !r.OK {
		t.Errorf("as agreed: %v", r)
	}
	for want, change := range map[string]func([]proposal.Column){
		"creatinine: another measure":     func(c []proposal.Column) { c[0].Measure = "mg/dL" },
		"creatinine: another offset":      func(c []proposal.Column) { c[0].Offset = 91 },
		"creatinine: another scale":       func(c []proposal.Column) { c[0].Scale = 1e-6 },
		"creatinine: another standardize": func(c []proposal.Column) { c[0].Standardize = proposal.StandardizePrivate },
		"sex: another levels":             func(c []proposal.Column) { c[1].Levels = []string{"M", "F"} },
		"admitted: another as":            func(c []proposal.Column) { c[2].As = "" },
		"bmi":                             func(c []proposal.Column) { c[3].Name = "bmi" },
	} {
		columns := append([]proposal.Column(nil), as...)
		change(columns)
		if r := judge(c, columns); r.OK || !strings.Contains(r.Study, want) {
			t.Errorf("%s: %v", want, r)
		}
	}
	if !strings.Contains(c.Policy.Unattended(), "as the dictionary has them (4)") {
		t.Error(c.Policy.Unattended())
	}
	// a data set's own is in place of it
	c, err = Parse([]byte(strings.Replace(goodConfig, "max_delta = 1e-6\n", "max_delta = 1e-6\n"+agreed, 1)+"[policy.dataset.rows]\ndictionary = { bmi = { scale = 2 } }\n"), "/site/agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	if words := c.Policy.Unattended(); !strings.Contains(words, `as the dictionary has them (4), but on data sets with lists of their own ("rows") of what those have`) {
		t.Error(words)
	}
	if r := judge(c, []proposal.Column{{Name: "bmi", Scale: 2}}); !r.OK || r.Rule != "dataset.rows.dictionary" {
		t.Error(r)
	}
	if r := judge(c, as); r.OK {
		t.Error(r)
	}
	for key, lines := range map[string]string{"policy.dictionary.a.scale": "dictionary = { a = { scale = 0.0 } }\n", "policy.dictionary.a.offset": "dictionary = { a = { offset = nan } }\n", "policy.dictionary.a.sclae": "dictionary = { a = { sclae = 1 } }\n"} {
		if _, err := Parse([]byte(strings.Replace(goodConfig, "max_delta = 1e-6\n", "max_delta = 1e-6\n"+lines, 1)), "/site/agent.toml"); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
