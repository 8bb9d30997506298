package dataset

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"covey/test/cost"
)

// repeated is n times the same text.
func repeated(text string, n int) io.Reader {
	var all []io.Reader
	for range n {
		all = append(all, strings.NewReader(text))
	}
	return io.MultiReader(all...)
}

// A record is held to maxRecord, on one line or inside quotes over many: what follows is not read
// into memory.
func TestRecordBound(t *testing.T) {
	const piece = 1 << 20
	line := strings.Repeat("x", piece-1) + "\n"
	src, err := open(write(t, "a"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	for name, c := range map[string]struct {
		start, more string
		end         bool // whether records end, so that nothing is too long
	}{
		"one line":  {"", line[:piece-1], false},
		"a quote":   {`"`, line, false},
		"many rows": {"", line, true},
	} {
		if testing.Short() && name != "a quote" {
			continue
		}
		in := &counted{in: io.MultiReader(strings.NewReader("a\n"+c.start), repeated(c.more, 3*maxRecord/piece))}
		table, err := openText(src, in, Mapping{})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		for ; err == nil; rows++ {
			_, _, err = table.next()
		}
		e, ok := errors.AsType[*Error](err)
		switch {
		case c.end && (err != io.EOF || rows-1 != 3*maxRecord/piece):
			t.Errorf("%s: %d rows, %v", name, rows-1, err)
		case !c.end && (!ok || e.Reason != "a row of more than 64 MiB; is a quote not closed?" || e.Row != 2):
			t.Errorf("%s: %v", name, err)
		case !c.end && in.read > maxRecord+4*bufferSize:
			t.Errorf("%s: %d bytes were read", name, in.read)
		}
	}
}

type counted struct {
	in   io.Reader
	read int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.read += n
	return n, err
}

// A reader that gives nothing, again and again, is a fault and no end.
func TestReaderThatGivesNothing(t *testing.T) {
	src, err := open(write(t, "a"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.close()
	_, err = openText(src, readerFunc(func([]byte) (int, error) { return 0, nil }), Mapping{})
	if e, ok := errors.AsType[*Error](err); !ok || !errors.Is(e.Err, io.ErrNoProgress) {
		t.Errorf("%v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// A row of nobody is refused whatever else it lacks: dropped, it would count for the unit of the
// row before it.
func TestRowOfNobody(t *testing.T) {
	q := Request{Columns: []Column{{"a", 0, 1}}, Unit: "u", Missing: MissingDropRow}
	_, rows := Read(Source{Path: write(t, "u,a\np,1\n,NA\n")}, q, ReadOptions{})
	b := built(t, "row", q, Mapping{})
	columns := b.columnar(2, [][]float64{{1, math.NaN()}}, [][]byte{[]byte("p"), nil})
	for _, err := range []error{rows, columns} {
		if e, ok := errors.AsType[*Error](err); !ok || e.Column != "u" || e.Reason != "the unit is missing" {
			t.Error(err)
		}
	}
}

// A row's number fits 32 bits.
func TestMostRows(t *testing.T) {
	b := built(t, "row", Request{Columns: []Column{{"a", 0, 1}}, Missing: MissingError}, Mapping{})
	for count, want := range map[int]bool{MaxRows - 1: true, MaxRows: false} {
		b.taken.rows = count
		b.begin(count + 1)
		b.put(0, 1)
		err := b.end()
		if e, ok := errors.AsType[*Error](err); (err == nil) != want || err != nil && (!ok || e.Reason != "more than 2^31-1 rows") {
			t.Errorf("row %d: %v", count+1, err)
		}
	}
}

// What is a missing value is what docs/data.md lists, and in no other case of letters: of a file
// that means something else by it, rows would be dropped.
func TestMissingWords(t *testing.T) {
	for field, want := range map[string]bool{"": true, "NA": true, "nan": true, "NaN": true, "NAN": true, "na": false, "Na": false, "nA": false, "NA.": false, "nil": false, "n/a": false, "0": false} {
		if isMissing(field) != want {
			t.Errorf("%q: want %v", field, want)
		}
	}
}

// A row of more fields than a table may have is refused, in the header too, before they are taken
// into memory: gzip packs separators into next to nothing.
func TestManyFields(t *testing.T) {
	q := Request{Columns: []Column{{Name: "a", Scale: 1}}, Missing: MissingError}
	for before, row := range map[string]int{"": 1, "a;b\n1;2\n": 3, "a;b\n1;\"": 2} {
		s := Source{Path: cost.File(t, "x.csv.gz", pack(t, before, strings.Repeat(";", 60<<20))), Mapping: Mapping{Separator: ";"}}
		cost.Bounded(t, 256<<20, func() {
			_, err := Read(s, q, ReadOptions{})
			if e, ok := errors.AsType[*Error](err); !ok || e.Row != row || !strings.HasPrefix(e.Reason, "a row of more than 2^20 fields") {
				t.Errorf("%q: %v", before, err)
			}
		})
	}
	many := "a" + strings.Repeat(";", 1000) + "\n" + strings.Repeat("1"+strings.Repeat(";b", 1000)+"\n", 3000)
	s := Source{Path: cost.File(t, "x.csv.gz", pack(t, many)), Mapping: Mapping{Separator: ";"}}
	if r, err := Read(s, q, ReadOptions{}); err != nil || r.Rows != 3000 {
		t.Errorf("3000 rows of 1001 fields: %v", err)
	}
	s = Source{Path: write(t, strings.Repeat(strings.Repeat(";", 1000)+"\n", 1500)+"a;b\n1;2\n"), Mapping: Mapping{Separator: ";", SkipRows: 1500}}
	if r, err := Read(s, q, ReadOptions{}); err != nil || r.Rows != 1 {
		t.Errorf("below 1500 lines of 1001 fields: %v", err)
	}
}
