package simulate

import (
	"math"
	"math/rand/v2"
	"testing"

	"covey/internal/dataset"
	"covey/internal/result"
)

// TestBoundOfLearnedConstants: where a study learns its columns' constants, its bound is of
// correlations, and holds for the components as they are. Turned by its learned scales into these
// rows' own they have those scales' noise, too, of which the bound says nothing: held against that
// it would miss. Noise is keyed.
func TestBoundOfLearnedConstants(t *testing.T) {
	const times, d, sites, each = 4, 40, 3, 2500
	s := spec(t, d, "standardize = \"private\"\ncomponents = 1\n", "")
	s.Epsilon = 1
	rng := rand.New(rand.NewPCG(7, 7))
	var loads [3][d]float64 // of three factors
	for f, size := range []float64{2, 1.3, 1} {
		for j := range d {
			loads[f][j] = size * rng.NormFloat64()
		}
	}
	x := over(t, Trials{Spec: s, Times: times, Key: [32]byte{5}}, sites, func(int) *dataset.Rows {
		r := &dataset.Rows{Rows: each, Units: each, D: d}
		for range each {
			var factors [3]float64
			for f := range factors {
				factors[f] = rng.NormFloat64()
			}
			for j := range d {
				v := 1.6 * rng.NormFloat64()
				for f := range factors {
					v += loads[f][j] * factors[f]
				}
				r.Values = append(r.Values, 20+v)
			}
		}
		return r
	})
	studies, _, err := x.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := Sum(studies, 0)
	if r.Bounds != times || r.Held != times || r.Correlated == nil || len(r.AnglesCorrelated) != 1 {
		t.Fatalf("of %d bounds %d held", r.Bounds, r.Held)
	}
	if turned, scored := r.AngleCorrelated.Median, r.Angle.Median; !(turned < scored) || math.Abs(r.AnglesCorrelated[0].Median-turned) > 1e-6 {
		t.Errorf("%g degrees from the correlations' component, %g with the scales' error", turned, scored)
	}
	missed := 0
	for _, o := range studies {
		if o.Captured < *o.Lower {
			missed++
		}
	}
	if missed == 0 {
		t.Error("no learned scale has noise that matters")
	}
	// Of public constants nothing is said of correlations.
	public := trials(t, spec(t, 4, "method = \"covariance\"\n"), "n=3000,spectrum=exp0.5,sites=3", 1)
	if v := public.Pooled.correlated(&result.Result{}); v != nil {
		t.Error(*v)
	}
}
