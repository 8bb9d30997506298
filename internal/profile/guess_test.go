package profile

import (
	"reflect"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"covey/internal/dataset"
)

// Whatever the bytes, what is guessed of them is a mapping that can be.
func FuzzGuess(f *testing.F) {
	for _, text := range []string{"a;b\n1,5;2\n", "\xff\xfea\x00,\x00b\x00\n\x00\x00\xd8", "x\n\na|b\n\"1|2\n3|4|5\n"} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	f.Fuzz(func(t *testing.T, head []byte, cut bool) {
		if m := guessText(dataset.Mapping{}, head, cut); m.Check("") != nil {
			t.Fatalf("%+v is guessed: %v", m, m.Check(""))
		}
	})
}

// TestAnotherEncoding: an encoding that the first bytes contradict is not taken, whether agent.toml
// says it or nobody does; what ASCII alone leaves open stays as it is said.
func TestAnotherEncoding(t *testing.T) {
	const text = "age,town\n40,Z\u00fcrich\n41,Gen\u00e8ve\n"
	narrow, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		said dataset.Encoding
		file string
		want dataset.Encoding
	}{
		{dataset.Latin1, text, dataset.UTF8},
		{dataset.Windows1252, text, dataset.UTF8},
		{dataset.Latin1, "\ufeff" + text, dataset.UTF8},
		{dataset.Latin1, narrow, dataset.Latin1},
		{dataset.Latin1, "age,town\n40,Basel\n", dataset.Latin1},
		{dataset.UTF8, narrow, dataset.Windows1252},
		{dataset.UTF8, text, dataset.UTF8},
		{dataset.UTF16, text, ""},
		{dataset.UTF16, narrow, dataset.Windows1252},
		{dataset.UTF16, "\xff\xfea\x00\n\x00", dataset.UTF16},
		{dataset.UTF16, "a\x00\n\x00", dataset.UTF16},
		{"", text, ""},
		{"", narrow, dataset.Windows1252},
		{"", "a\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00", dataset.UTF16}, // without a mark
		{"", "age,town\n40,Ba\x00sel\n", ""},
	} {
		if got := guessText(dataset.Mapping{Encoding: c.said}, []byte(c.file), false).Encoding; got != c.want {
			t.Errorf("%q, said to be %q, is %q, want %q", c.file, c.said, got, c.want)
		}
	}
}

// TestEncodingSaidOtherwise: both encodings are said, and which of them a study reads. The line for
// agent.toml takes another's place, since TOML refuses a key twice.
func TestEncodingSaidOtherwise(t *testing.T) {
	r := profiled(t, "age,town\n40,Z\u00fcrich\n41,Basel\n", "encoding = \"latin-1\"\n", nil)
	if got, want := looks(r, AboutEncoding), "the file looks like utf-8, and agent.toml says latin-1, as which a study reads it; this profile assumed utf-8"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := strings.Join(r.Paste, "\n"), "# each in place of the line of that key, if there is one:\nencoding = \"utf-8\""; got != want {
		t.Errorf("paste %q, want %q", got, want)
	}
}

// What an encoding writes is taken for it; Latin-1 is part of Windows-1252.
func TestEncodingIsGuessed(t *testing.T) {
	for with, want := range map[encoding.Encoding]dataset.Encoding{charmap.ISO8859_1: dataset.Windows1252, charmap.Windows1252: dataset.Windows1252, unicode.UTF16(unicode.BigEndian, unicode.UseBOM): dataset.UTF16} {
		raw, err := with.NewEncoder().String("a,größe µ é\n1,2\n")
		if err != nil {
			t.Fatal(err)
		}
		if got := guessText(dataset.Mapping{}, []byte(raw), false).Encoding; got != want {
			t.Errorf("%v is taken for %q, want %q", with, got, want)
		}
	}
}

