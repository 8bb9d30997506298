package parquet

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go"

	"covey/internal/dataset"
	"covey/test/cost"
)

// TestManyColumns: tens of thousands of columns are found by their names, each at its place: a walk
// through all of them for each took seconds a reading, and minutes where there are more.
func TestManyColumns(t *testing.T) {
	const n = 20_000
	group, row := parquet.Group{}, map[string]any{}
	q := dataset.Request{Missing: dataset.MissingError}
	for i := range n {
		name := fmt.Sprintf("c%05d", i)
		group[name], row[name] = parquet.Leaf(parquet.DoubleType), float64(i)
		q.Columns = append(q.Columns, dataset.Column{Name: fmt.Sprintf("c%05d", n-1-i), Scale: 1})
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("t", group))
	if _, err := w.Write([]any{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := dataset.Read(dataset.Source{Path: cost.File(t, "x.parquet", out.Bytes())}, q, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for j, v := range r.Values {
		if v != float64(n-1-j) {
			t.Fatalf("column %d is %v", j, v)
		}
	}
}
