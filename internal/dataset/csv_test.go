package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"covey/test/cost"
)

// write makes a file and gives its path.
func write(t testing.TB, text string) string { return cost.File(t, "data.csv", []byte(text)) }

func ReadCSV(path string, columns []Column, unit string, missing Missing) (*Rows, error) {
	return ReadCSVWith(path, columns, unit, missing, ReadOptions{})
}

func ReadCSVWith(path string, columns []Column, unit string, missing Missing, o ReadOptions) (*Rows, error) {
	return Read(Source{Path: path, Format: CSV}, Request{Columns: columns, Unit: unit, Missing: missing}, o)
}

func InspectCSV(path, unit string) (Info, error) {
	return Inspect(Source{Path: path, Format: CSV}, unit, ReadOptions{})
}

// ab asks for b before a, so that an order taken from the file shows.
var ab = []Column{{"b", 0, 1}, {"a", 10, 2}}

func TestReadCSV(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []float64
	}{
		"plain":               {"a,x,b\n12,?,3\n8,\"\",-4\n", []float64{3, 1, -4, -1}},
		"crlf":                {"a,x,b\r\n12,?,3\r\n8,,-4\r\n", []float64{3, 1, -4, -1}},
		"no last line end":    {"a,b\n12,3", []float64{3, 1}},
		"byte order mark":     {"\xef\xbb\xbfa,b\n12,3\n", []float64{3, 1}},
		"mark, quoted header": {"\xef\xbb\xbf\"a\",\"b\"\n12,3\n", []float64{3, 1}},
		"spaces and tabs":     {" a ,\tb\n 12\t, 3 \n", []float64{3, 1}},
		"quoted numbers":      {"a,b\n\"12\",\"3e0\"\n", []float64{3, 1}},
		"line breaks inside":  {"a,\"x\r\ny\",b\n12,\"p\n\nq\",3\n8,\"\n\",4\n", []float64{3, 1, 4, -1}},
		"line break at end":   {"a,b,x\n12,3,\"p\r\nq\"\n8,4,\"\"\n", []float64{3, 1, 4, -1}},
		"blank lines at end":  {"a,b\n12,3\n\n\r\n", []float64{3, 1}},
		"underflow is a zero": {"a,b\n10,1e-999\n", []float64{0, 0}},
		"just below limit":    {"a,b\n10," + strconv.FormatFloat(math.Nextafter(Limit, 0), 'g', -1, 64) + "\n", []float64{math.Nextafter(Limit, 0), 0}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.text)
			r, err := ReadCSV(path, ab, "", MissingError)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Values, c.want) || r.D != 2 || r.Units != len(c.want)/2 || r.Dropped != 0 {
				t.Fatalf("%+v, want values %v", r, c.want)
			}
			if r.SHA256 != sha256.Sum256([]byte(c.text)) {
				t.Fatal("the hash is not of the file's bytes")
			}
			i, err := InspectCSV(path, "")
			if err != nil || i.Units != r.Units || i.SHA256 != r.SHA256 {
				t.Fatalf("%+v, %v", i, err)
			}
		})
	}
}

// A line break in a header is a space: no name in agent.toml has one.
func TestLineBreakInHeader(t *testing.T) {
	columns := []Column{{"height [m]", 0, 1}}
	for _, head := range []string{"\"height\n[m]\"", "\"height \r\n\r\n [m]\r\n\"", "\"\theight\t[m]\""} {
		if r, err := ReadCSV(write(t, "x,"+head+"\n1,2\n"), columns, "", MissingError); err != nil || !slices.Equal(r.Values, []float64{2}) {
			t.Errorf("%q: %+v, %v", head, r, err)
		}
	}
	if _, err := ReadCSV(write(t, "\"height\n[m]\",height [m]\n1,2\n"), columns, "", MissingError); err == nil {
		t.Error("two columns of one name are read")
	}
	_, err := ReadCSV(write(t, "x\theight [m]\n1\t2\n"), columns, "", MissingError)
	if e, ok := err.(*Error); !ok || !strings.HasPrefix(e.Remedy, `set separator = "tab"`) {
		t.Errorf("separated by tabs: %v", err)
	}
	// a comma in a name makes two fields of a line with semicolons
	_, err = ReadCSV(write(t, "height [m];pressure, systolic;x\n1;2;3\n"), columns, "", MissingError)
	if e, ok := err.(*Error); !ok || !strings.HasPrefix(e.Remedy, `set separator = ";"`) {
		t.Errorf("separated by semicolons: %v", err)
	}
	_, err = ReadCSV(write(t, "a;b,c,d\n1,2,3\n"), columns, "", MissingError)
	if e, ok := err.(*Error); !ok || e.Remedy != "" {
		t.Errorf("separated by commas: %v", err)
	}
}

