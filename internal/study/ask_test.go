package study

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/test/texts"
)

func testAsk(t *testing.T) (*Plan, Ask) {
	t.Helper()
	p := mustPlan(t, strings.Replace(texts.Minimal, "delta", "radius = 3.0\ndelta", 1), 1000, 1000, 1000)
	a, err := askOf(p, 2, 5, p.Radius)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(a); err != nil {
		t.Fatal(err)
	}
	return p, a
}

// askOf is a planned power query about x_0 with a radius.
func askOf(p *Plan, query, slot int, radius float64) (Ask, error) {
	c := p.Start()
	c.Query, c.Radii[KindPower] = query, radius
	return p.NewAsk(c, slot)
}

// TestCheckRefuses: each bound that an agent rests on, one change at a time.
func TestCheckRefuses(t *testing.T) {
	p, good := testAsk(t)
	cases := map[string]func(*Ask){
		"query":    func(a *Ask) { a.Query = len(p.Queries) },
		"negative": func(a *Ask) { a.Query = -1 },
		"slot":     func(a *Ask) { a.Slot = p.Slots },
		"kind":     func(a *Ask) { a.Kind = KindHistogram },
		"round":    func(a *Ask) { a.Round++ },
		"x long":   func(a *Ask) { a.X = []float64{2, 0} },
		"x nan":    func(a *Ask) { a.X = []float64{math.NaN(), 1} },
		"x inf":    func(a *Ask) { a.X = []float64{math.Inf(1), 0} },
		"x size":   func(a *Ask) { a.X = []float64{1, 0, 0} },
		"radius":   func(a *Ask) { a.Radius *= 2; a.Grid *= 2 },
		"grid":     func(a *Ask) { a.Grid /= 2 },
		"sigma":    func(a *Ask) { a.Sigma = noise.Sigma(float64(a.Sigma) * 0.999) },
		"wider":    func(a *Ask) { a.Sigma = noise.Sigma(float64(a.Sigma) * 1.001) },
		"slot -1":  func(a *Ask) { a.Slot = -1 },
	}
	for name, change := range cases {
		a := good
		change(&a)
		if _, ok := errors.AsType[*MismatchError](p.Check(a)); !ok {
			t.Errorf("%s: was accepted", name)
		}
	}
}

// TestCountsHaveTheirGrid: sigma is in grid steps, so that counts of another grid would have other
// noise.
func TestCountsHaveTheirGrid(t *testing.T) {
	p := mustPlan(t, texts.Minimal, 1000, 1000, 1000)
	good, err := p.NewAsk(p.Start(), 0)
	if err != nil || good.Kind != KindHistogram || p.Check(good) != nil {
		t.Fatal(good.Kind, err, p.Check(good))
	}
	for name, change := range map[string]func(*Ask){
		"a finer grid": func(a *Ask) { a.Grid /= 1024 }, "a coarser grid": func(a *Ask) { a.Grid *= 1024 },
		"a radius": func(a *Ask) { a.Radius = 1 }, "a radius with its grid": func(a *Ask) { a.Radius = 4; a.Grid = Grid(4) },
	} {
		a := good
		change(&a)
		if _, ok := errors.AsType[*MismatchError](p.Check(a)); !ok {
			t.Errorf("%s of counts was accepted", name)
		}
	}
}

func TestPrivateRadiusMustBeAnEdgeInRange(t *testing.T) {
	p := mustPlan(t, texts.Minimal, 1000, 1000, 1000)
	a, err := askOf(p, 1, 1, BinEdge(300))
	if err != nil || p.Check(a) != nil {
		t.Fatal(err, p.Check(a))
	}
	a, err = askOf(p, 1, 1, 0x1p100)
	if err != nil {
		t.Fatal(err)
	}
	if p.Check(a) == nil {
		t.Fatal("a radius above the histogram was accepted")
	}
}

// TestOnlySquaresMayBeBoundedElsewhere: where a radius is the square of another bound no histogram
// need reach it, and no other may be beyond it.
func TestOnlySquaresMayBeBoundedElsewhere(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Four, `center = "private"`, `explained_variance = "private"`), 1000, 1000, 1000)
	seen := map[Kind]bool{}
	for _, q := range p.Queries {
		if _, public := p.publicRadius(q.Kind); public || q.Kind.Definition().Counts {
			continue
		}
		seen[q.Kind] = true
		err := p.checkRadius(q, Ask{Query: q.Index, Radius: 0x1p100, Grid: Grid(0x1p100)})
		if square := q.Kind == KindTotal || q.Kind == KindVariance; square != (err == nil) {
			t.Errorf("2^100 as the radius of a query of kind %s: %v", q.Kind, err)
		}
	}
	if !seen[KindPower] || !seen[KindTotal] {
		t.Errorf("of kinds %v", seen)
	}
}

