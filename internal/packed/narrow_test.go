package packed

import (
	"math"
	"slices"
	"testing"
)

// TestNarrow: numbers of every length, and none, come back.
func TestNarrow(t *testing.T) {
	for shift := range 64 {
		v := Ints{0, -1, 1, math.MaxInt64 >> shift, math.MinInt64 >> shift}
		for n := range len(v) + 1 {
			var got Ints
			kept := v[:n].Narrow()
			for i := range kept.Len() {
				got = append(got, kept.At(i))
			}
			if !slices.Equal(got, v[:n]) {
				t.Errorf("%v comes back as %v", v[:n], got)
			}
			if len(kept.raw) > n*width(math.MaxInt64>>shift) {
				t.Errorf("%v takes %d bytes", v[:n], len(kept.raw))
			}
		}
	}
	if (Narrow{}).Len() != 0 {
		t.Error("there are numbers where none were kept")
	}
}
