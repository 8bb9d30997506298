package npy

import (
	"math"
	"slices"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
)

// The rows of an array are those that package dataset's test TestReadingsText reads from the same
// cells.
func TestReadings(t *testing.T) {
	q := dataset.Request{
		Columns:  []dataset.Column{{Name: "a", Scale: 1}, {Name: "b", Scale: 1}},
		Readings: []dataset.Reading{{Levels: []string{"1", "2.5", "-3"}}, {As: dataset.Boolean}},
		Missing:  dataset.MissingDropRow,
	}
	want := []float64{
		1, 0, 0, 0, 1,
		0, 1, 0, 0, 0,
		0, 0, 1, 0, 1,
		0, 0, 0, 1, 1, // 7
		0, 0, 0, 0, 0, // missing
		0, 0, 0, 1, 1, // an infinity is no level
		0, 0, 0, 0, 0, // 2 is no boolean
	}
	raw := doubles(1, 1, 2.5, 0, -3, 1, 7, 1, math.NaN(), 1, math.Inf(1), 1, 1, 2)
	s := dataset.Source{Path: cost.File(t, "x.npy", npy(header("'<f8'", "False", "(7, 2)"), raw)), Names: []string{"a", "b"}}
	for _, q.Precision = range []dataset.Precision{dataset.Float64, dataset.Float32} {
		r, err := dataset.Read(s, q, dataset.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got := r.Values
		for _, v := range r.Values32 {
			got = append(got, float64(v))
		}
		if !slices.Equal(got, want) || r.D != 5 || !slices.Equal(r.Absent, []int{4, 6}) {
			t.Errorf("%s: %v, %v", q.Precision, got, r.Absent)
		}
	}
	q.Readings = []dataset.Reading{{}, {As: dataset.Days}}
	if _, err := dataset.Read(s, q, dataset.ReadOptions{}); err == nil || err.(*dataset.Error).Schema != dataset.SchemaFormat {
		t.Errorf("dates of a dtype of numbers: %v", err)
	}
}
