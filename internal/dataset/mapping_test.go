package dataset

import (
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"covey/test/cost"
)

// values reads columns a and b of a file by a mapping.
func values(t testing.TB, name, text string, m Mapping, q Request) (*Rows, error) {
	t.Helper()
	return Read(Source{Path: cost.File(t, name, []byte(text)), Mapping: m}, q, ReadOptions{})
}

// A table as a site has it becomes the one that a study asks for.
func TestMapping(t *testing.T) {
	q := Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Missing: MissingError}
	latin := func(v string) string {
		out, err := charmap.ISO8859_1.NewEncoder().String(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	wide, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String("a,b\r\n1,2\r\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		m    Mapping
		want []float64
	}{
		"as it is":             {"a,b\n1,2\n", Mapping{}, []float64{1, 2}},
		"semicolons":           {"a;b\n1;2\n", Mapping{Separator: ";"}, []float64{1, 2}},
		"tabs":                 {"a\tb\n1\t 2 \n", Mapping{Separator: "\t"}, []float64{1, 2}},
		"bars":                 {"a|b\n1|2\n", Mapping{Separator: "|"}, []float64{1, 2}},
		"decimal commas":       {"a;b\n1,5;-2,25e1\n", Mapping{Separator: ";", Decimal: ","}, []float64{1.5, -22.5}},
		"quoted decimal comma": {"a,b\n\"1,5\",2\n", Mapping{Decimal: ","}, []float64{1.5, 2}},
		"thousands":            {"a;b\n1.234.567,5;-12.345\n", Mapping{Separator: ";", Decimal: ",", Thousands: "."}, []float64{1234567.5, -12345}},
		"padded thousands":     {"a;b\n001.234,50;-000.125\n", Mapping{Separator: ";", Decimal: ",", Thousands: "."}, []float64{1234.5, -125}},
		"thousands by spaces":  {"a,b\n1 234.5,1\u00a0234\u202f567\n", Mapping{Thousands: " "}, []float64{1234.5, 1234567}},
		"thousands by quotes":  {"a,b\n1'234,7\n", Mapping{Thousands: "'"}, []float64{1234, 7}},
		"Latin-1":              {latin("a,größe\n1,2\n"), Mapping{Encoding: Latin1, Columns: map[string]From{"b": {Name: "größe"}}}, []float64{1, 2}},
		"Windows-1252":         {"a,\x80\n1,2\n", Mapping{Encoding: Windows1252, Columns: map[string]From{"b": {Name: "€"}}}, []float64{1, 2}},
		"UTF-16":               {wide, Mapping{Encoding: UTF16}, []float64{1, 2}},
		"UTF-16 without mark":  {"a\x00,\x00b\x00\n\x001\x00,\x002\x00", Mapping{Encoding: UTF16}, []float64{1, 2}},
		"preamble":             {"by Dr. \"X\nof,2024\n\na,b\n1,2\n", Mapping{SkipRows: 3}, []float64{1, 2}},
		"footer":               {"a,b\n1,2\n3,4\nTOTAL\n\nexported \"today\n", Mapping{SkipLast: 2}, []float64{1, 2, 3, 4}},
		"other names":          {"b,x\n1,2\n", Mapping{Columns: map[string]From{"a": {Name: "b"}, "b": {Name: "x"}}}, []float64{1, 2}},
		"another unit":         {"a,b\n1,50\n", Mapping{Columns: map[string]From{"a": {Multiply: 88.4}, "b": {Multiply: 5.0 / 9, Add: -160.0 / 9}}}, []float64{88.4, 10}},
		"a shift":              {"a,b\n1,2\n", Mapping{Columns: map[string]From{"a": {Add: -1}}}, []float64{0, 2}},
		"texts for numbers":    {"a,b\nw,m\n", Mapping{Columns: map[string]From{"a": {Names: map[string]string{"w": "1"}}, "b": {Names: map[string]string{"m": "0"}}}}, []float64{1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.m.Check(""); err != nil {
				t.Fatal(err)
			}
			r, err := values(t, "x.csv", c.text, c.m, q)
			if err != nil || !slices.Equal(r.Values, c.want) {
				t.Fatalf("%v, want %v; %v", r, c.want, err)
			}
			packed, err := values(t, "x.csv.gz", string(pack(t, c.text)), c.m, q)
			if err != nil || !slices.Equal(packed.Values, c.want) {
				t.Errorf("packed: %v", err)
			}
		})
	}
}

// A name that is a number is of that number, however a cell writes it, even as a missing value; of
// its text first. A name that is no number makes it missing.
func TestNamesOfNumbers(t *testing.T) {
	m := Mapping{Separator: ";", Decimal: ",", MissingValues: []string{"-9", "-8"}, Columns: map[string]From{
		"a": {Multiply: 2, Names: map[string]string{"-8,0": "11", "99": "NA", "1,50": "3", "3": "4", "7,0": "8", "7,00": "9", "-9": "5", "6": "six"}},
	}}
	text := "a;b\n99;99\n99,0;1\n1,5;1,5\n1,50;3\n3;7\n7,00;8\n7;6\n-9,0;1\n6,0;1\n2;2\n-8;-8,0\n"
	r, err := values(t, "x.csv", text, m, Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Missing: MissingGaps})
	want := []float64{0, 99, 0, 1, 6, 1.5, 6, 3, 8, 7, 18, 8, 16, 6, 10, 1, 0, 1, 4, 2, 22, 0}
	if err != nil || !slices.Equal(r.Values, want) || !slices.Equal(r.Gaps, []byte{1, 1, 0, 0, 0, 0, 0, 0, 1, 0, 2}) {
		t.Errorf("%v, want %v; %v", r, want, err)
	}
}

