package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestFaultyRowsAreLeftOut: DATA-9. Of a file that nobody looked at, every row with a value missing
// or at fault becomes zeros and keeps its place, whichever fault it is; the first is named for the
// site's operator, with no value. A fault of the schema stays one.
func TestFaultyRowsAreLeftOut(t *testing.T) {
	bad := []string{"NA", "", "x", "41,5", "Inf", "-inf", "1e999", "1e200"}
	var text strings.Builder
	text.WriteString("a,b,who\n")
	for i, word := range bad {
		fmt.Fprintf(&text, "%d,\"%s\",p%d\n5,6,q\n", i, word, i)
	}
	for _, precision := range []Precision{Float64, Float32} {
		q := Request{Columns: []Column{{"b", 1, 2}, {"a", 0, 1}}, Unit: "who", Missing: MissingDropFaulty, Precision: precision}
		s := Source{Path: write(t, text.String())}
		r, err := Read(s, q, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Rows != 2*len(bad) || r.Units != len(bad)+1 || r.Dropped != len(bad) || r.Faulty != len(bad)-2 {
			t.Errorf("%+v: %d rows of %d units, %d left out, %d at fault", r, r.Rows, r.Units, r.Dropped, r.Faulty)
		}
		if e := r.Fault; e == nil || !e.Value || e.Row != 6 || e.Column != "b" || e.Schema != "" {
			t.Errorf("the first fault is %v", e)
		}
		at := 0
		r.Visit(func(row []float64, dropped bool) {
			want := []float64{2.5, 5}
			if at%2 == 0 {
				want = []float64{0, 0}
			}
			if !slices.Equal(row, want) || dropped != (at%2 == 0) {
				t.Errorf("row %d is %v, dropped %t, want %v", at, row, dropped, want)
			}
			at++
		})
		if at != r.Rows {
			t.Errorf("%d rows of %d", at, r.Rows)
		}
		seen := 0
		if _, err := Look(s, q, ReadOptions{}, func(row []float64, dropped bool) {
			if dropped != (seen%2 == 0) || dropped && (row[0] != 0 || row[1] != 0) {
				t.Errorf("row %d is shown as %v, dropped %t", seen, row, dropped)
			}
			seen++
		}); err != nil || seen != r.Rows {
			t.Errorf("%d rows are shown, %v", seen, err)
		}
		q.Missing = MissingDropRow
		if _, err := Read(s, q, ReadOptions{}); err == nil {
			t.Error("a fault is none where somebody looks")
		}
	}
	for name, text := range map[string]string{"columns": "a,c,who\n1,2,p\n", "a ragged row": "a,b,who\n1,2\n", "a unit": "a,b,who\n1,2,\n"} {
		q := Request{Columns: []Column{{"b", 0, 1}, {"a", 0, 1}}, Unit: "who", Missing: MissingDropFaulty}
		if _, err := Read(Source{Path: write(t, text)}, q, ReadOptions{}); err == nil {
			t.Errorf("%s: no fault", name)
		}
	}
}
