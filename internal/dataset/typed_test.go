package dataset

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
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

// TestIDs: bytes of no stated type are a name that no other bytes have, but for a text's blanks
// where texts may have any length.
func TestIDs(t *testing.T) {
	for _, c := range []struct {
		raw   string
		fixed bool
		want  string
	}{
		{"p1", true, "p1"}, {"p1", false, "p1"}, {"Müller-7", true, "Müller-7"},
		{"p1 ", false, "p1 "}, {"p1 ", true, `\x703120`},
		{"", false, ""}, {"  ", true, "  "}, {"NA ", true, "NA "}, {"nan", true, "nan"}, // missing
		{"\x00\x20", false, `\x0020`}, {"\x00\x09", false, `\x0009`}, {"\xff\x20", false, `\xff20`}, {"a\tb", false, `\x610962`},
		{`\x0020`, false, `\x5c7830303230`},
	} {
		if got := AppendID([]byte("-"), []byte(c.raw), c.fixed); string(got) != "-"+c.want {
			t.Errorf("%q, %v: %q, want %q", c.raw, c.fixed, got, c.want)
		}
	}
	alphabet := rapid.SampledFrom([]byte(" \t\x00\xffNAnapx\\x07"))
	rapid.Check(t, func(t *rapid.T) {
		fixed := rapid.Bool().Draw(t, "fixed")
		a := rapid.SliceOfN(alphabet, 0, 6).Draw(t, "a")
		b := rapid.SliceOfN(alphabet, 0, 6).Draw(t, "b")
		name := func(raw []byte) string { return trim(string(AppendID(nil, raw, fixed))) }
		if name(a) != name(b) || isMissing(name(a)) {
			return
		}
		if fixed && len(a) == len(b) && string(a) != string(b) || trim(string(a)) != trim(string(b)) {
			t.Fatalf("%q and %q are both %q", a, b, name(a))
		}
	})
}
