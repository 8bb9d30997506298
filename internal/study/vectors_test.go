package study

import (
	"errors"
	"math"
	"slices"
	"testing"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/test/texts"
)

// askFor is a well-formed ask for the first query that matches.
func askFor(t *testing.T, p *Plan, match func(Query) bool) Ask {
	t.Helper()
	at := slices.IndexFunc(p.Queries, match)
	if at < 0 {
		t.Fatal("the plan has no such query")
	}
	q := p.Queries[at]
	c := p.Start()
	c.Query = at
	basis := make([][]float64, p.D)
	for i := range basis {
		basis[i] = make([]float64, p.D)
		basis[i][i] = 1
	}
	c.Radii[q.Kind] = 2
	c.X = linalg.Flat(basis[:max(1, p.columns(q))])
	if q.Run > 0 {
		c.Found, c.X = linalg.Flat(basis[:q.Run]), basis[q.Run]
	}
	if p.Proposal.Spec.Center == proposal.CenterPrivate && !(q.Kind == KindMean || q.Of == KindMean) {
		c.Center = make([]float64, p.D)
	}
	a, err := p.NewAsk(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestCheckRefusesVectors: blocks, centres and what was found, one change at a time.
func TestCheckRefusesVectors(t *testing.T) {
	text := texts.With(texts.Four, "components = 2", `subspace = "deflation"`, `center = "private"`)
	p := mustPlan(t, text, 90_000, 90_000, 90_000)
	block := mustPlan(t, texts.With(texts.Four, "components = 2"), 90_000, 90_000, 90_000)
	power := func(q Query) bool { return q.Kind == KindPower && q.Run == 1 }
	mean := func(q Query) bool { return q.Kind == KindMean }
	any := func(q Query) bool { return q.Kind == KindPower }
	cases := []struct {
		name   string
		p      *Plan
		query  func(Query) bool
		change func(*Ask)
	}{
		{"no center", p, power, func(a *Ask) { a.Center = nil }},
		{"a short center", p, power, func(a *Ask) { a.Center = a.Center[:3] }},
		{"a center that is not finite", p, power, func(a *Ask) { a.Center = []float64{0, math.NaN(), 0, 0} }},
		{"a center far out", p, power, func(a *Ask) { a.Center = []float64{0, 0x1p301, 0, 0} }},
		{"a center of the first mean", p, mean, func(a *Ask) { a.Center = make([]float64, 4) }},
		{"a center of a study without", block, any, func(a *Ask) { a.Center = make([]float64, 4) }},
		{"nothing found", p, power, func(a *Ask) { a.Found = nil }},
		{"more found", p, power, func(a *Ask) { a.Found = []float64{1, 0, 0, 0, 0, 0, 1, 0} }},
		{"found of another length", p, power, func(a *Ask) { a.Found = []float64{2, 0, 0, 0} }},
		{"found by a block", block, any, func(a *Ask) { a.Found = []float64{1, 0, 0, 0} }},
		{"one column", block, any, func(a *Ask) { a.X = a.X[:4] }},
		{"columns that are one", block, any, func(a *Ask) { a.X = []float64{1, 0, 0, 0, 1, 0, 0, 0} }},
		{"columns aslant", block, any, func(a *Ask) { a.X = []float64{1, 0, 0, 0, 0.6, 0.8, 0, 0} }},
		{"x of a mean", p, mean, func(a *Ask) { a.X = []float64{1, 0, 0, 0} }},
		{"a radius beyond the histogram", block, func(q Query) bool { return q.Kind == KindTotal }, func(a *Ask) { a.Radius, a.Grid = 0x1p70, Grid(0x1p70) }},
	}
	for _, c := range cases {
		a := askFor(t, c.p, c.query)
		c.change(&a)
		if _, ok := errors.AsType[*MismatchError](c.p.Check(a)); !ok {
			t.Errorf("%s: was accepted", c.name)
		}
	}
}

// TestCheckReleaseOfShares: a release says what noise each site added, and a choice is
// one of the candidates.
func TestCheckReleaseOfShares(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `noise = "distributed"`), 90_000, 90_000, 90_000)
	a := askFor(t, p, func(q Query) bool { return q.Kind == KindPower })
	good, err := p.NewRelease(a, []int{0, 1, 2}, make([]int64, 4))
	if err != nil || p.CheckRelease(good) != nil {
		t.Fatal(err, p.CheckRelease(good))
	}
	// Three sites add σ_i each, where two would carry σ.
	if want := math.Sqrt(3.0/2) * a.Sigma.Float(); math.Abs(good.Spread()/want-1) > 1e-3 {
		t.Errorf("the noise on a sum is %v, want %v", good.Spread(), want)
	}
	bad := good
	bad.Share = nil
	if p.CheckRelease(bad) == nil {
		t.Error("a release that hides its shares was accepted")
	}
	p = mustPlan(t, texts.With(texts.Four, `lambda = "private"`, `lambda_range = [0.1, 20.0]`, `radius = "paper"`, "rounds = 3"), 90_000, 90_000, 90_000)
	a = askFor(t, p, func(q Query) bool { return q.Kind == KindSelect })
	for chosen, want := range map[int64]bool{-1: false, 0: true, 8: true, 9: false} {
		r, err := p.NewRelease(a, []int{0, 1, 2}, []int64{chosen})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.CheckRelease(r) == nil; got != want {
			t.Errorf("candidate %d: accepted %v", chosen, got)
		}
	}
	if a.Sigma != 0 {
		t.Error("a choice has no σ")
	}
}

