package query

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// TestColumnSensitivities: Δ of queries about single columns is at least what docs/privacy.md
// proves, to the last bit, and hardly more; other counts have √2 on any grid; and what no counts
// can have is infinite.
func TestColumnSensitivities(t *testing.T) {
	for _, d := range []int{1, 2, 7, 64, 1000, 12_500, 100_000} {
		for kind, square := range map[Kind]int64{Octaves: 4, Tree: 6, Moments: 28} {
			def := kind.Definition()
			values := def.Values(d, 3)
			got := def.CountSensitivity(ColumnGrid, values)
			if values > MaxValues {
				if !math.IsInf(got, 1) {
					t.Errorf("%s of %d numbers has Δ = %v", kind, values, got)
				}
				continue
			}
			want := new(big.Float).SetPrec(300).SetInt64(square * int64(d))
			want.Sqrt(want).Mul(want, big.NewFloat(1<<16))
			if kind == Moments {
				root := new(big.Float).SetPrec(300).SetInt64(int64(values))
				want.Add(want, root.Sqrt(root))
			}
			if have := new(big.Float).SetFloat64(got); have.Cmp(want) < 0 {
				t.Errorf("%s of %d columns: Δ = %v is below %v", kind, d, have, want)
			}
			if above, _ := want.Float64(); got > above*(1+4e-16) {
				t.Errorf("%s of %d columns: Δ = %v, %v would do", kind, d, got, above)
			}
		}
	}
	for k := 1; k <= 100; k++ { // √(2k) for scores on k components, √2 for a picture of k groups
		for values, square := range map[int]int64{ScoreBins * k: 2 * int64(k), PictureBins * PictureBins * k: 2} {
			kind := Scores
			if values != ScoreBins*k {
				kind = Picture
			}
			want := new(big.Float).SetPrec(300).SetInt64(square)
			want.Sqrt(want).Mul(want, big.NewFloat(1<<16))
			got := kind.Definition().CountSensitivity(ColumnGrid, values)
			if above, _ := want.Float64(); new(big.Float).SetFloat64(got).Cmp(want) < 0 || got > above*(1+4e-16) {
				t.Errorf("%s of %d numbers has Δ = %v, want %v", kind, values, got, want)
			}
		}
	}
	for bits, kind := range map[uint64]Kind{0x4120000000000001: Octaves, 0x4123988e1409212f: Tree, 0x41352a8551fa928c: Moments} {
		if got := kind.Definition().CountSensitivity(ColumnGrid, kind.Definition().Values(16, 0)); math.Float64bits(got) != bits {
			t.Errorf("%s of 16 columns has Δ = %x", kind, math.Float64bits(got))
		}
	}
	if got := Histogram.Definition().CountSensitivity(0x1p-8, HistogramBins); got != 256*HistogramSensitivity {
		t.Errorf("a histogram has Δ = %v", got)
	}
	for what, got := range map[string]float64{
		"a sum":              Mean.Definition().CountSensitivity(ColumnGrid, 4),
		"another grid":       Tree.Definition().CountSensitivity(0x1p-8, TreeBins),
		"no grid":            Histogram.Definition().CountSensitivity(0.3, 512),
		"a coarse grid":      Histogram.Definition().CountSensitivity(2, 512),
		"a fine grid":        Histogram.Definition().CountSensitivity(1/MaxRatio/2, 512),
		"too many values":    Filled.Definition().CountSensitivity(ColumnGrid, MaxValues+1),
		"half a column":      Tree.Definition().CountSensitivity(ColumnGrid, TreeBins+1),
		"half a component":   Scores.Definition().CountSensitivity(ColumnGrid, ScoreBins+1),
		"half a picture":     Picture.Definition().CountSensitivity(ColumnGrid, PictureBins*PictureBins/2),
		"a coarse picture":   Picture.Definition().CountSensitivity(0x1p-8, PictureBins*PictureBins),
		"half of moments":    Moments.Definition().CountSensitivity(ColumnGrid, 3),
		"part of octaves":    Octaves.Definition().CountSensitivity(ColumnGrid, OctaveBins-1),
		"no values":          Octaves.Definition().CountSensitivity(ColumnGrid, 0),
		"no kind":            Kind("cube").Definition().CountSensitivity(ColumnGrid, 1),
		"a radius of counts": Tree.Definition().Sensitivity(1, Grid(1), TreeBins),
	} {
		if !math.IsInf(got, 1) {
			t.Errorf("%s has Δ = %v", what, got)
		}
	}
}

// TestColumnBins: values are in their bins, from end to end; a value counts once in each level.
func TestColumnBins(t *testing.T) {
	for _, c := range []struct {
		x    float64
		bins []int
	}{
		{0, []int{0}}, {math.Copysign(0, -1), []int{0}},
		{1, []int{1 + 10, 22 + 5}}, {-1, []int{1 + 10, 22 + 5}},
		{math.Nextafter(1, 0), []int{1 + 10, 22 + 4}},
		{3.999, []int{1 + 10, 22 + 5}}, {4, []int{1 + 11, 22 + 5}}, {256, []int{1 + 12, 22 + 6}},
		{0x1p-1074, []int{1, 22}}, {0x1p480, []int{21, 31}}, {-math.MaxFloat64, []int{21, 31}},
	} {
		if got := AppendOctaves(nil, c.x); !slices.Equal(got, c.bins) {
			t.Errorf("%v is in the bins %v, want %v", c.x, got, c.bins)
		}
	}
	for _, c := range []struct {
		z    float64
		bins []int
	}{
		{-1, []int{0, 8, 40}}, {-0x1p900, []int{0, 8, 40}}, {1, []int{7, 39, 103}}, {0x1p900, []int{7, 39, 103}},
		{0, []int{4, 24, 40}}, {-0x1p-10, []int{3, 23, 103}}, {0.25, []int{5, 28, 40}}, {0x1p-9, []int{4, 24, 41}},
	} {
		if got := AppendTree(nil, c.z); !slices.Equal(got, c.bins) {
			t.Errorf("%v is in the bins %v, want %v", c.z, got, c.bins)
		}
	}
	octaves, tree := 1, 0
	for _, l := range OctaveLevels {
		octaves += l.Bins
	}
	for _, l := range TreeLevels {
		tree += l.Bins
	}
	if octaves != OctaveBins || tree != TreeBins {
		t.Errorf("%d and %d bins, want %d and %d", octaves, tree, OctaveBins, TreeBins)
	}
}
