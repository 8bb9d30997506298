package study_test

import (
	"math"
	"slices"
	"testing"

	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestMixedCourse: each number gets its own center and scale from the releases, wherever it is
// among levels, whose constants stay those of their counts.
func TestMixedCourse(t *testing.T) {
	p := runs.MustPlan(t, texts.Mixed, 40_000, 40_000, 40_000)
	means, deviations := make([]float64, p.D), make([]float64, p.D)
	for at, j := range p.Layout.Single(study.KindTree) {
		means[j], deviations[j] = []float64{100, 0.5, -3}[at], []float64{5, 1, 0.05}[at]
	}
	c := p.Start()
	c.Center, c.Scale, c.Observed = make([]float64, p.D), make([]float64, p.D), slices.Repeat([]float64{1}, p.D)
	for j := range p.D {
		if counted(p, j) {
			c.Center[j], c.Scale[j] = 0.25, 0.5
		}
	}
	for i, q := range p.Queries {
		if q.Kind != study.KindOctaves && q.Kind != study.KindTree && q.Kind != study.KindMoments {
			continue
		}
		c.Query = i
		a, err := p.NewAsk(c, i)
		if err != nil {
			t.Fatal(err)
		}
		var noised []int64
		for _, v := range runs.Law(p, a, means, deviations) {
			noised = append(noised, int64(v*float64(p.N)/a.Grid))
		}
		r, err := p.NewRelease(a, []int{0, 1, 2}, noised)
		if err != nil {
			t.Fatal(err)
		}
		p.Learn(&c, q, r)
	}
	for j := range p.D {
		switch {
		case counted(p, j):
			if c.Center[j] != 0.25 || c.Scale[j] != 0.5 {
				t.Errorf("coordinate %d, of levels, has %v, %v", j, c.Center[j], c.Scale[j])
			}
		case math.Abs(c.Center[j]-means[j]) > 0.1*deviations[j] || math.Abs(c.Scale[j]/deviations[j]-1) > 0.1:
			t.Errorf("coordinate %d has %v, %v, its law %v, %v", j, c.Center[j], c.Scale[j], means[j], deviations[j])
		}
	}
	if c.End != "" {
		t.Errorf("it ended: %s", c.End)
	}
}

// counted reports whether a released count centers and scales coordinate j.
func counted(p *study.Plan, j int) bool {
	at := p.Layout.Coordinates[j]
	return at.Gap || at.Level >= 0
}
