package report

import (
	"errors"
	"io"
	"math"
	"testing"

	"covey/internal/proposal"
	"covey/internal/result"
)

// TestShapesThatDoNotFit: each length that a writer would index by is looked at, and each number of
// a component, NaN among them.
func TestShapesThatDoNotFit(t *testing.T) {
	type change = func(*result.Result)
	for name, c := range map[string]struct {
		field  string
		change change
	}{
		"no units":                  {"n_features_in_", func(r *result.Result) { r.N = 0 }},
		"a component's NaN":         {"components_", func(r *result.Result) { r.Components[0][1] = math.NaN() }},
		"a component's infinity":    {"components_", func(r *result.Result) { r.Components[0][1] = math.Inf(-1) }},
		"an output's NaN":           {"outputs.last", func(r *result.Result) { r.Outputs["last"] = [][]float64{{math.NaN(), 0, 0, 0}, {0, 1, 0, 0}} }},
		"no intervals":              {"explained_variance_", func(r *result.Result) { r.VarianceInterval = nil }},
		"ratios without variances":  {"explained_variance_", func(r *result.Result) { r.ExplainedVariance, r.VarianceInterval = nil, nil }},
		"a power step's found":      {"releases", func(r *result.Result) { r.Releases[0].Found = make([]float64, 3) }},
		"a power step's values":     {"releases", func(r *result.Result) { r.Releases[0].Noised = r.Releases[0].Noised[1:] }},
		"a power step of no vector": {"releases", func(r *result.Result) { r.Releases[0].X, r.Releases[0].Noised = nil, nil }},
	} {
		r := sample(4, 2, 3, proposal.SubspaceBlock, 0.01)
		c.change(r)
		for _, err := range []error{WriteNPZ(io.Discard, r), WriteCSV(io.Discard, r)} {
			if e, ok := errors.AsType[*Error](err); !ok || e.Field != c.field {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
