package siteconfig

import (
	"strings"
	"testing"

	"covey/internal/proposal"
)

// TestDictionaryOfNumbers: who agreed on a column's offset or scale agreed on a number. A study
// that counts its values one by one, as levels, has both constants' defaults and is not as agreed.
func TestDictionaryOfNumbers(t *testing.T) {
	zero, one := 0.0, 1.0
	for _, e := range []Entry{{Offset: &zero, Scale: &one}, {Offset: &zero}, {Scale: &one}} {
		if key := e.differs(proposal.Column{Name: "hiv", Scale: 1}); key != "" {
			t.Errorf("a number as agreed: another %s", key)
		}
		if key := e.differs(proposal.Column{Name: "hiv", Scale: 1, Levels: []string{"1"}}); key != "levels" {
			t.Errorf("%+v: levels of a number: %q", e, key)
		}
	}
}

// TestDiffOfColumns: what the site says of a column is in a reload's diff, by its name.
func TestDiffOfColumns(t *testing.T) {
	text := strings.Replace(goodConfig, "[[dataset]]", "[[dataset]]\ncolumns = { age = \"Alter\" }", 1)
	a, err := Parse([]byte(text), "/site/agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse([]byte(strings.Replace(text, `"Alter"`, `{ from = "Alter", multiply = 2 }`, 1)), "/site/agent.toml")
	if err != nil {
		t.Fatal(err)
	}
	diff := a.Diff(b)
	if len(diff) != 1 || !strings.HasSuffix(diff[0], ".columns.age") || strings.Contains(diff[0], "Alter") {
		t.Errorf("%q", diff)
	}
}
