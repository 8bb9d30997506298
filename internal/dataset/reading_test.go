package dataset

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mixed asks for a number, levels, a boolean and a date.
var mixed = Request{
	Columns: []Column{{"x", 1, 2}, {"color", 0, 1}, {"sold", 0, 1}, {"since", 1, 2}},
	// 2000-01-01
	Readings: []Reading{{}, {Levels: []string{"E", "F g", "12"}}, {As: Boolean}, {As: Days, Epoch: 10957}},
	Missing:  MissingDropRow,
}

// What every cell becomes, in CSV, and what none of them can do: refuse the file.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		color, sold, since string
		want               []float64 // after x; nil: the row is dropped
	}{
		{"E", "true", "2000-01-02", []float64{1, 0, 0, 0, 1, 0}},
		{" F g\t", " YES ", "2000-01-01T23:59:59Z", []float64{0, 1, 0, 0, 1, -0.5}},
		{"12", "t", "2000-01-04 08:30", []float64{0, 0, 1, 0, 1, 1}},
		{"12.0", "Y", "1999-12-31 08:30:00.25+02:00", []float64{0, 0, 0, 1, 1, -1}},
		{"e", "1", "2000-03-01", []float64{0, 0, 0, 1, 1, 29.5}}, // 60 days on, of a leap year
		{"other", "False", "1970-01-01", []float64{0, 0, 0, 1, 0, -5479}},
		{"null", "F", "0000-01-01", []float64{0, 0, 0, 1, 0, -365243}},
		{"inf", "no", "9999-12-31", []float64{0, 0, 0, 1, 0, 1460969}},
		{"=cmd()", "n", "2000-01-01", []float64{0, 0, 0, 1, 0, -0.5}},
		{"\x00\xff", "0", "2000-01-01", []float64{0, 0, 0, 1, 0, -0.5}},
		{"", "0", "2000-01-01", nil},
		{"NA", "0", "2000-01-01", nil},
		{"nan", "0", "2000-01-01", nil},
		{"E", "", "2000-01-01", nil},
		{"E", "maybe", "2000-01-01", nil},
		{"E", "1.0", "2000-01-01", nil},
		{"E", "truest", "2000-01-01", nil},
		{"E", "1", "", nil},
		{"E", "1", "2000-13-01", nil},
		{"E", "1", "2023-02-29", nil},
		{"E", "1", "01.02.2000", nil},
		{"E", "1", "2000-01-01 noon", nil},
		{"E", "1", "2000-01-01x08:30", nil},
		{"E", "1", "+200-01-01", nil},
		{"E", "1", "2000-1-1", nil},
		{"E", "1", "infinity", nil},
	} {
		path := filepath.Join(t.TempDir(), "x.csv")
		text := fmt.Sprintf("color,x,since,sold\n%q,3,%q,%q\nE,3,2000-01-01,1\n", c.color, c.since, c.sold)
		text = strings.NewReplacer(`\t`, "\t", `\x00`, "\x00", `\xff`, "\xff").Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Read(Source{Path: path}, mixed, ReadOptions{})
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		want := append([]float64{1}, c.want...)
		if c.want == nil {
			want = make([]float64, 7)
		}
		if got := r.Values[:7]; r.D != 7 || (r.Dropped == 1) != (c.want == nil) || !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", c, got, want)
		}
	}
}

// A missing cell goes by missing, in a column of any kind.
func TestReadingsMissing(t *testing.T) {
	for column, cell := range map[string]string{"color": "NA,1,2000-01-01", "sold": "E,maybe,2000-01-01", "since": "E,1,soon"} {
		path := write(t, "x,color,sold,since\n3,"+cell+"\n")
		q := mixed
		q.Missing = MissingError
		_, err := Read(Source{Path: path}, q, ReadOptions{})
		if e, ok := err.(*Error); !ok || e.Column != column || e.Reason != "the value is missing" || !e.Value {
			t.Errorf("%s: %v", column, err)
		}
	}
}

// Text is the same rows in either precision; package npy has a test of the same cells.
func TestReadingsText(t *testing.T) {
	q := Request{
		Columns:  []Column{{"a", 0, 1}, {"b", 0, 1}},
		Readings: []Reading{{Levels: []string{"1", "2.5", "-3"}}, {As: Boolean}},
		Missing:  MissingDropRow,
	}
	want := []float64{
		1, 0, 0, 0, 1,
		0, 1, 0, 0, 0,
		0, 0, 1, 0, 1,
		0, 0, 0, 1, 1, // 7
		0, 0, 0, 0, 0, // missing
		0, 0, 0, 1, 1, // an infinity is no level
		0, 0, 0, 0, 0, // 2 is no boolean
	}
	s := Source{Path: write(t, "a,b\n1,1\n2.5,0\n-3,1\n7,1\n,1\ninf,1\n1,2\n")}
	for _, q.Precision = range []Precision{Float64, Float32} {
		r, err := Read(s, q, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Values
		for _, v := range r.Values32 {
			got = append(got, float64(v))
		}
		if !slices.Equal(got, want) || r.D != 5 || !slices.Equal(r.Absent, []int{4, 6}) {
			t.Errorf("%s: %v, %v", q.Precision, got, r.Absent)
		}
	}
}

// Another reading of a column is another recipe, whatever the words.
func TestReadingsRecipe(t *testing.T) {
	seen := map[[32]byte]int{}
	for i, readings := range [][]Reading{
		nil,
		{{Levels: []string{"a", "b"}}},
		{{Levels: []string{"b", "a"}}},
		{{Levels: []string{"ab"}}},
		{{As: Boolean}},
		{{As: Days}},
		{{As: Days, Epoch: 1}},
	} {
		recipe := Source{Path: "x.csv"}.Recipe(Request{Columns: []Column{{"a", 0, 1}}, Readings: readings, Missing: MissingError})
		if j, ok := seen[recipe]; ok {
			t.Errorf("readings %d and %d have one recipe", j, i)
		}
		seen[recipe] = i
	}
}

func TestReadingsRefused(t *testing.T) {
	for name, readings := range map[string][]Reading{
		"too few": {{}},
		"as":      {{As: "date"}, {}},
		"both":    {{As: Boolean, Levels: []string{"a"}}, {}},
		"twice":   {{Levels: []string{"a", "a"}}, {}},
		"missing": {{Levels: []string{"nan"}}, {}},
		"spaces":  {{Levels: []string{"a "}}, {}},
	} {
		q := Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Readings: readings, Missing: MissingError}
		if _, err := Read(Source{Path: write(t, "a,b\n1,2\n")}, q, ReadOptions{}); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

// No cell takes memory of its own.
func TestReadingsAllocateNothing(t *testing.T) {
	b := built(t, "row", mixed, Mapping{})
	cells := [][]byte{[]byte(" F g "), []byte("something else"), []byte("YES"), []byte("2024-05-31 10:00:00+00")}
	if n := testing.AllocsPerRun(100, func() {
		b.begin(1)
		b.put(0, 1)
		for j, c := range cells[1:] {
			b.put(j+1, Builder{b}.Cell(j+1, c))
		}
		Builder{b}.Cell(1, cells[0])
		if err := b.end(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%g allocations a row", n)
	}
}