// What a mapping does not make a number stays none, and a place is a line of the file as it is.
func TestMappingFaults(t *testing.T) {
	q := Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Missing: MissingError}
	for name, c := range map[string]struct {
		text string
		m    Mapping
		want string
	}{
		"point where the mark is a comma": {"a;b\n1.5;2\n", Mapping{Separator: ";", Decimal: ","}, `line 2, column "a": not a number`},
		"two commas":                      {"a;b\n1,2,3;2\n", Mapping{Separator: ";", Decimal: ","}, `line 2, column "a": not a number`},
		"groups of two":                   {"a;b\n12.34;2\n", Mapping{Separator: ";", Decimal: ",", Thousands: "."}, `line 2, column "a": not a number`},
		"a fraction behind another mark":  {"a;b\n0.125;2\n", Mapping{Separator: ";", Decimal: ",", Thousands: "."}, `line 2, column "a": not a number`},
		"another, with a sign":            {"a;b\n-0,125;2\n", Mapping{Separator: ";", Thousands: ","}, `line 2, column "a": not a number`},
		"a mark in the fraction":          {"a;b\n1,234.567;2\n", Mapping{Separator: ";", Decimal: ",", Thousands: "."}, `line 2, column "a": not a number`},
		"thousands that are not said":     {"a;b\n1.234,5;2\n", Mapping{Separator: ";", Decimal: ","}, `line 2, column "a": not a number`},
		"below a preamble":                {"x\ny\na,b\n1,2\n3,q\n", Mapping{SkipRows: 2}, `line 5, column "b": not a number`},
		"ragged below a preamble":         {"x\ny\na,b\n1,2\n3\n", Mapping{SkipRows: 2}, `line 5: 1 fields, the header has 2`},
		"blank below a preamble":          {"x\na,b\n1,2\n\n3,4\n", Mapping{SkipRows: 1}, `line 4: a blank line`},
		"header below a preamble":         {"x\na,c\n1,2\n", Mapping{SkipRows: 1}, `line 2, column "b": none of the header's 2 fields has this name`},
		"too long a preamble":             {"a,b\n1,2\n", Mapping{SkipRows: 4}, "has no lines after those that skip_rows passes over"},
		"all rows are a footer":           {"a,b\n1,2\n", Mapping{SkipLast: 3}, "no rows follow the header"},
		"rows that a quote holds":         {"a,b\n1,2\n\"3,4\n5,6\n7,8\n", Mapping{SkipLast: 1}, "line 3: " + reasonOver},
		"a fault before the footer":       {"a,b\n1,2,3\n4,5\nTOTAL\n", Mapping{SkipLast: 1}, "line 2: 3 fields, the header has 2"},
		"a name that is not there":        {"a,c\n1,2\n", Mapping{Columns: map[string]From{"b": {Name: "B"}}}, `line 1, column "b": from "B": none of the header's 2 fields has this name`},
		"one column twice":                {"a,c\n1,2\n", Mapping{Columns: map[string]From{"b": {Name: "a"}}}, `column "b": comes from "a", and so does "a"`},
		"UTF-8 that is said to be other":  {"\ufeffa,b\n1,2\n", Mapping{Encoding: Latin1}, "line 1: the file is UTF-8"},
		"a missing value's text":          {"a,b\n1,NULL\n", Mapping{MissingValues: []string{"NULL"}}, `line 2, column "b": the value is missing`},
		"a code as it is written":         {"a,b\n1,-9\n", Mapping{MissingValues: []string{"-9"}}, `line 2, column "b": the value is missing`},
		"a code in other digits":          {"a,b\n1,-9.00\n", Mapping{MissingValues: []string{"-9"}}, `line 2, column "b": the value is missing`},
		"a code in Europe":                {"a;b\n1;-9,0\n", Mapping{Separator: ";", Decimal: ",", MissingValues: []string{"-9"}}, `line 2, column "b": the value is missing`},
		"an infinity is not converted":    {"a,b\n1,Inf\n", Mapping{Columns: map[string]From{"b": {Multiply: 2}}}, `line 2, column "b": the value is infinite`},
		"a magnitude is the file's":       {"a,b\n1,1e155\n", Mapping{Columns: map[string]From{"b": {Multiply: 1e-100}}}, `line 2, column "b": the value is 2^480 or more`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := values(t, "x.csv", c.text, c.m, q)
			if e, ok := errors.AsType[*Error](err); !ok || r != nil || !strings.HasSuffix(err.Error(), c.want) || strings.Contains(e.Reason, "q") && name == "below a preamble" {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// The unit may have another name. A missing text is a missing unit, and a code that is a number is
// a unit like any other.
func TestMappingOfUnits(t *testing.T) {
	m := Mapping{MissingValues: []string{"-9", "NULL"}, Columns: map[string]From{"id": {Name: "Fall"}}}
	q := Request{Columns: []Column{{"a", 0, 1}}, Unit: "id", Missing: MissingError}
	r, err := values(t, "x.csv", "Fall,a\n7,1\n-9,2\n7,3\n", m, q)
	if err != nil || r.Units != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := values(t, "x.csv", "Fall,a\n7,1\nNULL,2\n", m, q); err == nil || !strings.HasSuffix(err.Error(), `line 3, column "id": the unit is missing`) {
		t.Error(err)
	}
	if _, err := values(t, "x.csv", "id,a\n7,1\n", m, q); err == nil || !strings.Contains(err.Error(), `column "id": from "Fall": none of`) {
		t.Error(err)
	}
	for _, f := range []From{{Multiply: 2}, {Add: 1}, {Names: map[string]string{"1": "2"}}} {
		if err := (Mapping{Columns: map[string]From{"id": f}}).Check("id"); err == nil || !strings.Contains(err.Error(), "columns.id: is the unit") {
			t.Errorf("%+v: %v", f, err)
		}
	}
}

// A category's name is the study's, and what a site's text is not named for stays as it is.
func TestMappingOfLevels(t *testing.T) {
	m := Mapping{MissingValues: []string{"?"}, Columns: map[string]From{"sex": {Name: "Geschlecht", Names: map[string]string{"w": "F", "m": "M"}}}}
	q := Request{Columns: []Column{{"sex", 0, 1}}, Readings: []Reading{{Levels: []string{"F", "M"}}}, Missing: MissingDropRow}
	r, err := values(t, "x.csv", "Geschlecht\nw\n m \nF\ndivers\n?\n", m, q)
	if want := []float64{1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0}; err != nil || !slices.Equal(r.Values, want) || !slices.Equal(r.Absent, []int{4}) {
		t.Errorf("%v %v, want %v; %v", r.Values, r.Absent, want, err)
	}
	// A code is one however a cell writes it, as in a column of numbers.
	q.Readings[0].Levels = []string{"1", "2"}
	r, err = values(t, "x.csv", "Geschlecht\n1\n-9.0\n-9\n-90\n", Mapping{MissingValues: []string{"-9"}, Columns: m.Columns}, q)
	if want := []float64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}; err != nil || !slices.Equal(r.Values, want) || !slices.Equal(r.Absent, []int{1, 2}) {
		t.Errorf("%v %v, want %v; %v", r.Values, r.Absent, want, err)
	}
	// 09 is a month, whatever 9 stands for.
	q.Readings[0].Levels = []string{"09", "10"}
	r, err = values(t, "x.csv", "Geschlecht\n09\n9.0\n10\n08\n", Mapping{MissingValues: []string{"9", "8"}, Columns: m.Columns}, q)
	if want := []float64{1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1}; err != nil || !slices.Equal(r.Values, want) || !slices.Equal(r.Absent, []int{1}) {
		t.Errorf("%v %v, want %v; %v", r.Values, r.Absent, want, err)
	}
	// of dates and booleans no number is converted
	q = Request{Columns: []Column{{"d", 0, 1}}, Readings: []Reading{{As: Days}}, Missing: MissingDropRow}
	r, err = values(t, "x.csv", "d\n1969-12-23\n1900-01-01\n", Mapping{MissingValues: []string{"-9", "1900-01-01"}, Columns: map[string]From{"d": {Multiply: 2}}}, q)
	if err != nil || !slices.Equal(r.Values, []float64{-9, 0}) || !slices.Equal(r.Absent, []int{1}) {
		t.Errorf("%v, %v", r, err)
	}
}

// Typed numbers are converted as text is.
func TestMappingOfNumbers(t *testing.T) {
	m := Mapping{MissingValues: []string{"-9"}, Columns: map[string]From{"a": {Name: "x", Multiply: 2, Add: 1}}}
	b := built(t, "row", Request{Columns: []Column{{"a", 1, 2}, {"b", 0, 1}}, Missing: MissingDropRow}, m)
	var mem memory
	mem.into(b)
	if b.sourceColumns[0].Name != "x" || b.sourceColumns[1].Name != "b" {
		t.Fatal(b.sourceColumns)
	}
	if err := b.columnar(3, [][]float64{{3, -9, 4}, {5, 6, -9}}, nil); err != nil {
		t.Fatal(err)
	}
	b.begin(4)
	b.put(0, 5)
	b.put(1, 7)
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	r, err := b.finish()
	if want := []float64{3, 5, 0, 0, 0, 0, 5, 7}; err != nil || !slices.Equal(mem.values, want) || !slices.Equal(r.Absent, []int{1, 2}) {
		t.Errorf("%v %v, want %v; %v", mem.values, r, want, err)
	}
}

// A code for a missing value is one in a column of float32 too, which has the nearest to it. No
// other value is: not the whole number that is the nearest to a code.
func TestMappingOfFloat32(t *testing.T) {
	c := newCells(Mapping{MissingValues: []string{"-999.9", "99999999", "1e-60"}}, []Column{{"a", 0, 1}})
	for v, missing := range map[float64]bool{-999.9: true, float64(float32(-999.9)): true, 99999999: true, 1e8: false, 0: false, -999.875: false} {
		if got := c.convert(0, v, Limit); math.IsNaN(got) != missing {
			t.Errorf("%v: %v", v, got)
		}
	}
}

// anyMapping draws a mapping that Check takes.
func anyMapping(t *rapid.T) Mapping {
	number := rapid.Custom(func(t *rapid.T) float64 {
		if rapid.Bool().Draw(t, "near") {
			return rapid.Float64Range(-1000, 1000).Draw(t, "number")
		}
		return math.Ldexp(rapid.Float64Range(-2, 2).Draw(t, "mantissa"), rapid.IntRange(-1000, 1000).Draw(t, "exponent"))
	})
	m := Mapping{
		Separator: rapid.SampledFrom([]string{"", ",", ";", "\t", "|"}).Draw(t, "separator"), Decimal: rapid.SampledFrom([]string{"", ".", ","}).Draw(t, "decimal"),
		Thousands: rapid.SampledFrom([]string{"", "'", " "}).Draw(t, "thousands"), Encoding: rapid.SampledFrom([]Encoding{"", UTF8, Latin1, Windows1252}).Draw(t, "encoding"),
		SkipRows: rapid.IntRange(0, 2).Draw(t, "before"), SkipLast: rapid.IntRange(0, 2).Draw(t, "after"),
	}
	if rapid.Bool().Draw(t, "codes") {
		m.MissingValues = []string{"-9", "NULL"}
	}
	if rapid.Bool().Draw(t, "columns") {
		m.Columns = map[string]From{
			"a": {Name: rapid.SampledFrom([]string{"", "x"}).Draw(t, "from"), Multiply: number.Draw(t, "multiply"), Add: number.Draw(t, "add")},
			"b": {Names: map[string]string{"w": "1"}},
		}
	}
	return m
}

// TestConversionsStayBounded: whatever the cells, the constants and the mapping are, a value is
// finite and below the limit, and which cells are refused does not depend on the numbers of the
// mapping or of the study.
func TestConversionsStayBounded(t *testing.T) {
	cells := rapid.SampledFrom([]string{"0", "-9", "1e144", "-1e144", "3.5", "3,5", "1 234", "w", "NULL", "", "Inf", "1e145", "1e999", "<5", "5e-324", "-0"})
	rapid.Check(t, func(t *rapid.T) {
		m := anyMapping(t)
		if err := m.Check(""); err != nil {
			t.Fatal(err)
		}
		var cs []string
		for range 6 {
			cs = append(cs, cells.Draw(t, "cell"))
		}
		precision := rapid.SampledFrom([]Precision{Float64, Float32}).Draw(t, "precision")
		at := Column{"a", rapid.Float64Range(-1e100, 1e100).Draw(t, "offset"), math.Ldexp(1, rapid.IntRange(-332, 332).Draw(t, "scale"))}
		read := func(m Mapping, at Column) []float64 {
			name := m.Source("a")
			comma := m.Separator
			if comma == "" {
				comma = ","
			}
			line := func(a, b string) string { return `"` + a + `"` + comma + `"` + b + "\"\n" }
			text := strings.Repeat("preamble\n", m.SkipRows) + line(name, "b")
			for i := 0; i < len(cs); i += 2 {
				text += line(cs[i], cs[i+1])
			}
			text += strings.Repeat("footer\n", m.SkipLast)
			r := new(memory)
			b := built(t, "line", Request{Columns: []Column{at, {"b", 0, 1}}, Missing: MissingDropFaulty, Precision: precision}, m)
			r.into(b)
			table, err := textOf(text, m)
			if err != nil {
				t.Fatal(err)
			}
			if err := table.rows(b); err != nil {
				t.Fatal(err)
			}
			rows, err := b.finish()
			if err != nil {
				t.Fatal(err)
			}
			limit := Limit
			out := r.values
			if precision == Float32 {
				limit = limit32
				for _, v := range r.values32 {
					out = append(out, float64(v))
				}
			}
			for _, v := range out {
				if !(math.Abs(v) < limit) {
					t.Fatalf("%v is not below the limit", v)
				}
			}
			return append(out[:0:0], float64(rows.Dropped), float64(rows.Faulty))
		}
		first := read(m, at)
		// other numbers of the mapping and of the study: the same rows are left out
		for name, f := range m.Columns {
			if f.Multiply != 0 {
				f.Multiply, f.Add = -f.Multiply*0.5, 1e100
				m.Columns[name] = f
			}
		}
		if second := read(m, Column{"a", -at.Offset, 1}); !slices.Equal(first, second) {
			t.Fatalf("rows are left out by the numbers: %v, %v", first, second)
		}
	})
}

// sized is a file of so many bytes.
type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

// textOf opens a text in memory.
func textOf(text string, m Mapping) (*csvTable, error) {
	return openText(&hashedFile{path: "x.csv", before: sized{size: int64(len(text))}}, strings.NewReader(text), m)
}

// Two mappings that read a source in different ways differ in their words, whatever their texts.
func TestMappingWords(t *testing.T) {
	words := func(m Mapping) (out []string) {
		m.Words(func(v string) { out = append(out, v) })
		return out
	}
	all := []Mapping{
		{}, {Separator: ";"}, {Decimal: ","}, {Thousands: "."}, {Encoding: Latin1}, {SkipRows: 1}, {SkipLast: 1}, {MissingValues: []string{"a"}}, {MissingValues: []string{"a", "b"}},
		{Columns: map[string]From{"a": {}}}, {Columns: map[string]From{"a": {Name: "b"}}}, {Columns: map[string]From{"a": {Multiply: 2}}}, {Columns: map[string]From{"a": {Add: 2}}},
		{Columns: map[string]From{"a": {Names: map[string]string{"x": "y"}}}}, {Columns: map[string]From{"a": {Names: map[string]string{"y": "x"}}}}, {Columns: map[string]From{"a": {}, "b": {}}},
	}
	for i, a := range all {
		first := Source{Path: "x.csv", Mapping: a}.Recipe(Request{})
		if again := (Source{Path: "x.csv", Mapping: a}).Recipe(Request{}); again != first || a.Empty() != (i == 0) {
			t.Errorf("%+v", a)
		}
		for _, b := range all[:i] {
			if slices.Equal(words(a), words(b)) {
				t.Errorf("%+v and %+v have one list of words", a, b)
			}
			if (Source{Path: "x.csv", Mapping: a}).Recipe(Request{}) == (Source{Path: "x.csv", Mapping: b}).Recipe(Request{}) {
				t.Errorf("%+v and %+v have one recipe", a, b)
			}
		}
	}
}

func TestMappingCheck(t *testing.T) {
	for key, m := range map[string]Mapping{
		"separator":          {Separator: "x"},
		"decimal":            {Decimal: ";"},
		"thousands":          {Thousands: "."},
		"encoding":           {Encoding: "utf-32"},
		"skip_rows":          {SkipRows: -1},
		"skip_last":          {SkipLast: maxSkip + 1},
		"missing_values[0]":  {MissingValues: []string{" x"}},
		"missing_values[1]":  {MissingValues: []string{"x", ""}},
		"missing_values[2]":  {Decimal: ",", Thousands: ".", MissingValues: []string{"-9", "-9,5", "-9.5", "9.500"}},
		"columns.a.from":     {Columns: map[string]From{"a": {Name: "b\n"}}},
		"columns.b.from":     {Columns: map[string]From{"a": {Name: "x"}, "b": {Name: "x"}}},
		"columns.a.multiply": {Columns: map[string]From{"a": {Multiply: math.Inf(1)}}},
		"columns.a.add":      {Columns: map[string]From{"a": {Add: math.NaN()}}},
		"columns.a.names":    {Columns: map[string]From{"a": {Names: map[string]string{"x": ""}}}},
	} {
		err := m.Check("")
		if e, ok := errors.AsType[*MappingError](err); !ok || e.Key != key || e.Reason == "" {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// FuzzText reads any bytes in any encoding and dialect: a typed error or rows, never a panic.
func FuzzText(f *testing.F) {
	for i := range byte(4) {
		f.Add([]byte("a;b\n1,5;2\n"), i, i, uint8(1), uint8(1))
		f.Add([]byte("\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8"), i, i, uint8(0), uint8(0))
		f.Add([]byte("x\n\na|b\n\"1|2\n3|4|5\n"), i, i, uint8(2), uint8(2))
	}
	q := Request{Columns: []Column{{"a", 0, 1}, {"b", 1, 2}}, Missing: MissingDropFaulty}
	f.Fuzz(func(t *testing.T, raw []byte, encoding, comma byte, before, after uint8) {
		m := Mapping{
			Encoding: encodings[int(encoding)%len(encodings)], Separator: []string{",", ";", "\t", "|"}[comma%4], Decimal: []string{".", ","}[encoding/4%2],
			SkipRows: int(before % 4), SkipLast: int(after % 4), MissingValues: []string{"-9"}, Columns: map[string]From{"b": {Multiply: 1e300, Add: -1}},
		}
		r, err := values(t, "x.csv", string(raw), m, q)
		if e, ok := errors.AsType[*Error](err); err != nil && (!ok || e.Reason == "") {
			t.Fatalf("%#v", err)
		}
		if err == nil {
			for _, v := range r.Values {
				if !(math.Abs(v) < Limit) {
					t.Fatal("a value is not below the limit")
				}
			}
		}
	})
}

// What an encoding writes is read as it was.
func TestEncodings(t *testing.T) {
	for e, with := range map[Encoding]encoding.Encoding{Latin1: charmap.ISO8859_1, Windows1252: charmap.Windows1252, UTF16: unicode.UTF16(unicode.BigEndian, unicode.UseBOM)} {
		name := "größe µ é"
		raw, err := with.NewEncoder().String("a," + name + "\n1,2\n")
		if err != nil {
			t.Fatal(err)
		}
		path := cost.File(t, "x.csv", []byte(raw))
		info, err := Inspect(Source{Path: path, Mapping: Mapping{Encoding: e}}, "", ReadOptions{})
		if err != nil || !slices.Equal(info.Header, []string{"a", name}) {
			t.Errorf("%s: %q, %v", e, info.Header, err)
		}
	}
}

// A bad cell is a missing one where those are taken, and a fault where the site is strict.
func TestStrict(t *testing.T) {
	q := Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}}
	for _, missing := range []Missing{MissingDropRow, MissingDropFaulty, MissingGaps} {
		for _, strict := range []bool{false, true} {
			q.Missing, q.Strict = missing, strict
			r, err := values(t, "x.csv", "a,b\n1,2\n3,<5\n", Mapping{}, q)
			if fault := strict || missing == MissingDropRow; fault != (err != nil) {
				t.Errorf("missing = %q, strict %v: %v, %v", missing, strict, r, err)
			}
		}
	}
	if (Source{}).Recipe(Request{Strict: true}) == (Source{}).Recipe(Request{}) {
		t.Error("rows with faults left out are taken for rows without")
	}
}