// TestMarksAreGuessed: 200.000 is 200 thousand beside numbers such as 12,5, which have the decimal
// mark otherwise; not beside 1,250 alone, nor where a point is before other than three digits.
func TestMarksAreGuessed(t *testing.T) {
	for cells, want := range map[string][2]string{
		"12,5;200.000":       {",", "."},
		"1.234,5;200.000":    {",", "."},
		"12,5;200.000;7":     {",", "."},
		"12,5;200":           {",", ""},
		"1,250;200.000":      {},
		"12,5;0.125":         {},
		"12,5;200.000;0.5":   {},
		"12,5;2000.125":      {},
		"200.000;198.500":    {},
		"12,5;1.5":           {},
		"12,5;1.200.000;1,5": {",", ""}, // what else it is, the columns' faults say
	} {
		text := "a;b;c\n" + strings.Repeat(cells+strings.Repeat(";", 2-strings.Count(cells, ";"))+"\n", 10)
		if m := guessText(dataset.Mapping{}, []byte(text), false); m.Separator != ";" || m.Decimal != want[0] || m.Thousands != want[1] {
			t.Errorf("%s: decimal %q, thousands %q", cells, m.Decimal, m.Thousands)
		}
	}
}

// TestGroupsAreGuessed: an apostrophe or a space between groups of three digits marks thousands,
// with the decimal mark that the same numbers have; in other texts it is nothing.
func TestGroupsAreGuessed(t *testing.T) {
	for cells, want := range map[string][2]string{
		"12'345.5;1":               {"", "'"},
		"12'345,5;1":               {",", "'"},
		"1 234 567;2":              {"", " "},
		"1 234 567,5;2":            {",", " "},
		"12\u202f345,5;7\u00a0001": {",", " "},
		"12 345;0,5":               {",", " "},
		"12 34;1":                  {},
		"A 123;1":                  {},
		"1234;5":                   {},
	} {
		text := "a;b\n" + strings.Repeat(cells+"\n", 10)
		if m := guessText(dataset.Mapping{}, []byte(text), false); m.Separator != ";" || m.Decimal != want[0] || m.Thousands != want[1] {
			t.Errorf("%s: decimal %q, thousands %q", cells, m.Decimal, m.Thousands)
		}
	}
	if m := guessText(dataset.Mapping{Thousands: "."}, []byte("a;b\n"+strings.Repeat("12'345;1\n", 10)), false); m.Thousands != "." {
		t.Errorf("thousands that are said become %q", m.Thousands)
	}
}

// TestGroupsAmongCommasAreNoFractions: what a spreadsheet writes as "1,234", where a comma
// separates fields, is not taken for a little more than one, and both that it may be are said.
func TestGroupsAmongCommasAreNoFractions(t *testing.T) {
	text := func(cells ...string) string {
		return "a,b\n" + strings.Repeat("\""+strings.Join(cells, "\",7\n\"")+"\",7\n", 30)
	}
	for cells, want := range map[string]string{"1,234 12,345": "", "1,234 987": "", "1,234 12,5": ",", "1,5": ","} {
		if m := guessText(dataset.Mapping{}, []byte(text(strings.Fields(cells)...)), false); m.Decimal != want || m.Thousands != "" {
			t.Errorf("%s: decimal %q, thousands %q", cells, m.Decimal, m.Thousands)
		}
	}
	r := profiled(t, text("1,234", "987"), "", nil)
	if want := `column "a": not a number: comma before three digits, 30 times, first at line 2; thousands = "," if 1,234 means more`; len(r.Faults) != 1 || !strings.HasPrefix(r.Faults[0].String(true), want) {
		t.Errorf("%+v", r.Faults)
	}
	if got := strings.Join(r.Paste, "\n"); got != `# thousands = ","  # if "," is a mark between thousands` {
		t.Errorf("paste %q", got)
	}
}

