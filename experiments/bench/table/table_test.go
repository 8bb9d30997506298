package table

import (
	"math"
	"path/filepath"
	"strconv"
	"testing"

	"covey/internal/dataset"
	_ "covey/internal/dataset/npy"
	_ "covey/internal/dataset/parquet"
)

// TestWrite: every format reads back to the rows that were written, to the bit and in their
// columns, over several groups of rows.
func TestWrite(t *testing.T) {
	const n, d = 2*groupBlocks*blockRows + 7, 12
	for _, format := range []string{"csv", "npy", "parquet"} {
		path := filepath.Join(t.TempDir(), "rows."+format)
		if err := Write(path, n, d, counted(d)); err != nil {
			t.Fatal(err)
		}
		request := dataset.Request{Missing: dataset.MissingError}
		for j := range d {
			request.Columns = append(request.Columns, dataset.Column{Name: "c" + strconv.Itoa(j), Scale: 1})
		}
		got, err := dataset.Read(dataset.Source{Path: path}, request, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Values) != n*d {
			t.Fatalf("%s: %d values", format, len(got.Values))
		}
		want, next := make([]float64, d), counted(d)
		for i := range n {
			next(want)
			for j, v := range want {
				if math.Float64bits(got.Values[i*d+j]) != math.Float64bits(v) {
					t.Fatalf("%s: row %d, column %d is %v, want %v", format, i, j, got.Values[i*d+j], v)
				}
			}
		}
	}
	if err := Write(filepath.Join(t.TempDir(), "rows.xls"), 1, 1, counted(1)); err == nil {
		t.Error("a format that nothing reads is written")
	}
}

func counted(d int) func([]float64) {
	at := 0.0
	return func(row []float64) {
		for j := range d {
			at++
			row[j] = 1 / at
		}
	}
}
