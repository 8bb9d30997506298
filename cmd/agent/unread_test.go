package main

import (
	"bytes"
	"strings"
	"testing"

	"covey/internal/agent"
	"covey/internal/siteconfig"
	"covey/internal/sitedata"
)

// TestUnreadColumn: of a column without a value no median is shown, which would be a made-up 0.
func TestUnreadColumn(t *testing.T) {
	var out bytes.Buffer
	printFigures(&out, sitedata.Figures{Columns: []sitedata.ColumnFigure{
		{Name: "admitted", Scale: 1, Learned: true, Unread: true, Measure: "days"}, {Name: "ward", Scale: 1, Levels: 2, Unread: true}, {Name: "age", Scale: 1, Median: 0, Spread: 3},
	}})
	screen := out.String()
	if strings.Count(screen, "no value read") != 2 || strings.Contains(screen, "0% other") || strings.Count(screen, "  0 ") > 2 {
		t.Error(screen)
	}
}

// TestUncheckedUnitsAreSaid: a table without a warning does not look as if units had been checked.
func TestUncheckedUnitsAreSaid(t *testing.T) {
	var out bytes.Buffer
	printFigures(&out, sitedata.Figures{Columns: []sitedata.ColumnFigure{{Name: "age", Learned: true}, {Name: "height", Scale: 1}}})
	if !strings.Contains(out.String(), "Of 1 of these 2 columns nothing checks the unit of measurement") {
		t.Error(out.String())
	}
}

// TestPolicyVerdict: a policy that asks about every study does not call each of them outside.
func TestPolicyVerdict(t *testing.T) {
	ok := siteconfig.PolicyRule{Rule: "min_sites", Limit: "3", Study: "3 sites", OK: true}
	asks := siteconfig.PolicyRule{Rule: "approve", Limit: `"ask"`, Study: "every study"}
	few := siteconfig.PolicyRule{Rule: "min_sites", Limit: "3", Study: "2 sites"}
	for want, rules := range map[string][]siteconfig.PolicyRule{
		"within all limits\n":                               {ok},
		"within all limits; it leaves every study to you\n": {asks, ok},
		"outside, so you decide\n":                          {asks, few},
	} {
		var out bytes.Buffer
		s := agent.StudyDetail{Policy: rules}
		s.State = "pending"
		printPolicy(&out, s)
		if !strings.Contains(out.String(), "policy says: "+want) || strings.Contains(out.String(), "OUTSIDE") != strings.HasPrefix(want, "outside") {
			t.Errorf("%q:\n%s", want, out.String())
		}
	}
}