// TestCheckReleaseOfRemovedNoise: a release says of whose shares part was taken away, and its noise
// is what stayed; only survivors of a sum that does not need the part can be named.
func TestCheckReleaseOfRemovedNoise(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `noise = "distributed"`), 90_000, 90_000, 90_000, 90_000, 90_000)
	if !p.Noise.Removes() || p.Thresholds.MinSurvivors != 4 {
		t.Fatalf("%+v", p.Thresholds)
	}
	a := askFor(t, p, func(q Query) bool { return q.Kind == KindPower })
	all, four := []int{0, 1, 2, 3, 4}, []int{0, 2, 3, 4}
	for _, c := range []struct {
		survivors, removed []int
		variance           float64 // of σ²; 0 where it must be refused
	}{
		{all, all, 5. / 4}, {all, nil, 5. / 3}, {all, []int{1, 4}, 2./4 + 3./3}, {four, nil, 4. / 3},
		{four, four, 0}, {four, []int{0}, 0}, {all, []int{4, 1}, 0}, {all, []int{1, 1}, 0}, {all, []int{5}, 0}, {all, []int{-1}, 0},
	} {
		r, err := p.NewRelease(a, c.survivors, make([]int64, 4))
		if err != nil {
			t.Fatal(err)
		}
		r.Removed = c.removed
		if err := p.CheckRelease(r); (err == nil) != (c.variance > 0) {
			t.Errorf("%v of %v: %v", c.removed, c.survivors, err)
		}
		if want := math.Sqrt(c.variance) * a.Sigma.Float(); c.variance > 0 && math.Abs(r.Spread()/want-1) > 1e-4 {
			t.Errorf("%v of %v: the noise is %v, want %v", c.removed, c.survivors, r.Spread(), want)
		}
		encoded, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseRelease(encoded); err != nil || again.Spread() != r.Spread() || !slices.Equal(again.Removed, r.Removed) {
			t.Errorf("%v: %v, %v", r, again, err)
		}
	}
	wait := mustPlan(t, texts.With(texts.Four, `noise = "distributed"`, `on_dropout = "wait"`), 90_000, 90_000, 90_000)
	r, err := wait.NewRelease(askFor(t, wait, func(q Query) bool { return q.Kind == KindPower }), []int{0, 1, 2}, make([]int64, 4))
	if err != nil || wait.Noise.Removes() || len(r.Share) != 1 {
		t.Fatal(r.Share, err)
	}
	if r.Removed = []int{0}; wait.CheckRelease(r) == nil {
		t.Error("noise of a sum that needs all of it was taken away")
	}
	central := mustPlan(t, texts.Four, 90_000, 90_000, 90_000)
	r, err = central.NewRelease(askFor(t, central, func(q Query) bool { return q.Kind == KindPower }), []int{0, 1, 2}, make([]int64, 4))
	if err != nil || central.Noise.Removes() {
		t.Fatal(err)
	}
	if r.Removed = []int{0}; central.CheckRelease(r) == nil {
		t.Error("nobody's central noise was taken away")
	}
}

// TestContextBindsVectors: as TestContextBinds, of what a centred or deflated study adds.
func TestContextBindsVectors(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, "components = 2", `subspace = "deflation"`, `center = "private"`), 90_000, 90_000, 90_000)
	good := askFor(t, p, func(q Query) bool { return q.Kind == KindPower && q.Run == 1 })
	ctx := p.Context([32]byte{}, good)
	for name, change := range map[string]func(*Ask){
		"center":     func(a *Ask) { a.Center = []float64{1, 0, 0, 0} },
		"found":      func(a *Ask) { a.Found = []float64{0, 0, 1, 0} },
		"which list": func(a *Ask) { a.Center, a.Found = a.Found, a.Center },
	} {
		a := good
		change(&a)
		if p.Context([32]byte{}, a) == ctx {
			t.Errorf("%s is not bound", name)
		}
	}
}
