package parquet

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/dataset"
)

// Offset and Scale decide no refusal, as with other formats: see package dataset's test of this
// name.
func TestConstantsDecideNothing(t *testing.T) {
	type row struct {
		A float64 `parquet:"a"`
	}
	for name, values := range map[string][]float64{"good": {3.25, -87.3125, 12}, "too large": {3.25, 1e150, 12}, "infinite": {3.25, math.Inf(-1), 12}, "missing": {3.25, math.NaN(), 12}} {
		var rows []row
		for _, v := range values {
			rows = append(rows, row{v})
		}
		s := dataset.Source{Path: writeParquet(t, rows)}
		rapid.Check(t, func(t *rapid.T) {
			q := dataset.Request{Missing: dataset.MissingError, Precision: rapid.SampledFrom([]dataset.Precision{dataset.Float64, dataset.Float32}).Draw(t, "precision")}
			scale := math.Ldexp(1, rapid.IntRange(-332, 332).Draw(t, "scale"))
			q.Columns = []dataset.Column{{Name: "a", Offset: rapid.Float64Range(-1e100, 1e100).Draw(t, "offset"), Scale: scale}}
			if _, err := dataset.Read(s, q, dataset.ReadOptions{}); (err == nil) != (name == "good") {
				t.Fatalf("%s, %v: %v", name, q.Columns, err)
			}
		})
	}
}
