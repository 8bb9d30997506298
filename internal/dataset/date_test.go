package dataset

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMappingOfDates: dates are read in the site's form alone: of another one none is taken for a
// date, though the digits would make one.
func TestMappingOfDates(t *testing.T) {
	const epoch = 10957 // 2000-01-01
	for _, c := range []struct{ form, text, want string }{
		{"DD.MM.YYYY", "31.05.2024", "2024-05-31"},
		{"DD.MM.YYYY", "1.2.2024", "2024-02-01"},
		{"DD.MM.YYYY", " 01.02.2024 ", "2024-02-01"},
		{"DD.MM.YYYY", "01.02.2024 13:45", "2024-02-01"},
		{"DD.MM.YYYY", "01.02.2024T3:45:10", "2024-02-01"},
		{"MM/DD/YYYY", "1/2/2024 3:45 PM", "2024-01-02"},
		{"MM/DD/YYYY", "1/2/2024 03:45am", "2024-01-02"},
		{"DD/MM/YYYY", "1/2/2024", "2024-02-01"},
		{"YYYY/MM/DD", "2024/2/1", "2024-02-01"},
		{"YYYY-MM-DD", "2024-2-1", "2024-02-01"},
		{"DD-MM-YYYY", "29-02-2024", "2024-02-29"},
		{"DD-MM-YYYY", "29-02-2023", ""}, // no such day
		{"MM/DD/YYYY", "31/05/2024", ""},
		{"DD/MM/YYYY", "05/31/2024", ""},
		{"DD.MM.YYYY", "2024-05-31", ""}, // another form
		{"DD.MM.YYYY", "31/05/2024", ""},
		{"DD.MM.YYYY", "31.05.24", ""}, // which century?
		{"DD.MM.YYYY", "031.05.2024", ""},
		{"DD.MM.YYYY", "31.05.2024.1", ""},
		{"DD.MM.YYYY", "31.05", ""},
		{"DD.MM.YYYY", "31.05.2024 or so", ""},
		{"DD.MM.YYYY", "31.05.2024 PM", ""},
		{"DD.MM.YYYY", "-1.05.2024", ""},
		{"DD.MM.YYYY", "", ""},
		{"DD.MM.YYYY", "01.01.1900", ""}, // in missing_values
		{"DD.MM.YYYY", "never", "2000-01-01"},
		{"", "2024-05-31 10:00", "2024-05-31"},
		{"", "31.05.2024", ""},
	} {
		want := math.NaN()
		if day, err := time.Parse(time.DateOnly, c.want); err == nil {
			want = float64(day.Unix()/86400 - epoch)
		}
		names := map[string]string{"never": "2000-01-01"}
		for what, m := range map[string]Mapping{
			"of the column": {Columns: map[string]From{"d": {Name: "x", Names: names, Dates: c.form}}},
			"of all":        {Columns: map[string]From{"d": {Name: "x", Names: names}}, Dates: c.form},
			"before all's":  {Columns: map[string]From{"d": {Name: "x", Names: names, Dates: c.form}}, Dates: c.form},
		} {
			m.Separator, m.MissingValues = "|", []string{"01.01.1900"}
			if err := m.Check("id"); err != nil {
				t.Fatal(err)
			}
			q := Request{Columns: []Column{{"d", 0, 1}, {"a", 0, 1}}, Readings: []Reading{{As: Days, Epoch: epoch}, {}}, Missing: MissingDropRow}
			r, err := values(t, "x.csv", "x|a\n"+c.text+"|7\n", m, q)
			if err != nil || math.IsNaN(want) != (r.Dropped == 1) || r.Dropped == 0 && !slices.Equal(r.Values, []float64{want, 7}) {
				t.Errorf("%q as %q %s: %+v, want %v; %v", c.text, c.form, what, r, want, err)
			}
		}
	}
	// a column's form comes before the mapping's
	m := Mapping{Dates: "DD/MM/YYYY", Columns: map[string]From{"us": {Dates: "MM/DD/YYYY"}}}
	q := Request{Columns: []Column{{"us", 0, 1}, {"eu", 0, 1}}, Readings: []Reading{{As: Days}, {As: Days}}, Missing: MissingError}
	if r, err := values(t, "x.csv", "us,eu\n01/02/1970,01/02/1970\n", m, q); err != nil || !slices.Equal(r.Values, []float64{1, 31}) {
		t.Errorf("%+v, %v", r, err)
	}
	// columns that are no dates are as they were
	q = Request{Columns: []Column{{"us", 0, 1}, {"eu", 0, 1}}, Readings: []Reading{{Levels: []string{"01/02/1970"}}, {}}, Missing: MissingError}
	if r, err := values(t, "x.csv", "us,eu\n01/02/1970,1.5\n", m, q); err != nil || !slices.Equal(r.Values, []float64{1, 0, 1.5}) {
		t.Errorf("%+v, %v", r, err)
	}
	// a typed date has no form
	q = Request{Columns: []Column{{"us", 0, 1}}, Readings: []Reading{{As: Days}}, Missing: MissingError}
	if (Builder{built(t, "row", q, m)}).Day(0, 5) != 5 {
		t.Error("a typed date is read by the form of text")
	}
	// and its codes for a missing value, and names, are as YYYY-MM-DD
	m = Mapping{Dates: "DD/MM/YYYY", MissingValues: []string{"9999-12-31"}, Columns: map[string]From{"us": {Names: map[string]string{"1900-01-01": "NA", "1970-01-02": "1970-01-11"}}}}
	b := built(t, "row", q, m)
	for _, since := range []float64{2932896, 2932896.9, 1e9, -25567, math.NaN()} {
		if v := (Builder{b}).Day(0, since); !math.IsNaN(v) {
			t.Errorf("%v, which stands for a missing value, is %v", since, v)
		}
	}
	if v, w := (Builder{b}).Day(0, 1.5), (Builder{b}).Day(0, 5); v != 10 || w != 5 {
		t.Errorf("%v and %v, want 10 and 5", v, w)
	}
}

