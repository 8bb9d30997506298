package outline

import (
	"slices"
	"testing"

	"covey/internal/noise"
	"covey/internal/round"
	"covey/internal/study"
)

// TestNoiseOfDeflation: of a study that finds one component after another, the noise is that of the
// worst one's last round, as its result states it, however the releases come in.
func TestNoiseOfDeflation(t *testing.T) {
	plan := &study.Plan{}
	plan.D = 2
	var releases []round.Released
	var noises []float64
	for i, r := range []struct {
		round int
		z     int64
	}{{0, 10}, {1, 1000}, {0, 20}, {1, 100}, {0, 30}, {1, 500}} {
		rel := study.Release{Query: i, Kind: study.KindPower, Round: r.round, Survivors: []int{0, 1, 2}, Units: 9, X: []float64{1, 0}, Grid: 1, Radius: 1, Sigma: noise.Sigma(1024), Noised: []int64{r.z, 0}}
		encoded, err := rel.Encode()
		if err != nil {
			t.Fatal(err)
		}
		releases, noises = append(releases, round.Released{Encoded: encoded}), append(noises, rel.NoiseToSignal(plan.D))
	}
	want := slices.Max([]float64{noises[1], noises[3], noises[5]})
	for batch := 1; batch <= len(releases); batch++ {
		var l Last
		for n := 0; n < len(releases); n += batch {
			l = l.After(plan, releases[:min(n+batch, len(releases))])
		}
		if l.noise == nil || *l.noise != want || l.steps != 6 {
			t.Errorf("by %d: %v of %d steps, want %v of %v", batch, l.noise, l.steps, want, noises)
		}
	}
	if l := (Last{}).After(plan, releases[:1]); *l.noise != noises[0] {
		t.Errorf("after one round %v, want %v", *l.noise, noises[0])
	}
}