// TestSeparatorAtTheEnd: where rows end with a separator and the header does not, or the other way
// round, the header stays one: skip_rows would make a row of it. Lines above a header of numbers
// are passed over.
func TestSeparatorAtTheEnd(t *testing.T) {
	rows := strings.Repeat("1,2.5,x,\n", 20)
	for text, want := range map[string]int{
		"age,kg,ward\n" + rows:                0,
		"a title\nage,kg,ward\n" + rows:       1,
		"age,kg,ward,\n" + rows:               0,
		"a title\n" + rows:                    1,
		"age,kg,ward,,\n" + rows:              0,
		"made by hand\n400,401,402,\n" + rows: 1,
	} {
		if m := guessText(dataset.Mapping{}, []byte(text), false); m.SkipRows != want {
			t.Errorf("%q: skip_rows = %d, want %d", text[:20], m.SkipRows, want)
		}
	}
}

// TestOpenQuoteIsNoFooter: a quote that is not closed holds all rows that follow. It is told where
// it opens, and not taken for a line of notes.
func TestOpenQuoteIsNoFooter(t *testing.T) {
	rows := strings.Repeat("1,2\n5,6\n", 15)
	r := profiled(t, "a,b\n"+rows+"\"3,4\n"+rows, "", nil)
	if len(r.Faults) != 1 || r.Faults[0].First != 32 || !strings.Contains(r.Faults[0].What, "goes on over the next lines") || r.Paste != nil || r.Look != nil {
		t.Errorf("%+v", r)
	}
	if r := profiled(t, "a,b\n"+rows+"\"made by hand\n", "", nil); !strings.Contains(strings.Join(r.Paste, " "), "skip_last = 1") {
		t.Errorf("a line of notes: %+v", r)
	}
}

// TestLineForSpreadsheetIsNoHeader: of two columns, too, whose header has as many fields.
func TestLineForSpreadsheetIsNoHeader(t *testing.T) {
	for text, want := range map[string]dataset.Mapping{
		"sep=;\r\na;b\r\n" + strings.Repeat("1,5;2\r\n", 9):     {Separator: ";", Decimal: ",", SkipRows: 1},
		"\ufeffsep=;\na;b;c\n" + strings.Repeat("1,5;2;3\n", 9): {Separator: ";", Decimal: ",", SkipRows: 1},
		"\"SEP=\t\"\na\tb\n" + strings.Repeat("1.5\t2\n", 9):    {Separator: "\t", SkipRows: 1},
		"sep=,\na,b\n" + strings.Repeat("1.5,2\n", 9):           {SkipRows: 1},
		"sep=x;y\n" + strings.Repeat("1,5;2\n", 9):              {Separator: ";", Decimal: ","},
	} {
		if m := guessText(dataset.Mapping{}, []byte(text), false); !reflect.DeepEqual(m, want) {
			t.Errorf("%.20q: %+v", text, m)
		}
	}
	if m := guessText(dataset.Mapping{SkipRows: 1, Separator: "|"}, []byte("sep=;\na|b\n1|2\n"), false); m.SkipRows != 1 || m.Separator != "|" {
		t.Errorf("what agent.toml says: %+v", m)
	}
}

// TestBrokenFieldsAreOneRecord: a line break in a quoted field, of the header or of rows, makes no
// preamble, and hides no separator; a quote that nothing closes is a character.
func TestBrokenFieldsAreOneRecord(t *testing.T) {
	row := "1,5;2,5;3\r\n"
	for text, skip := range map[string]int{
		"id;\"height\n[m]\";age\r\n" + strings.Repeat(row, 9):                             0,
		"Report\nid;\"height\n[m]\";age\r\n" + strings.Repeat(row, 9):                     1,
		"\"Report\nof May\"\n\nid;\"height\n[m]\";age\r\n" + strings.Repeat(row, 9):       3,
		"5\" monitors\nid;height;age\r\n" + strings.Repeat(row, 30):                       1,
		"id;height;note\r\n" + strings.Repeat("1,5;2,5;\"one\ntwo\n\nthree\"\r\n", 9):     0,
		"id;height;note\r\n" + strings.Repeat("1,5;2,5;5\" screen\r\n", 9) + "1,5;2,5;\"": 0,
	} {
		if m := guessText(dataset.Mapping{}, []byte(text), false); m.Separator != ";" || m.Decimal != "," || m.SkipRows != skip {
			t.Errorf("%.40q: %+v", text, m)
		}
	}
}