// TestCodedDates: a date that stands for a missing value, or that names have, is that at any time
// of day and in any form, by names first.
func TestCodedDates(t *testing.T) {
	m := Mapping{Dates: "DD.MM.YYYY", MissingValues: []string{"9999-12-31", "01.01.1900", "1970-01-09", "NULL"}, Columns: map[string]From{
		"b": {Dates: "YYYY-MM-DD", Names: map[string]string{"1970-01-02": "NA", "1970-01-03": "1970-01-11", "9999-12-31": "1970-01-05", "1970-1-9": "1970-01-21"}},
	}}
	q := Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Readings: []Reading{{As: Days}, {As: Days}}, Missing: MissingGaps}
	text := "a,b\n31.12.9999 00:00,1970-01-02T10:00\n1.1.1900,1970-1-3\n02.01.1970,9999-12-31 23:59:59\n01.01.1970,1970-01-04\n02.01.1970,1970-01-09\n"
	r, err := values(t, "x.csv", text, m, q)
	if want := []float64{0, 0, 0, 10, 1, 4, 0, 3, 1, 20}; err != nil || !slices.Equal(r.Values, want) || !slices.Equal(r.Gaps, []byte{3, 1, 0, 0, 0}) {
		t.Errorf("%v, want %v; %v", r, want, err)
	}
	b := Builder{built(t, "row", q, m)}
	if v, w := b.Day(0, 2932896.5), b.Day(1, 2932896.5); !math.IsNaN(v) || w != 4 {
		t.Errorf("%v and %v, want none and 4", v, w)
	}
	lost, formed := m.Dateless("b"), m.Dateless("a")
	if !lost("1970-01-02 10:00", false) || lost("1970-01-03", false) || lost("9999-12-31", false) || lost("NULL", false) || !formed("31.12.9999", false) || formed("9999-12-31", false) || !formed("9999-12-31", true) {
		t.Error("a profile takes other dates for missing ones")
	}
}

func TestMappingOfBadDates(t *testing.T) {
	for _, form := range []string{"DD.MM.YY", "dd.mm.yyyy", "DD.MM/YYYY", "YYYY-DD-MM", "DDMMYYYY", "MM", "DD MM YYYY"} {
		for _, m := range []Mapping{{Dates: form}, {Columns: map[string]From{"a": {Dates: form}}}} {
			if err := m.Check(""); err == nil || !strings.Contains(err.Error(), `dates: must be one of ["YYYY-MM-DD"`) {
				t.Errorf("%q: %v", form, err)
			}
		}
		if !math.IsNaN(DateOf(form, "01.02.2024")) {
			t.Errorf("%q is read", form)
		}
	}
	if err := (Mapping{Columns: map[string]From{"id": {Dates: "DD.MM.YYYY"}}}).Check("id"); err == nil || !strings.Contains(err.Error(), "columns.id: is the unit") {
		t.Error(err)
	}
}

// TestMappingOfDatesInWords: the form is part of what an approval and a cache file are of.
func TestMappingOfDatesInWords(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range []Mapping{
		{}, {Dates: "DD.MM.YYYY"}, {Dates: "DD/MM/YYYY"}, {Columns: map[string]From{"a": {}}},
		{Columns: map[string]From{"a": {Dates: "DD.MM.YYYY"}}}, {Columns: map[string]From{"a": {Dates: "MM.DD.YYYY"}}}, {Columns: map[string]From{"a": {Name: "DD.MM.YYYY"}}},
	} {
		var words []string
		m.Words(func(v string) { words = append(words, v) })
		word := strings.Join(words, "\n")
		if seen[word] || m.Empty() != (len(seen) == 0) {
			t.Errorf("%+v has the words of another", m)
		}
		seen[word] = true
	}
}

// No date takes memory of its own.
func TestDatesAllocateNothing(t *testing.T) {
	text := []byte(" 31.05.2024 3:45 PM")
	q := Request{Columns: []Column{{"d", 0, 1}}, Readings: []Reading{{As: Days}}, Missing: MissingError}
	b := built(t, "row", q, Mapping{Dates: "DD.MM.YYYY"})
	if n := testing.AllocsPerRun(100, func() {
		if math.IsNaN((Builder{b}).Cell(0, text)) {
			t.Fatal("it is no date")
		}
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// Whatever a text is, it is a day of the years 0 to 9999 or none, and of the form that says
// YYYY-MM-DD what it is without a form.
func FuzzDateOf(f *testing.F) {
	for _, text := range []string{"31.05.2024", "1/2/2024 3:45 PM", "2024-05-31T10:00:00Z", "..", "31.05.", "T", " 1:", "0.0.0000", "29.2.2023"} {
		for i := range DateForms {
			f.Add(byte(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, form byte, text string) {
		at := DateForms[int(form)%len(DateForms)]
		v := DateOf(at, text)
		if !math.IsNaN(v) && (v != math.Trunc(v) || v < float64(firstDay) || v > float64(lastDay)) {
			t.Fatalf("%q as %s is day %v", text, at, v)
		}
		if iso, ok := date(trim(text)); ok {
			if got := DateOf("YYYY-MM-DD", text); got != float64(iso) {
				t.Fatalf("%q is day %d, as YYYY-MM-DD %v", text, iso, got)
			}
		}
	})
}
