package study_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"covey/internal/linalg"
	"covey/internal/standardize"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestLearnedCourse: center and scale of each column follow from the releases, a known column keeps
// its scale and gets a center, a column of one value is left out, and no vector of the course has a
// part in it. A study that learns fewer columns than it has components ends.
func TestLearnedCourse(t *testing.T) {
	p := runs.MustPlan(t, texts.With(texts.Learning, `method = "power"`, `rows = "plain"`, "components = 2"), 40_000, 40_000, 40_000)
	means, deviations := []float64{100, -3, 7, 0, 0.5}, []float64{5, 0.05, 0, 1e6, 1}
	c, _ := runs.Learned(t, p, means, deviations)
	for j, d := range deviations {
		switch {
		case j == 2:
			if c.Scale[j] != 0 || c.Center[j] != 0 || c.Columns[j].Out != standardize.Constant {
				t.Errorf("a column of one value has %+v", c.Columns[j])
			}
			continue
		case j == 4:
			if c.Scale[j] != 1 {
				t.Errorf("a known column has the scale %v", c.Scale[j])
			}
		case math.Abs(c.Scale[j]/d-1) > 0.1:
			t.Errorf("column %d has the scale %v, its deviation is %v", j, c.Scale[j], d)
		}
		if math.Abs(c.Center[j]-means[j]) > 0.1*d {
			t.Errorf("column %d has the center %v, its mean is %v", j, c.Center[j], means[j])
		}
	}
	for _, v := range linalg.Split(c.X, p.D) {
		if v[2] != 0 || math.Abs(linalg.Norm(v)-1) > 1e-12 {
			t.Errorf("the first step is asked along %v", v)
		}
	}
	if c.End != "" {
		t.Errorf("it ended: %s", c.End)
	}
	still, _ := runs.Learned(t, p, means, []float64{0, 0, 0, 1e6, 0})
	if still.End != "" { // the known column and one other
		t.Errorf("two columns are too few for two components: %s", still.End)
	}
	three := runs.MustPlan(t, texts.With(texts.Learning, `method = "power"`, `rows = "plain"`, "components = 3"), 40_000, 40_000, 40_000)
	if still, _ = runs.Learned(t, three, means, []float64{0, 0, 0, 1e6, 0}); still.End != study.CodeNoScale {
		t.Errorf("two columns of three that are wanted: %q", still.End)
	}
}

// TestScaleIsChecked: an ask has the scales that follow from the releases and no others, on every
// query about scaled rows and on no other; and they are in its context.
func TestScaleIsChecked(t *testing.T) {
	p := runs.MustPlan(t, texts.Learning, 40_000, 40_000, 40_000)
	c, _ := runs.Learned(t, p, []float64{100, -3, 7, 0, 0.5}, []float64{5, 0.05, 0, 1e6, 1})
	good, err := p.NewAsk(c, c.Query)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Check(good), p.CheckCourse(c, good)); err != nil {
		t.Fatal(err)
	}
	change := func(of []float64, j int, v float64) []float64 {
		of = slices.Clone(of)
		of[j] = v
		return of
	}
	for name, a := range map[string]struct {
		change func(*study.Ask)
		check  bool // Check refuses it, else CheckCourse alone
	}{
		"none":                 {func(a *study.Ask) { a.Scale = nil }, true},
		"one fewer":            {func(a *study.Ask) { a.Scale = a.Scale[1:] }, true},
		"below zero":           {func(a *study.Ask) { a.Scale = change(a.Scale, 0, -1) }, true},
		"not a number":         {func(a *study.Ask) { a.Scale = change(a.Scale, 0, math.NaN()) }, true},
		"infinite":             {func(a *study.Ask) { a.Scale = change(a.Scale, 0, math.Inf(1)) }, true},
		"too small":            {func(a *study.Ask) { a.Scale = change(a.Scale, 0, 0x1p-301) }, true},
		"too large":            {func(a *study.Ask) { a.Scale = change(a.Scale, 0, 0x1p301) }, true},
		"another":              {func(a *study.Ask) { a.Scale = change(a.Scale, 0, a.Scale[0]*(1+1e-8)) }, false},
		"a column is left out": {func(a *study.Ask) { a.Scale = change(a.Scale, 1, 0) }, false},
		"a column is taken in": {func(a *study.Ask) { a.Scale = change(a.Scale, 2, 1) }, false},
		// in deviations of 0.05
		"a small column's place": {func(a *study.Ask) { a.Center = change(a.Center, 1, a.Center[1]+1e-6) }, false},
	} {
		bad := good
		a.change(&bad)
		check, course := p.Check(bad), p.CheckCourse(c, bad)
		if _, ok := errors.AsType[*study.MismatchError](course); !ok || (check != nil) != a.check {
			t.Errorf("%s: Check says %v, CheckCourse %v", name, check, course)
		}
		if p.Context([32]byte{}, bad) == p.Context([32]byte{}, good) {
			t.Errorf("%s: has the same context", name)
		}
	}
	first, err := p.NewAsk(p.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if first.Scale = []float64{1, 1, 1, 1, 1}; p.Check(first) == nil {
		t.Error("scales of the first query, which nothing was learned before, are accepted")
	}
	public := runs.MustPlan(t, texts.Four, 90_000, 90_000)
	a, err := public.NewAsk(public.Start(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if a.Scale = []float64{1, 1, 1, 1}; public.Check(a) == nil {
		t.Error("scales in a study of public constants are accepted")
	}
}
