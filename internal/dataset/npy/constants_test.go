package npy

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/test/cost"
)

// Offset and Scale decide no refusal, as with other formats: see package dataset's test of this
// name.
func TestConstantsDecideNothing(t *testing.T) {
	for name, values := range map[string][]float64{"good": {3.25, -87.3125, 12}, "too large": {3.25, 1e150, 12}, "infinite": {3.25, math.Inf(-1), 12}, "missing": {3.25, math.NaN(), 12}} {
		s := dataset.Source{Path: cost.File(t, "a.npy", npy(header("'<f8'", "False", "(3, 1)"), doubles(values...))), Names: []string{"a"}}
		rapid.Check(t, func(t *rapid.T) {
			q := dataset.Request{Missing: dataset.MissingError, Precision: rapid.SampledFrom([]dataset.Precision{dataset.Float64, dataset.Float32}).Draw(t, "precision")}
			// What study.toml allows.
			scale := math.Ldexp(1, rapid.IntRange(-332, 332).Draw(t, "scale"))
			offset := rapid.Float64Range(-1e100, 1e100).Draw(t, "offset")
			q.Columns = []dataset.Column{{Name: "a", Offset: offset, Scale: scale}}
			r, err := dataset.Read(s, q, dataset.ReadOptions{})
			if (err == nil) != (name == "good") {
				t.Fatalf("%s, %v: %v", name, q.Columns, err)
			}
			if err != nil {
				return
			}
			for i, v := range values {
				want := (v - offset) / scale
				if q.Precision == dataset.Float32 {
					if want = max(-math.MaxFloat32, min(want, math.MaxFloat32)); r.Values32[i] != float32(want) {
						t.Fatalf("%s, %v: %v", name, q.Columns, r.Values32[i])
					}
				} else if end := math.Nextafter(dataset.Limit, 0); r.Values[i] != max(-end, min(want, end)) {
					t.Fatalf("%s, %v: %v", name, q.Columns, r.Values[i])
				}
			}
		})
	}
}
