package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/parquet-go/parquet-go"

	"covey/internal/dataset"
	"covey/test/cost"
)

// headers is a surveyor that keeps what is unused.
type headers struct {
	columns, rows int
	unused        map[int]string
}

func (h *headers) Header(names []string, _ int)         { h.columns = len(names) }
func (h *headers) Unused(column int, reason string)     { h.unused[column] = reason }
func (h *headers) Row(int, int)                         { h.rows++ }
func (h *headers) Text(int, string)                     {}
func (h *headers) Number(int, float64)                  {}
func (h *headers) Broken(at int, reason string, _ bool) {}

// TestUnfitAtOnce: an error of a column's type has those of all other columns, so that a survey
// leaves them out together. One at a time, a file of some hundred kB took half a minute.
func TestUnfitAtOnce(t *testing.T) {
	const n = 2000
	group, row := parquet.Group{"number": parquet.Leaf(parquet.DoubleType)}, map[string]any{"number": 1.0}
	q := dataset.Request{Missing: dataset.MissingError}
	for i := range n {
		name := fmt.Sprintf("c%05d", i)
		group[name], row[name] = parquet.String(), "x"
		q.Columns = append(q.Columns, dataset.Column{Name: name, Scale: 1})
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("t", group))
	if _, err := w.Write([]any{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	source := dataset.Source{Path: cost.File(t, "x.parquet", out.Bytes())}
	_, err := dataset.Read(source, q, dataset.ReadOptions{})
	if e, ok := errors.AsType[*dataset.Error](err); !ok || e.Schema != dataset.SchemaFormat || e.Column != "c00000" || len(e.Others) != n-1 || e.Others[n-2].Column != "c01999" {
		t.Errorf("%v", err)
	}
	h := &headers{unused: map[int]string{}}
	if err := dataset.Survey(source, "", dataset.ReadOptions{}, h); err != nil || h.columns != n+1 || h.rows != 1 || len(h.unused) != n {
		t.Errorf("%d columns, %d rows, %d unused: %v", h.columns, h.rows, len(h.unused), err)
	}
}