// TestPaperRadiusHasBounds: a radius that follows from Λ is one that rows can be clipped to.
func TestPaperRadiusHasBounds(t *testing.T) {
	p := mustPlan(t, texts.Studies["scale in a range"], 90_000, 90_000, 90_000)
	at := slices.IndexFunc(p.Queries, func(q Query) bool { return q.Kind == KindPower })
	if p.Proposal.Spec.Radius != proposal.RadiusPaper || at < 0 {
		t.Fatal(p.Proposal.Spec.Radius, at)
	}
	for _, c := range []struct {
		radius float64
		fits   bool
	}{{0x1p-200, true}, {math.Nextafter(0x1p-200, 0), false}, {0x1p200, true}, {math.Nextafter(0x1p200, math.Inf(1)), false}, {math.NaN(), false}, {-1, false}} {
		err := p.checkRadius(p.Queries[at], Ask{Query: at, Radius: c.radius, Grid: Grid(c.radius)})
		if bad, ok := errors.AsType[*MismatchError](err); c.fits && err != nil || !c.fits && (!ok || bad.Field != "radius") {
			t.Errorf("a radius of %v: %v", c.radius, err)
		}
	}
	if _, err := p.NewAsk(Course{Query: -1}, 0); err == nil {
		t.Error("query -1 was asked")
	}
}

// TestContextBinds: ctx changes with every field, so that masks of sites that were
// asked different things do not cancel.
func TestContextBinds(t *testing.T) {
	p, good := testAsk(t)
	seen := map[[32]byte]string{}
	differs := func(name string, ctx [32]byte) {
		if other, ok := seen[ctx]; ok {
			t.Errorf("%s has the context of %s", name, other)
		}
		seen[ctx] = name
	}
	differs("what is asked", p.Context([32]byte{1}, good))
	differs("transcript", p.Context([32]byte{2}, good))
	for name, change := range map[string]func(*Plan){
		"digest": func(p *Plan) { p.Digest[31]++ }, "bits": func(p *Plan) { p.Bits++ },
		"lanes": func(p *Plan) { p.Queries = slices.Clone(p.Queries); p.Queries[good.Query].Lanes++ },
	} {
		other := *p
		change(&other)
		differs(name, other.Context([32]byte{1}, good))
	}
	for name, change := range map[string]func(*Ask){
		"query": func(a *Ask) { a.Query++ }, "slot": func(a *Ask) { a.Slot++ },
		"history": func(a *Ask) { a.History[5]++ },
		"kind":    func(a *Ask) { a.Kind = KindHistogram }, "round": func(a *Ask) { a.Round++ },
		"x":      func(a *Ask) { a.X = []float64{a.X[1], a.X[0]} },
		"center": func(a *Ask) { a.Center = []float64{1, 2} }, "found": func(a *Ask) { a.Found = []float64{1, 2} },
		"scale": func(a *Ask) { a.Scale = []float64{1, 2} }, "fill": func(a *Ask) { a.Fill = []float64{1, 2} },
		"deviations": func(a *Ask) { a.Deviations = []float64{1, 2} },
		"radius":     func(a *Ask) { a.Radius = 4 }, "grid": func(a *Ask) { a.Grid *= 2 }, "sigma": func(a *Ask) { a.Sigma++ },
	} {
		a := good
		change(&a)
		differs(name, p.Context([32]byte{1}, a))
	}
}

func TestCheckRelease(t *testing.T) {
	p, a := testAsk(t)
	good, err := p.NewRelease(a, []int{0, 1, 2}, []int64{5, 6})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckRelease(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Release){
		"study":      func(r *Release) { r.Study[0]++ },
		"few":        func(r *Release) { r.Survivors = []int{0, 1}; r.Units = 2000 },
		"order":      func(r *Release) { r.Survivors = []int{0, 2, 1} },
		"twice":      func(r *Release) { r.Survivors = []int{0, 1, 1} },
		"outside":    func(r *Release) { r.Survivors = []int{0, 1, 3} },
		"units":      func(r *Release) { r.Units++ },
		"length":     func(r *Release) { r.Noised = []int64{1} },
		"less noise": func(r *Release) { r.Sigma /= 2 },
		"less rho":   func(r *Release) { r.Rho *= 1 - 1e-6 },
		"rho of NaN": func(r *Release) { r.Rho = math.NaN() },
	} {
		r := good
		change(&r)
		if p.CheckRelease(r) == nil {
			t.Errorf("%s: was accepted", name)
		}
	}
	raw, err := good.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := ParseRelease(raw)
	if err != nil || back.Sigma != good.Sigma || back.Grid != good.Grid || back.Noised[1] != 6 {
		t.Fatalf("%+v, %v", back, err)
	}
}

func TestBinEdges(t *testing.T) {
	for j := range HistogramBins {
		want := math.Pow(2, float64(j-255)/4)
		if math.Abs(BinEdge(j)/want-1) > 1e-14 {
			t.Fatalf("edge %d is %v, want %v", j, BinEdge(j), want)
		}
	}
	if BinEdge(255) != 1 || BinEdge(259) != 2 {
		t.Fatal("whole powers of two must be exact")
	}
}

// TestUnreadRadiusStays: a histogram of which noise left nothing keeps the radius in force, or
// gives the default.
func TestUnreadRadiusStays(t *testing.T) {
	p := mustPlan(t, texts.Minimal, 1000, 1000, 1000)
	for _, c := range []struct{ before, want float64 }{{3, 3}, {0, defaultRadius}} {
		course := Course{Radii: map[Kind]float64{KindPower: c.before}}
		r := Release{Noised: make([]int64, HistogramBins), Sigma: 10 << 10}
		(&transition{p, p.Queries[0], r, nil, &course}).radius()
		if course.Radii[KindPower] != c.want {
			t.Fatal("an empty histogram must keep the radius, or begin at the default")
		}
	}
}
