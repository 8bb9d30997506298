package covey

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"

	"covey/internal/query"
	"covey/internal/study"
)

// TestGoldenSensitivity: grids, sensitivities and bin edges are the numbers that they always were,
// to the last bit: noise is scaled by them.
func TestGoldenSensitivity(t *testing.T) {
	for _, c := range []struct {
		kinds             []study.Kind
		radius            float64
		values            int
		grid, sensitivity float64
	}{
		{[]study.Kind{"power", "mean"}, 1, 1, 0x1p-16, 0x1.0000800000001p+17},
		{[]study.Kind{"power", "mean"}, 3, 1, 0x1p-15, 0x1.8000800000001p+17},
		{[]study.Kind{"power", "mean"}, 0.7, 12, 0x1p-17, 0x1.666821ce14ebfp+17},
		{[]study.Kind{"power", "mean"}, 333333.3333333333, 5050, 0x1p+02, 0x1.45a8dd7140939p+17},
		{[]study.Kind{"power", "mean"}, 2.7248972640692436e-18, 99999, 0x1p-75, 0x1.92bdd237e31p+17},
		{[]study.Kind{"moment", "variance", "total", "rows"}, 1, 1, 0x1p-16, 0x1.0001000000001p+16},
		{[]study.Kind{"moment", "variance", "total", "rows"}, 3, 1, 0x1p-15, 0x1.8001000000001p+16},
		{[]study.Kind{"moment", "variance"}, 0.7, 12, 0x1p-17, 0x1.fade1fc74be05p+16},
		{[]study.Kind{"moment", "variance"}, 333333.3333333333, 5050, 0x1p+02, 0x1.cca2318c7a64ep+16},
		{[]study.Kind{"moment", "variance"}, 2.7248972640692436e-18, 99999, 0x1p-75, 0x1.1cf64ea1766cdp+17},
	} {
		for _, k := range c.kinds {
			if g := study.Grid(c.radius); g != c.grid {
				t.Errorf("the grid of %v is %x, not %x", c.radius, g, c.grid)
			}
			if s := k.Definition().Sensitivity(c.radius, c.grid, c.values); s != c.sensitivity {
				t.Errorf("%s of %d values, R = %v: %x, not %x", k, c.values, c.radius, s, c.sensitivity)
			}
		}
	}
	for j, edge := range map[int]float64{-1: 0x1p-64, 0: 0x1.306fe0a31b715p-64, 100: 0x1.306fe0a31b715p-39,
		253: 0x1.6a09e667f3bcdp-01, 254: 0x1.ae89f995ad3adp-01, 255: 1, 256: 0x1.306fe0a31b715p+00, 511: 0x1p+64} {
		if e := study.BinEdge(j); e != edge {
			t.Errorf("the edge of bin %d is %x, not %x", j, e, edge)
		}
	}
	if float64(query.HistogramSensitivity) != 0x1.6a09e667f3bcdp+00 || study.HistogramBins != 512 {
		t.Error("the histogram's bins or sensitivity are others")
	}
	// The whole range, by its hash: every edge, and grids and sensitivities of over 2,000 radii.
	sum, count := sha256.New(), 0
	put := func(v float64) {
		count++
		sum.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
	}
	for j := -1; j < study.HistogramBins; j++ {
		put(study.BinEdge(j))
	}
	for at := 0x1p-200; at < 0x1p199; at *= 1.37 {
		for _, r := range []float64{at, math.Nextafter(at, math.Inf(1))} {
			g := study.Grid(r)
			put(g)
			for i, k := range []study.Kind{"power", "mean", "moment", "variance", "total", "rows"} {
				for _, values := range []int{1, 2, 3, 7, 64, 1000, 99_999, 1 << 24} {
					if values > 1 && i >= 4 {
						continue // of one number
					}
					put(k.Definition().Sensitivity(r, g, values))
					put(k.Definition().Sensitivity(r, g/1024, values))
				}
			}
		}
	}
	const want = "7ba78e92d55de05f211389fc12cd45e365801919f7cec31d85b2231f447d1da8"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want || count != 121_815 {
		t.Errorf("%d numbers with hash %s, not %s", count, got, want)
	}
}
