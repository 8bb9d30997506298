package profile

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnitsWrittenTwice: who is written in two ways is two units, which privacy does not cover
// together, and the site is told. What is another id stays one.
func TestUnitsWrittenTwice(t *testing.T) {
	for ids, want := range map[string]string{
		"7 007 7.0 8":     "2 of 4 units differ from another",
		"P7 p7 P8":        "1 of 3 units differs from another",
		"7 8 9 7 8":       "",
		"P07 P7 7.5 7":    "", // of other schemes than plain numbers nobody knows
		"0 00 0.0 x0 0x0": "2 of 5 units differ from another",
		"7 NA 8":          "",

		"1.23E+11 1.23E+11 4e+15 123456789012 9.8e+9": "3 of 4 units are written as a spreadsheet rounds long numbers, such as 1.23E+11",
		"1.5E11 E+11 12.5E+3 1E5 5e-10":               "",
	} {
		var text strings.Builder
		text.WriteString("who,x\n")
		for i, id := range strings.Fields(ids) {
			for range 3 {
				fmt.Fprintf(&text, "%s,%d\n", id, i)
			}
		}
		r := profiled(t, text.String(), "unit = \"who\"\n", nil)
		got := looks(r, AboutID)
		if (got != "") != (want != "") || !strings.Contains(got, want) || strings.Contains(got, "007") {
			t.Errorf("%s: %q", ids, got)
		}
	}
}