// Every way in which a file can be bad, and the whole text that it gets.
func TestBadInput(t *testing.T) {
	count := 0
	for _, c := range []struct {
		name, text, want string
		column           string
		row              int
		inspect          bool // InspectCSV sees it too
	}{
		{"empty", "", "the file is empty", "", 0, true},
		{"only a mark", "\xef\xbb\xbf", "the file is empty", "", 0, true},
		{"only blank lines", "\n\n", "the file is empty", "", 0, true},
		{"carriage returns twice", "a,b\r\r\n1,2\r\r\n", "lines end with more than one carriage return, as where a program made CRLF of CRLF: save it with LF or CRLF line ends", "", 0, true},
		{"lone carriage returns", "a,b\r1,2\r", "lines end with a carriage return alone: save it with LF or CRLF line ends", "", 0, true},
		{"header only", "a,b\n", "no rows follow the header", "", 0, true},
		{"utf-16", "\xff\xfea\x00,\x00b\x00\n\x00", "line 1: the file is UTF-16; save it as UTF-8", "", 1, true},
		{"utf-16 without a mark", "a\x00,\x00b\x00\r\x00\n\x00", "line 1: the file is UTF-16; save it as UTF-8", "", 1, true},
		{"gzip", "\x1f\x8b\x08\x00\n", "line 1: the file is packed with gzip, and no text", "", 1, true},
		{"a workbook", "PK\x03\x04\x14\x00\x06\x00\n", "line 1: the file is a ZIP archive, such as a workbook, and no text", "", 1, true},
		{"an old workbook", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00", "line 1: the file is a workbook in the form of .xls, and no text", "", 1, true},
		{"missing column", "a,c\n1,2\n", `line 1, column "b": none of the header's 2 fields has this name`, "b", 1, false},
		{"case counts", "a,B\n1,2\n", `line 1, column "b": none of the header's 2 fields has this name`, "b", 1, false},
		{"semicolons", "a;b\n1;2\n", `line 1, column "b": the header is one field with another name; fields are separated by commas`, "b", 1, false},
		{"duplicate", "a,b,x,b\n1,2,3,4\n", "line 1: fields 2 and 4 of the header are the same", "", 1, true},
		{"duplicate, spaces", "a,b,a \n1,2,3\n", "line 1: fields 1 and 3 of the header are the same", "", 1, true},
		{"nameless twins", "a,b,,\n1,2,,\n3,x,,\n", `line 3, column "b": not a number`, "b", 3, false},
		{"no header", "41.5,41.5\n1,2\n", "line 1: fields 1 and 2 of the header are the same", "", 1, true},
		{"two numbers in one", "a,b\n1,120_80\n", `line 2, column "b": not a number`, "b", 2, false},
		{"short row", "a,b\n1,2\n3\n", "line 3: 1 fields, the header has 2", "", 3, true},
		{"long row", "a,b\n1,2,3\n", "line 2: 3 fields, the header has 2", "", 2, true},
		{"bare quote", "a,b\n1,2\n3,x\"41.5\n", `line 3: a quote (") inside a field that does not begin with one`, "", 3, true},
		{"open quote", "a,b\n1,\"2\n3,4\n", `line 2: a quoted field goes on over the next lines and is not closed, or text follows its closing quote (")`, "", 2, true},
		{"text after quote", "a,b\n\"41\"5,2\n", `line 2: a quoted field is not closed, or text follows its closing quote (")`, "", 2, true},
		{"blank line first", "\na,b\n1,2\n", "line 1: a blank line", "", 1, true},
		{"blank line between", "a,b\n1,2\n\n3,4\n", "line 3: a blank line", "", 3, true},
		{"blank line before a ragged row", "a,b\n1,2\n\n3\n", "line 3: a blank line", "", 3, true},
		{"nan", "a,b\n1,2\n3,NaN\n", `line 3, column "b": the value is missing`, "b", 3, false},
		{"not available", "a,b\n1, NA\n", `line 2, column "b": the value is missing`, "b", 2, false},
		{"empty field", "a,b\n,2\n", `line 2, column "a": the value is missing`, "a", 2, false},
		{"infinity", "a,b\n1,2\n-Inf,4\n", `line 3, column "a": the value is infinite`, "a", 3, false},
		{"infinity in full", "a,b\ninfinity,2\n", `line 2, column "a": the value is infinite`, "a", 2, false},
		{"beyond float64", "a,b\n1,41.5e999\n", `line 2, column "b": the number is beyond float64`, "b", 2, false},
		{"text", "a,b\n1,41.5x\n", `line 2, column "b": not a number`, "b", 2, false},
		{"null", "a,b\n1,null\n", `line 2, column "b": not a number`, "b", 2, false},
		{"decimal comma", "a,b\n1,\"41,5\"\n", `line 2, column "b": not a number`, "b", 2, false},
		{"square overflows", "a,b\n1,1e155\n", `line 2, column "b": the value is 2^480 or more`, "b", 2, false},
		{"square overflows, negative", "a,b\n1,-1e155\n", `line 2, column "b": the value is 2^480 or more`, "b", 2, false},
		{"line after a long field", "a,b,x\n1,2,\"p\nq\"\n3,41.5x,r\n", `line 4, column "b": not a number`, "b", 4, false},
	} {
		count++
		t.Run(c.name, func(t *testing.T) {
			path := write(t, c.text)
			r, err := ReadCSV(path, ab, "", MissingError)
			e, ok := errors.AsType[*Error](err)
			if !ok || r != nil {
				t.Fatalf("got %v, %v", r, err)
			}
			if want := path + ": " + c.want; err.Error() != want {
				t.Fatalf("got  %s\nwant %s", err, want)
			}
			if e.File != path || e.Row != c.row || e.Column != c.column {
				t.Fatalf("%+v", e)
			}
			if strings.Contains(e.Reason, "41") {
				t.Fatal("the reason carries a value")
			}
			checkSchema(t, e)
			i, other := InspectCSV(path, "")
			if c.inspect && (other == nil || other.Error() != err.Error()) {
				t.Fatalf("InspectCSV: %+v, %v", i, other)
			}
			if !c.inspect && other != nil {
				t.Fatal(other)
			}
		})
	}
	t.Logf("figure: %d bad inputs: CSV files", count)
}

func TestBadColumns(t *testing.T) {
	count := 1
	path := write(t, "a,b\n1,2\n")
	for want, columns := range map[string][]Column{
		"no columns are asked for":                                                 nil,
		"a column without a name is asked for":                                     {{"", 0, 1}},
		`column "a": is asked for twice`:                                           {{"a", 0, 1}, {"b", 0, 1}, {"a", 1, 1}},
		`column " a": the name has spaces around it`:                               {{" a", 0, 1}},
		`column "a": offset is not finite`:                                         {{"a", math.NaN(), 1}},
		`column "b": offset is not finite`:                                         {{"a", 0, 1}, {"b", math.Inf(-1), 1}},
		`column "a": scale is not finite and above 0`:                              {{"a", 0, 0}},
		`column "b": scale is not finite and above 0`:                              {{"b", 0, -1}},
		`column "c": scale is not finite and above 0`:                              {{"c", 0, math.NaN()}},
		`column "d": scale is not finite and above 0`:                              {{"d", 0, math.Inf(1)}},
		path + `: line 1, column "e": none of the header's 2 fields has this name`: {{"a", 0, 1}, {"e", 0, 1}},
	} {
		count++
		if _, err := ReadCSV(path, columns, "", MissingError); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := ReadCSV(path, []Column{{"a", 0, 1}}, "", "ignore"); err == nil || err.Error() != `missing must be "error" or "drop-row"` {
		t.Error(err)
	}
	// A scale and an offset can take a good value out of range: it is brought to the end.
	for _, c := range []Column{{"a", 0, 0x1p-500}, {"a", -math.MaxFloat64, 0.5}, {"a", -math.MaxFloat64, math.SmallestNonzeroFloat64}} {
		if r, err := ReadCSV(path, []Column{c}, "", MissingError); err != nil || r.Values[0] != math.Nextafter(Limit, 0) {
			t.Errorf("%v: %v", c, err)
		}
	}
	t.Logf("figure: %d bad inputs: columns that a study asks for", count)
}

func TestUnreadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.csv")
	_, err := ReadCSV(path, ab, "", MissingError)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != path+": cannot be read: no such file or directory" {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := InspectCSV(dir, ""); err == nil || err.Error() != dir+": cannot be read: is a directory, and only Parquet files can be read as a folder: write one file of its rows" {
		t.Fatal(err)
	}
}

// A dropped row stays as zeros and counts as a unit; other faults of a row are
// not excused by a missing value beside them.
func TestDropRow(t *testing.T) {
	path := write(t, "a,x,b\n12,,3\n,1,5\n14,1,NA\nnan,1,NaN\n16,NA,7\n")
	r, err := ReadCSV(path, ab, "", MissingDropRow)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{3, 1, 0, 0, 0, 0, 0, 0, 7, 3}; !slices.Equal(r.Values, want) || r.Units != 5 || r.Dropped != 3 || !slices.Equal(r.Absent, []int{1, 2, 3}) {
		t.Fatalf("%+v", r)
	}
	for _, line := range []string{"NA,inf", "inf,NA", ",x", "x,", "NA,1e155", "NA"} {
		_, err := ReadCSV(write(t, "a,b\n1,2\n"+line+"\n"), ab, "", MissingDropRow)
		if e, ok := errors.AsType[*Error](err); !ok || e.Row != 3 {
			t.Errorf("%s: %v", line, err)
		}
	}
	// In a file of one column only "" can say that a value is missing.
	one := []Column{{"a", 0, 1}}
	r, err = ReadCSV(write(t, "a\n1\n\"\"\n3\n"), one, "", MissingDropRow)
	if err != nil || !slices.Equal(r.Values, []float64{1, 0, 3}) || r.Dropped != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := ReadCSV(write(t, "a\n1\n\n3\n"), one, "", MissingDropRow); err == nil {
		t.Fatal("a blank line was taken for something")
	}
}

// What was written is read back to the last bit, whatever the quoting, the
// columns beside it and the order asked for.
func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z",;é]{1,6}`), 1, 6, rapid.ID[string]).Draw(t, "names")
		units := rapid.SampledFrom([]int{1, 2, 7, 60, sampleRows + 200}).Draw(t, "units")
		offset := rapid.Float64Range(-1e6, 1e6).Draw(t, "offset")
		scale := rapid.Float64Range(1e-3, 1e3).Draw(t, "scale")
		seed := rapid.SliceOfN(rapid.Float64Range(-1e100, 1e100), 13, 13).Draw(t, "values")
		long := rapid.StringMatching(`[\n" a]{0,5}`).Draw(t, "long")
		cell := func(i, j int) float64 { return seed[(i*7+j)%len(seed)] }
		gone := func(i, j int) bool { return (i*31+j*17)%23 == 5 }

		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		w.Write(append([]string{"other column"}, names...))
		for i := range units {
			record := []string{long}
			for j := range names {
				if gone(i, j) {
					record = append(record, "NA")
				} else {
					record = append(record, strconv.FormatFloat(cell(i, j), 'g', -1, 64))
				}
			}
			w.Write(record)
		}
		w.Flush()
		if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}

		order := rapid.Permutation(names).Draw(t, "order")[:rapid.IntRange(1, len(names)).Draw(t, "d")]
		var columns []Column
		for _, name := range order {
			columns = append(columns, Column{name, offset, scale})
		}
		r, err := ReadCSV(path, columns, "", MissingDropRow)
		if err != nil {
			t.Fatal(err)
		}
		if r.Units != units || r.D != len(order) || len(r.Values) != units*r.D || r.SHA256 != sha256.Sum256(text.Bytes()) {
			t.Fatalf("%d units, %d columns, %d values", r.Units, r.D, len(r.Values))
		}
		dropped := 0
		for i := range units {
			drop := slices.ContainsFunc(order, func(n string) bool { return gone(i, slices.Index(names, n)) })
			if drop {
				dropped++
			}
			for k, n := range order {
				want := (cell(i, slices.Index(names, n)) - offset) / scale
				if drop {
					want = 0
				}
				if got := r.Values[i*r.D+k]; got != want {
					t.Fatalf("unit %d, column %q: %v, want %v", i, n, got, want)
				}
			}
		}
		if r.Dropped != dropped {
			t.Fatalf("%d dropped, want %d", r.Dropped, dropped)
		}
		info, err := InspectCSV(path, "")
		if err != nil || info.Units != units || info.SHA256 != r.SHA256 || !slices.Equal(info.Header[1:], names) {
			t.Fatalf("%+v, %v", info, err)
		}
	})
}

