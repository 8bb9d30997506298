package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"covey/test/cost"
)

// TestMostCountsRows: the bound is on what rows take in memory, whatever the file's bytes are.
func TestMostCountsRows(t *testing.T) {
	const rows = 100_000
	text := append([]byte("a,b\n"), bytes.Repeat([]byte("1,2\n"), rows)...)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text)
	w.Close()
	for name, content := range map[string][]byte{"rows.csv": text, "rows.csv.gz": packed.Bytes()} {
		path := cost.File(t, name, content)
		for precision, width := range map[Precision]int{Float64: 8, Float32: 4} {
			q := Request{Columns: []Column{{"a", 0, 1}, {"b", 0, 1}}, Missing: MissingError, Precision: precision}
			r, err := Read(Source{Path: path}, q, ReadOptions{Most: 2 * rows * width})
			if err != nil || r.Rows != rows {
				t.Errorf("%s, %s: %v, %v", name, precision, r, err)
			}
			if _, err := Read(Source{Path: path}, q, ReadOptions{Most: 2*rows*width - 1}); !errors.Is(err, ErrMost) {
				t.Errorf("%s of %d bytes, %s: %v", name, len(content), precision, err)
			}
		}
	}
}

// TestRowsGrowOnce: the rows' memory is estimated from the file's own bytes, however it is packed
// or encoded, so that they are not copied again and again. Growing by quarters would allocate five
// times their size.
func TestRowsGrowOnce(t *testing.T) {
	const rows, d = 50_000, 40
	var head []string
	q := Request{Missing: MissingError}
	for j := range d {
		head = append(head, fmt.Sprint("c", j))
		q.Columns = append(q.Columns, Column{fmt.Sprint("c", j), 0, 1})
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, strings.Join(head, ","))
	for i := range rows { // the first ones are shorter
		text.WriteString(strings.Repeat(fmt.Sprint(i%10, ","), d-1) + fmt.Sprintln(i*i*i))
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text.Bytes())
	w.Close()
	utf16 := []byte{0xff, 0xfe}
	for _, b := range text.Bytes() {
		utf16 = append(utf16, b, 0)
	}
	for name, c := range map[string]struct {
		content []byte
		mapping Mapping
	}{
		"rows.csv":    {text.Bytes(), Mapping{}},
		"rows.csv.gz": {packed.Bytes(), Mapping{}},
		"utf16.csv":   {utf16, Mapping{Encoding: UTF16}},
		"latin1.csv":  {text.Bytes(), Mapping{Encoding: Latin1}},
	} {
		if testing.Short() && name != "rows.csv" && name != "utf16.csv" {
			continue
		}
		path := cost.File(t, name, c.content)
		for precision, width := range map[Precision]uint64{Float64: 8, Float32: 4} {
			q.Precision = precision
			limit := rows * d * width * 5 / 4
			if name == "rows.csv.gz" { // of so well packed rows less is reserved at a time
				limit = rows * d * width * 4
			}
			t.Run(name+" "+string(precision), func(t *testing.T) {
				cost.Bounded(t, limit+rows*2*(d+8)+4<<20, func() { // each line is a string first
					r, err := Read(Source{Path: path, Mapping: c.mapping}, q, ReadOptions{})
					if err != nil || r.Rows != rows {
						t.Fatalf("%s: %v, %v", name, r, err)
					}
					if used, has := len(r.Values)+len(r.Values32), cap(r.Values)+cap(r.Values32); has > used*5/4 {
						t.Errorf("%s, %s: room for %d values is made for %d", name, precision, has, used)
					}
				})
			})
		}
	}
}
