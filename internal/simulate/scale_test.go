package simulate

import (
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/dataset"
	"covey/internal/proposal"
)

// TestLearnedScalesAreDeviations: rows whose columns go together are clipped more where scales are
// learned, which makes all of them too small; the released total variance sets them. Each is near
// its column's deviation, their mean nearer, and variances add up to the number of columns. Noise
// is keyed.
func TestLearnedScalesAreDeviations(t *testing.T) {
	const d, sites, each, load = 8, 3, 10_000, 0.9
	for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower} {
		s := spec(t, d, "standardize = \"private\"\nexplained_variance = \"private\"\ncomponents = 1\nmethod = \""+method+"\"\n", "")
		s.Epsilon = 1
		rng := rand.New(rand.NewPCG(7, 9))
		x := over(t, Trials{Spec: s, Times: 1, Key: [32]byte{6}}, sites, func(int) *dataset.Rows {
			return table(each, func() []float64 {
				factor, row := rng.NormFloat64(), make([]float64, d)
				for j := range row {
					row[j] = 20 + 3*(load*factor+math.Sqrt(1-load*load)*rng.NormFloat64())
				}
				return row
			})
		})
		_, r, err := x.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for j, scale := range r.Scale {
			if math.Abs(scale/3-1) > 0.1 {
				t.Errorf("%s: scale %d is %.3f of the deviation", method, j, scale/3)
			}
			mean += scale / 3 / d
		}
		if math.Abs(mean-1) > 0.04 {
			t.Errorf("%s: scales are %.3f of the deviations", method, mean)
		}
		want := 1 + (d-1)*load*load
		if b := r.VarianceInterval[0]; !(b[0] < want && want < b[1]) || b[1] > 1.1*want || r.TotalVariance != d {
			t.Errorf("%s: explained variance %.3f, in %.3f, of %v; want %.3f of %d", method, r.ExplainedVariance[0], b, r.TotalVariance, want, d)
		}
	}
}

// TestScalesOfFilledTables: a filled cell has a part of its column's variance, and one that is not
// there has none. Scales are near the columns' deviations, and variances those of complete rows.
// Noise is keyed.
func TestScalesOfFilledTables(t *testing.T) {
	const d, sites, each, load = 6, 3, 6000, 0.7
	for gaps, near := range map[float64]float64{0.2: 0.02, 0.5: 0.05} {
		s := spec(t, d, "standardize = \"private\"\nmissing = \"fill\"\ncomponents = 2\n", "")
		rng := rand.New(rand.NewPCG(3, 8))
		x := over(t, Trials{Spec: s, Times: 1, Key: [32]byte{7}}, sites, func(int) *dataset.Rows {
			out := table(each, func() []float64 {
				factor, row := rng.NormFloat64(), make([]float64, d)
				for j := range row {
					row[j] = 20 + 3*(load*factor+math.Sqrt(1-load*load)*rng.NormFloat64())
				}
				return row
			})
			out.Gaps = make([]byte, out.Rows)
			for cell := range out.Values {
				if rng.Float64() < gaps {
					out.Gaps[cell/d] |= 1 << (cell % d)
					out.Values[cell] = 0
				}
			}
			return out
		})
		_, r, err := x.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for _, scale := range r.Scale {
			mean += scale / 3 / d
		}
		if want := 1 + (d-1)*load*load; math.Abs(mean-1) > near || math.Abs(r.ExplainedVariance[0]/want-1) > near {
			t.Errorf("%v of the cells: scales are %.3f of the deviations, variance %.3f, want %.3f", gaps, mean, r.ExplainedVariance[0], want)
		}
	}
}

// table is rows of which each is made up.
func table(rows int, row func() []float64) *dataset.Rows {
	out := &dataset.Rows{Rows: rows, Units: rows}
	for range rows {
		values := row()
		out.D = len(values)
		out.Values = append(out.Values, values...)
	}
	return out
}

// TestTotalDoubtsScales: where all columns have given scales, a total variance that is far above
// their number speaks against them, by either method; as many columns in their scales do not. Noise
// is keyed.
func TestTotalDoubtsScales(t *testing.T) {
	const d, sites, each = 6, 4, 5000
	for _, c := range []struct {
		name string
		cell func(site, j int, v float64) float64 // in scales
		want []string
	}{
		{"two columns of one site in other units", func(site, j int, v float64) float64 {
			if site == 0 && j < 2 {
				return v - 11
			}
			return v
		}, []string{"The total variance is "}},
		{"all scales too small", func(_, _ int, v float64) float64 { return 2 * v }, []string{"The total variance is "}},
		{"right", func(_, _ int, v float64) float64 { return v }, nil},
		{"scales a third too small", func(_, _ int, v float64) float64 { return 1.5 * v }, nil},
	} {
		for _, method := range []string{proposal.MethodCovariance, proposal.MethodPower} {
			t.Run(c.name+" "+method, func(t *testing.T) {
				t.Parallel()
				s := spec(t, d, "explained_variance = \"private\"\nmethod = \""+method+"\"\n")
				s.Epsilon = 2
				for j := range s.Columns { // rows come in scales
					s.Columns[j].Offset, s.Columns[j].Scale = 170, 10
				}
				rng := rand.New(rand.NewPCG(9, 11))
				doubted(t, over(t, Trials{Spec: s, Times: 1, Key: [32]byte{6}}, sites, func(site int) *dataset.Rows {
					return table(each, func() []float64 {
						factor, row := rng.NormFloat64(), make([]float64, d)
						for j := range row {
							row[j] = c.cell(site, j, 0.6*factor+0.8*rng.NormFloat64())
						}
						return row
					})
				}), c.want)
			})
		}
	}
}