// bigFile returns a file of more than one buffer.
func bigFile() string {
	return "a,b\n" + strings.Repeat("12,3\n", 3*bufferSize/5)
}

func TestProgress(t *testing.T) {
	text := bigFile()
	last, calls := int64(0), 0
	r, err := ReadCSVWith(write(t, text), ab, "", MissingError, ReadOptions{Progress: func(read, total int64) {
		if read <= last || total != int64(len(text)) {
			t.Errorf("read %d after %d, of %d", read, last, total)
		}
		last = read
		calls++
	}})
	if err != nil || last != int64(len(text)) || calls < 3 {
		t.Fatalf("%d calls, to %d of %d: %v", calls, last, len(text), err)
	}
	if r.Units != 3*bufferSize/5 {
		t.Fatal(r.Units)
	}
}

// A file that is written to while it is read is refused: longer, or of the same
// length.
func TestFileChanges(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"grows": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("12,3\n")
			return errors.Join(err, f.Close())
		},
		"same length": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)) },
		"shrinks":     func(path string) error { return os.Truncate(path, bufferSize+4) },
	} {
		path := write(t, bigFile())
		done := false
		_, err := ReadCSVWith(path, ab, "", MissingError, ReadOptions{Progress: func(int64, int64) {
			if !done {
				done = true
				if err := change(path); err != nil {
					t.Error(err)
				}
			}
		}})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if bad, ok := errors.AsType[*Error](err); name != "shrinks" && (!ok || bad.Error() != path+": the file changed while it was read" || bad.Remedy != wholeFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever the bytes: no panic; either a typed error that names the file and a
// line, or Rows×D finite values below the limit, of the same units as InspectCSV
// counts.
func FuzzReadCSV(f *testing.F) {
	for _, s := range []string{"", "a,b\n1,2\n", "\xef\xbb\xbfa,b\r\n1,\"2\"\r\n\r\n", "b,a\nNA,inf\n", "a,b\n1\n", "a,\"b\nc\",b\n1,\"\n\n\",0x1p-3\n", "a,b\n\n1,2\n", "\"a\"b,\"\n", "a,b\n1e308,-1e308\n", "a,b\r1,2\r",
		"u,a,b\np,1,2\nq,3,4\n p\t,5,NA\n", "a,b,u\n1,2,\n", "a,b,u\n1,2,\"x\ny\"\n1,x,NA\n"} {
		for _, unit := range []string{"", "u"} {
			f.Add([]byte(s), unit, true)
			f.Add([]byte(s), unit, false)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, unit string, drop bool) {
		missing := MissingError
		if drop {
			missing = MissingDropRow
		}
		path := write(t, string(text))
		r, err := ReadCSV(path, ab, unit, missing)
		info, structure := InspectCSV(path, unit)
		if err != nil {
			e, ok := errors.AsType[*Error](err)
			if !ok || e.File != path && checkUnit(unit) == nil && unit != "a" && unit != "b" || e.Row < 0 || e.Reason == "" || r != nil {
				t.Fatalf("%#v", err)
			}
			return
		}
		if structure != nil || info.Units != r.Units || info.Rows != r.Rows || info.SHA256 != r.SHA256 || r.SHA256 != sha256.Sum256(text) {
			t.Fatalf("%+v, %v", info, structure)
		}
		if r.Rows < 1 || r.D != 2 || len(r.Values) != r.Rows*r.D || r.Dropped < 0 || r.Dropped > r.Rows || !drop && r.Dropped > 0 {
			t.Fatalf("%d rows, %d columns, %d values, %d dropped", r.Rows, r.D, len(r.Values), r.Dropped)
		}
		for i, v := range r.Values {
			if !(math.Abs(v) < Limit) {
				t.Fatalf("value %d is %v", i, v)
			}
		}
		if unit == "" {
			if r.Unit != nil || r.Units != r.Rows {
				t.Fatalf("%d units of %d rows: %v", r.Units, r.Rows, r.Unit)
			}
			return
		}
		next := 0
		for _, u := range r.Unit {
			if u < 0 || u > next {
				t.Fatalf("unit %d before unit %d", u, next)
			}
			next = max(next, u+1)
		}
		if len(r.Unit) != r.Rows || next != r.Units {
			t.Fatalf("%d rows of %d units, %d say theirs", r.Rows, r.Units, len(r.Unit))
		}
	})
}
