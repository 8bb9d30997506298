package main

import (
	"bytes"
	"strings"
	"testing"

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
