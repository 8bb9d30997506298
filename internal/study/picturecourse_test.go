package study_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"covey/internal/linalg"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestDeviationsAreChecked: agents refuse a grid that does not follow from the releases they hold,
// and one that no score can be divided by; ctx binds it.
func TestDeviationsAreChecked(t *testing.T) {
	p, _, c, releases := runs.RunPictured(t, texts.Pictured)
	good, err := p.NewAsk(c, c.Query)
	if err == nil {
		err = errors.Join(p.Check(good), p.CheckCourse(c, good))
	}
	if err != nil {
		t.Fatal(err)
	}
	change := func(v float64) func(*study.Ask) {
		return func(a *study.Ask) { a.Deviations = slices.Clone(a.Deviations); a.Deviations[1] = v }
	}
	for name, bad := range map[string]struct {
		change func(*study.Ask)
		check  bool // Check refuses it, else CheckCourse alone
	}{
		"none":          {func(a *study.Ask) { a.Deviations = nil }, true},
		"one":           {func(a *study.Ask) { a.Deviations = a.Deviations[:1] }, true},
		"0":             {change(0), true},
		"below 0":       {change(-1), true},
		"not a number":  {change(math.NaN()), true},
		"infinite":      {change(math.Inf(1)), true},
		"too small":     {change(0x1p-301), true},
		"another":       {change(good.Deviations[1] * (1 + 1e-8)), false},
		"a narrow one":  {change(good.Deviations[1] / 1000), false},
		"another order": {func(a *study.Ask) { a.Deviations = []float64{a.Deviations[1], a.Deviations[0]} }, false},
	} {
		a := good
		bad.change(&a)
		check, course := p.Check(a), p.CheckCourse(c, a)
		if _, ok := errors.AsType[*study.MismatchError](course); !ok || (check != nil) != bad.check {
			t.Errorf("%s: Check says %v, CheckCourse %v", name, check, course)
		}
		if p.Context([32]byte{}, a) == p.Context([32]byte{}, good) {
			t.Errorf("%s: has the same context", name)
		}
	}
	for _, r := range releases {
		a := r.Ask()
		if a.Kind == study.KindScores || a.Kind == study.KindPicture {
			continue
		}
		if a.Deviations = good.Deviations; p.Check(a) == nil {
			t.Errorf("deviations in %s are accepted", a.Kind)
		}
	}
}

// TestWeakVariance: a variance that noise made small, or negative, has a grid that is too wide.
func TestWeakVariance(t *testing.T) {
	p, _, c, releases := runs.RunPictured(t, texts.With(texts.Pictured, `unit = "patient"`))
	i := slices.IndexFunc(releases, func(r study.Release) bool { return r.Kind == study.KindVariance })
	r := releases[i]
	c.Query = r.Query
	r.Noised = []int64{-5, 1 << 30}
	next, err := p.Next(c, r, releases[:i])
	if err != nil {
		t.Fatal(err)
	}
	if want := math.Sqrt(2 * r.Tau() / c.PerUnit); math.Abs(next.Deviations[1]-want) > 1e-12*want || !(c.PerUnit > 1.5) {
		t.Errorf("deviations are %v, want %v for what is noise", next.Deviations, want)
	}
	if want := math.Sqrt(r.Z()[1] / c.PerUnit); math.Abs(next.Deviations[0]-want) > 1e-12*want || !slices.Equal(next.X[:p.D], linalg.Orient(r.X[p.D:])) {
		t.Errorf("the stronger component has the deviation %v, want %v", next.Deviations[0], want)
	}
}
