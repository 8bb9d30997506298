package dataset

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Offset and Scale are the proposer's, and a refusal is told before anybody approved anything: if
// it depended on them, bisecting for the least Scale that is refused would find the largest value.
func TestConstantsDecideNothing(t *testing.T) {
	columns := map[string][]float64{"good": {3.25, -87.3125, 12}, "too large": {3.25, 1e150, 12}, "infinite": {3.25, math.Inf(-1), 12}, "missing": {3.25, math.NaN(), 12}}
	for name, values := range columns {
		text := "a\n"
		for _, v := range values {
			text += strconv.FormatFloat(v, 'g', -1, 64) + "\n"
		}
		s := Source{Path: write(t, text)}
		rapid.Check(t, func(t *rapid.T) {
			q := Request{Missing: MissingError, Precision: rapid.SampledFrom([]Precision{Float64, Float32}).Draw(t, "precision")}
			// What study.toml allows.
			scale := math.Ldexp(1, rapid.IntRange(-332, 332).Draw(t, "scale"))
			offset := rapid.Float64Range(-1e100, 1e100).Draw(t, "offset")
			q.Columns = []Column{{"a", offset, scale}}
			r, err := Read(s, q, ReadOptions{})
			if (err == nil) != (name == "good") {
				t.Fatalf("%s, %v: %v", s.Path, q.Columns, err)
			}
			if err != nil {
				return
			}
			for i, v := range values {
				want := (v - offset) / scale
				if q.Precision == Float32 {
					if want = max(-math.MaxFloat32, min(want, math.MaxFloat32)); r.Values32[i] != float32(want) {
						t.Fatalf("%s, %v: %v", s.Path, q.Columns, r.Values32[i])
					}
				} else if end := math.Nextafter(Limit, 0); r.Values[i] != max(-end, min(want, end)) {
					t.Fatalf("%s, %v: %v", s.Path, q.Columns, r.Values[i])
				}
			}
		})
	}
}
