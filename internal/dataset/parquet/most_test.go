package parquet

import (
	"errors"
	"testing"

	"covey/internal/dataset"
)

// TestMostOfParquet: a packed file with more rows than may be kept is told apart from one that
// cannot be read.
func TestMostOfParquet(t *testing.T) {
	type row struct {
		A float64 `parquet:"a"`
	}
	path := writeParquet(t, make([]row, 100_000))
	q := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Missing: dataset.MissingError}
	if r, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{Most: 800_000}); err != nil || r.Rows != 100_000 {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := dataset.Read(dataset.Source{Path: path}, q, dataset.ReadOptions{Most: 799_999}); !errors.Is(err, dataset.ErrMost) {
		t.Errorf("one byte less: %v", err)
	}
}
