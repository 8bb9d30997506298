package dataset

import (
	"slices"
	"strings"
	"testing"
)

// TestTextsOfRows: a driver's cells are shown as their texts, row by row or many rows at a time,
// and none is kept beyond its rows.
func TestTextsOfRows(t *testing.T) {
	q := Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Readings: []Reading{{Levels: []string{"x"}}, {As: Days}}, Missing: MissingDropFaulty}
	b := Builder{built(t, "row", q, Mapping{})}
	var got [][]Typed
	b.b.kept = &texts{at: map[Typed]int{}}
	b.b.survey = func(row []float64) error {
		cells := make([]Typed, len(row))
		for j, v := range row {
			if v == v {
				cells[j] = b.b.kept.all[int(v)]
			}
		}
		got = append(got, cells)
		return nil
	}
	long := strings.Repeat("y", mostText+5)
	b.Begin()
	b.Text(0, []byte(" x "))
	b.Date(1, []byte("2024-05-31"))
	if err := b.End(); err != nil || len(b.b.kept.all) > 0 {
		t.Fatalf("%v, %d texts kept", err, len(b.b.kept.all))
	}
	cells := [][]float64{{b.Cell(0, []byte(long)), b.Cell(0, nil)}, {b.Day(1, 0.5), b.Day(1, 1e9)}}
	if err := b.Columnar(2, cells, nil); err != nil || len(b.b.kept.all) > 0 {
		t.Fatalf("%v, %d texts kept", err, len(b.b.kept.all))
	}
	want := [][]Typed{{{"x", false}, {"2024-05-31", true}}, {{long[:mostText], false}, {"1970-01-01", true}}, {{}, {}}}
	if !slices.EqualFunc(got, want, slices.Equal[[]Typed]) {
		t.Errorf("%v, want %v", got, want)
	}
}
