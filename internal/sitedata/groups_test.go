package sitedata

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"covey/internal/dataset"
)

// TestRowsOfTwoUnits: a part of the rows in another unit of measurement is asked about, where the
// study gives constants and where it learns them; a column of one group is not, however skewed, nor
// codes, dates and few values. The rows are seeded.
func TestRowsOfTwoUnits(t *testing.T) {
	var rng *rand.Rand
	either := func(share, factor, v float64) float64 {
		if rng.Float64() < share {
			return v * factor
		}
		return v
	}
	for name, c := range map[string]struct {
		value func() float64
		n     int
		as    dataset.As
		says  string
	}{
		"half in mg/dL":     {func() float64 { return either(0.5, 18, 5.5*math.Exp(0.3*rng.NormFloat64())) }, 4000, "", "has two groups of values, 50% of them near 98.7 and the others near 5.49: is it"},
		"a fifth in meters": {func() float64 { return either(0.2, 0.01, 170+10*rng.NormFloat64()) }, 300, "", "has two groups of values, 80% of them near 171 and the others near 1.69"},
		"a tenth in °F": {func() float64 {
			if v := 37 + 0.7*rng.NormFloat64(); rng.Float64() < 0.1 {
				return v*1.8 + 32
			} else {
				return v
			}
		}, 4000, "", "10% of them near 98.7 and the others near 37"},
		"negative values":         {func() float64 { return either(0.5, 1000, -3+0.5*rng.NormFloat64()) }, 4000, "", "50% of them near -3 and the others near -3.01e+03"},
		"normal":                  {func() float64 { return 170 + 10*rng.NormFloat64() }, 200, "", ""},
		"costs":                   {func() float64 { return math.Exp(2 * rng.NormFloat64()) }, 300, "", ""},
		"mostly zero":             {func() float64 { return max(0, math.Exp(rng.NormFloat64())-1.5) }, 4000, "", ""},
		"few values":              {func() float64 { return either(0.5, 18, 5.5*math.Exp(0.3*rng.NormFloat64())) }, 199, "", ""},
		"two doses":               {func() float64 { return either(0.5, 10, float64(1+rng.IntN(3))) }, 4000, "", ""},
		"admissions of two years": {func() float64 { return either(0.5, 40, 100+10*rng.NormFloat64()) }, 4000, dataset.Days, ""},
	} {
		for _, learned := range []bool{true, false} {
			rng = rand.New(rand.NewPCG(3, 9))
			column, unit := dataset.Column{Name: "x", Scale: 1}, 1.0
			if !learned {
				column.Scale, unit = 1e4, 1e4 // of which nothing else is said but that it is near zero
			}
			rows := &dataset.Rows{Rows: c.n, Units: c.n, D: 1}
			for range c.n {
				rows.Values = append(rows.Values, c.value()/unit)
			}
			f := LookAt(rows, []dataset.Column{column}, dataset.Reading{As: c.as, Learned: learned})
			got := strings.Join(f.Columns[0].Warnings, "; ")
			if strings.Contains(got, "two groups") != (c.says != "") || !strings.Contains(got, c.says) {
				t.Errorf("%s, learned %t: %q, want %q", name, learned, got, c.says)
			}
			if c.says != "" && !AsksUnit(f.Columns[0].Warnings[0]) {
				t.Errorf("%s: %q asks for no unit", name, got)
			}
		}
	}
}
