package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
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
