package report

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/sbinet/npyio/npz"
	"gonum.org/v1/gonum/mat"

	"covey/internal/result"
	"covey/internal/worth"
)

// array is one member of the archive. value is a float64 or an int64 (a NumPy array
// of no dimension), a []float64, a []int64, a []string (of NumPy's fixed-width unicode) or a
// *mat.Dense.
type array struct {
	name  string
	value any
}

// WriteNPZ writes the result as a NumPy archive, which numpy.load opens with
// allow_pickle=False. An array has the name of its field in the result file, which is
// scikit-learn's where it has one; docs/result-file.md lists them. What was not bought, or
// is empty, is not there. A text is an array of one.
func WriteNPZ(w io.Writer, r *result.Result, of ...*worth.Report) error {
	if err := check(r); err != nil {
		return err
	}
	if len(of) > 0 {
		r = of[0].Shown(r)
	}
	z := npz.NewWriter(w)
	drawn, err := pictureArrays(r)
	if err != nil {
		return err
	}
	all := append(arrays(r), drawn...)
	if len(of) > 0 {
		all = append(all, worthArrays(r, of[0])...)
	}
	for _, a := range all {
		if err := z.Write(a.name+".npy", a.value); err != nil {
			return fmt.Errorf("report: %s: %w", a.name, err)
		}
	}
	return z.Close()
}

func arrays(r *result.Result) []array {
	out := []array{
		{"components_", dense(r.Components)},
		{"mean_", r.Mean},
		{"offset_", r.Offset},
		{"scale_", r.Scale},
		{"feature_names_in_", r.Columns},
		{"n_components_", int64(r.K)},
		{"n_features_in_", int64(r.D)},
		{"n_samples_", int64(r.N)},
	}
	bought := len(r.ExplainedVariance) > 0
	if bought {
		out = append(out,
			array{"explained_variance_", r.ExplainedVariance},
			array{"explained_variance_interval_", pairs(r.VarianceInterval)},
			array{"singular_values_", singularValues(r)},
		)
	}
	if len(r.VarianceRatio) > 0 {
		out = append(out, array{"explained_variance_ratio_", r.Shares()})
	}
	if r.TotalInterval != nil {
		out = append(out,
			array{"total_variance_", r.TotalVariance},
			array{"total_variance_interval_", r.TotalInterval[:]},
		)
		if bought {
			out = append(out, array{"noise_variance_", noiseVariance(r)})
		}
	}
	out = append(out,
		array{"epsilon", r.Epsilon},
		array{"delta", r.Delta},
		array{"rho", r.Rho},
		array{"radius", r.Radius},
		array{"noise_to_signal", r.NoiseToSignal},
		array{"rounds", int64(r.Rounds)},
	)
	if r.Simulated {
		out = append(out, array{"simulated", int64(1)})
	}
	if r.SitesPerUnit > 0 {
		out = append(out, array{"sites_per_unit", int64(r.SitesPerUnit)})
	}
	if r.Lambda > 0 {
		out = append(out, array{"lambda", r.Lambda})
	}
	if r.PerUnit > 0 {
		out = append(out, array{"rows_per_unit", r.PerUnit})
	}
	for _, text := range [][2]string{
		{"name", r.Name}, {"digest", r.Digest.String()}, {"profile", r.Profile}, {"method", r.Method}, {"method_why", r.MethodWhy}, {"components_why", r.ComponentsWhy},
		{"subspace", r.Subspace}, {"center", r.Center}, {"unit", r.Unit}, {"adjacency", r.Adjacency}, {"noise", r.Noise}, {"proposer", r.Proposer}, {"output", r.Output}, {"variance_note", r.VarianceNote}, {"scale_note", r.ScaleNote},
		{"levels_note", r.LevelsNote}, {"missing", r.Missing},
	} {
		if text[1] != "" {
			out = append(out, array{text[0], []string{text[1]}})
		}
	}
	if r.RowsKeptInterval != nil {
		out = append(out, array{"rows_kept_", r.RowsKept}, array{"rows_kept_interval_", r.RowsKeptInterval[:]})
	}
	if len(r.Filled) > 0 {
		out = append(out, array{"filled_", r.Filled}, array{"filled_interval_", pairs(r.FilledInterval)})
	}
	if len(r.LeftOut) > 0 {
		var names []string
		for _, l := range r.LeftOut {
			names = append(names, l.Column)
		}
		out = append(out, array{"left_out_", names})
	}
	if len(r.Sites) > 0 {
		out = append(out, array{"sites", r.Sites})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		out = append(out, array{"outputs_" + name, dense(r.Outputs[name])})
	}
	return out
}

// worthArrays are what the result is worth; NaN where nothing can be said of a component.
func worthArrays(r *result.Result, of *worth.Report) []array {
	out := []array{{"worth", of.Sentences}}
	if of.Share != nil {
		out = append(out, array{"captured_share_", of.Share.Estimate}, array{"captured_share_low_", of.Share.Lower})
	}
	if len(of.Components) != r.K {
		return out
	}
	angle, separated := make([]float64, r.K), make([]float64, r.K)
	low, high := mat.NewDense(r.K, r.D, nil), mat.NewDense(r.K, r.D, nil)
	for i, c := range of.Components {
		angle[i] = math.NaN()
		if c.Angle != nil {
			angle[i] = *c.Angle
		}
		if c.Separated {
			separated[i] = 1
		}
		for j := range r.D {
			low.Set(i, j, math.NaN())
			high.Set(i, j, math.NaN())
			if c.Loadings != nil {
				low.Set(i, j, c.Loadings[j][0])
				high.Set(i, j, c.Loadings[j][1])
			}
		}
	}
	return append(out, array{"angle_95_", angle}, array{"separated_", separated}, array{"components_low_", low}, array{"components_high_", high})
}

// singularValues are √(variance·(n-1)) with n rows, as scikit-learn has them: the noised number of
// rows kept where some may be left out, and of units of several rows the units times the released
// mean of rows a unit.
func singularValues(r *result.Result) []float64 {
	n := float64(r.N) * max(1, r.PerUnit)
	if r.RowsKeptInterval != nil {
		n = r.RowsKept
	}
	out := make([]float64, len(r.ExplainedVariance))
	for i, v := range r.ExplainedVariance {
		out[i] = math.Sqrt(max(0, v) * max(0, n-1))
	}
	return out
}

// noiseVariance is the mean variance of the directions that are no component, as in
// scikit-learn: 0 where there is none, or where privacy's noise leaves none of the total.
func noiseVariance(r *result.Result) float64 {
	rest := r.TotalVariance
	for _, v := range r.ExplainedVariance {
		rest -= v
	}
	directions := min(r.D-len(r.LeftOut), r.N) - r.K
	if directions < 1 {
		return 0
	}
	return max(0, rest) / float64(directions)
}

func dense(rows [][]float64) *mat.Dense {
	return mat.NewDense(len(rows), len(rows[0]), slices.Concat(rows...))
}

func pairs(v [][2]float64) *mat.Dense {
	m := mat.NewDense(len(v), 2, nil)
	for i := range v {
		m.SetRow(i, v[i][:])
	}
	return m
}
