package study

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestReadsAreTheColumns: a step's columns that are read in parts are those of the whole, with
// columns that are left out, and less what deflation has found.
func TestReadsAreTheColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, k := rapid.IntRange(1, 9).Draw(t, "d"), rapid.IntRange(1, 3).Draw(t, "k")
		number := rapid.Int64Range(-1000, 1000)
		r := Release{Grid: 0.5, Units: 7, Noised: rapid.SliceOfN(number, d*k, d*k).Draw(t, "noised")}
		if rapid.Bool().Draw(t, "scaled") {
			r.Scale = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2}), d, d).Draw(t, "scale")
		}
		if rapid.Bool().Draw(t, "deflation") {
			r.Found = make([]float64, d)
			r.Found[rapid.IntRange(0, d-1).Draw(t, "found")] = 1
		}
		columns, reads := r.columns(d), r.reads(d)
		if len(reads) != len(columns) {
			t.Fatalf("%d are read of %d", len(reads), len(columns))
		}
		for j, read := range reads {
			from := rapid.IntRange(0, d-1).Draw(t, "from")
			part := make([]float64, rapid.IntRange(0, d-from).Draw(t, "length"))
			read(from, part)
			if want := columns[j][from:][:len(part)]; !slices.Equal(part, want) {
				t.Fatalf("column %d from %d is %v, want %v", j, from, part, want)
			}
		}
	})
}
