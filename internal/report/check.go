package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"covey/internal/result"
	"covey/internal/study"
)

// Error is a result that cannot be written, because it is not what studies give.
// result.Verify finds the same faults and more.
type Error struct {
	Field  string // key of the result's JSON
	Reason string
}

func (e *Error) Error() string { return "report: " + e.Field + ": " + e.Reason }

func fault(field, format string, args ...any) error {
	return &Error{field, fmt.Sprintf(format, args...)}
}

// check returns the first shape that does not fit, so that nothing below can index
// out of range. Every error is an [*Error].
func check(r *result.Result) error {
	d, k := r.D, r.K
	if d < 1 || k < 1 || r.N < 1 {
		return fault("n_features_in_", "%d columns, %d components, %d units, at least 1 of each", d, k, r.N)
	}
	for _, f := range []length{{"feature_names_in_", len(r.Columns)}, {"offset_", len(r.Offset)}, {"scale_", len(r.Scale)}, {"mean_", len(r.Mean)}} {
		if f.n != d {
			return fault(f.field, "%d entries, n_features_in_ is %d", f.n, d)
		}
	}
	if err := vectors("components_", r.Components, k, d); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Outputs)) {
		most := k
		if r.ComponentsAsked != "" { // all that were asked about
			most = max(k, len(r.Outputs[name]))
		}
		if err := vectors("outputs."+name, r.Outputs[name], most, d); err != nil {
			return err
		}
	}
	if err := counts(r); err != nil {
		return err
	}
	for _, rel := range r.Releases {
		if rel.Kind == study.KindPower && r.Whole() && (len(rel.X) == 0 || len(rel.X)%d != 0 || len(rel.Noised) != len(rel.X) || len(rel.Found)%d != 0) {
			return fault("releases", "query %d is not a power step of %d columns", rel.Query, d)
		}
	}
	return nil
}

// counts checks how many numbers there are of what not every result has.
func counts(r *result.Result) error {
	d, k := r.D, r.K
	for _, f := range []length{{"explained_variance_", len(r.ExplainedVariance)}, {"explained_variance_interval_", len(r.VarianceInterval)}, {"explained_variance_ratio_", len(r.VarianceRatio)}} {
		if f.n != 0 && f.n != k {
			return fault(f.field, "%d entries, n_components_ is %d", f.n, k)
		}
	}
	if len(r.VarianceInterval) != len(r.ExplainedVariance) || len(r.VarianceRatio) > len(r.ExplainedVariance) {
		return fault("explained_variance_", "%d numbers with %d intervals and %d ratios", len(r.ExplainedVariance), len(r.VarianceInterval), len(r.VarianceRatio))
	}
	for _, n := range []int{len(r.Filled), len(r.FilledInterval)} {
		if n != len(r.Filled) || n != 0 && n != d {
			return fault("filled_", "%d entries with %d intervals, n_features_in_ is %d", len(r.Filled), len(r.FilledInterval), d)
		}
	}
	return nil
}

type length struct {
	field string
	n     int
}

func vectors(field string, v [][]float64, k, d int) error {
	if len(v) != k {
		return fault(field, "%d vectors, n_components_ is %d", len(v), k)
	}
	for i := range v {
		if len(v[i]) != d {
			return fault(field, "%d numbers in vector %d, n_features_in_ is %d", len(v[i]), i, d)
		}
		for _, x := range v[i] {
			if !(math.Abs(x) <= 2) { // of a unit vector
				return fault(field, "vector %d is not a unit vector", i)
			}
		}
	}
	return nil
}
