package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/layout"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/standardize"
	"covey/test/texts"
)

// A study asks for the counts of levels before anything that their shares scale, for a share of the
// budget by public numbers, with distributed noise unless it says what central noise tells.
func TestLevelsPlan(t *testing.T) {
	for _, c := range []struct {
		units int
		share float64
	}{{200, levelsShareMost}, {10_000, levelsShareMost}, {1e6, levelsShareLow}} {
		p := mustPlan(t, texts.With(texts.Leveled, `center = "private"`), c.units, c.units, c.units)
		q := p.Queries[0]
		if q.Kind != KindLevels || q.Values != 2*65 || p.D != 8 {
			t.Errorf("it begins with %s of %d numbers, d = %d", q.Kind, q.Values, p.D)
		}
		if got := p.Shares().Levels; math.Abs(got-c.share) > 1e-12 || math.Abs(q.Rho/p.Rho-c.share) > 0.01*c.share {
			t.Errorf("%d units: the counts take %v of the budget, charged %v", c.units, got, q.Rho/p.Rho)
		}
		// √(2·2)
		if want := 2.0 * 0x1p16; !(p.Noise.Sensitivity(q, 0) >= want) || p.Noise.Sensitivity(q, 0) > want*(1+1e-12) {
			t.Errorf("Δ = %v", p.Noise.Sensitivity(q, 0))
		}
		if p.Proposal.Spec.Noise != proposal.NoiseDistributed {
			t.Error("noise is central")
		}
	}
	// between the bounds 4σ is half a percent of the units
	p := mustPlan(t, texts.Leveled, 20_000, 20_000, 20_000)
	sigma, err := p.Noise.Sigma(p.Queries[0], 0)
	if err != nil {
		t.Fatal(err)
	}
	if all := sigma.Float() * query.ColumnGrid * p.NoiseFactor; math.Abs(4*all/(0.005*60_000)-1) > 0.02 {
		t.Errorf("4σ = %v", 4*all)
	}
	for lines, field := range map[string]string{
		`noise = "central"`: "noise",
		"profile = \"paper\"\nalpha = 0.5\nlambda = 1.0": "columns",
		`start = { file = "x" }`:                         "start",
	} {
		if _, err := plan(t, texts.With(texts.Leveled, lines), 100, 100, 100); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", lines, err)
		}
	}
}

// What is left of levels, by their counts alone.
func TestLevelShares(t *testing.T) {
	for _, c := range []struct {
		name         string
		counts       []float64
		sigma, least float64
		want         []float64
		why          []standardize.Reason
	}{
		{"all", []float64{50, 30, 20}, 1, 2, []float64{0.5, 0.3, 0.2}, []standardize.Reason{"", "", ""}},
		{"a rare one", []float64{50, 3.9, 46.1}, 1, 2, []float64{0.5, 0, 0.5}, []standardize.Reason{"", layout.Joined, ""}},
		{"rare by share", []float64{50, 4.1, 45.9}, 1, 5, []float64{0.5, 0, 0.5}, []standardize.Reason{"", layout.Joined, ""}},
		{"below zero", []float64{50, -10, 60}, 1, 2, []float64{0.5, 0, 0.5}, []standardize.Reason{"", layout.Joined, ""}},
		{"other rare", []float64{60, 20, 3}, 1, 2, []float64{0.75, 0.25, 0}, []standardize.Reason{"", "", layout.Rare}},
		{"joined and still rare", []float64{60, 20, 3, 1}, 1, 2, []float64{0.75, 0.25, 0, 0}, []standardize.Reason{"", "", layout.Rare, layout.Rare}},
		{"enough together", []float64{60, 3.5, 3.5, 33}, 1, 2, []float64{0.6, 0, 0, 0.4}, []standardize.Reason{"", layout.Joined, layout.Joined, ""}},
		{"noise of three", []float64{60, 40, 3, 3, 0.5}, 1, 2, []float64{0.6, 0.4, 0, 0, 0}, []standardize.Reason{"", "", layout.Rare, layout.Rare, layout.Rare}},
		{"one level", []float64{100, 1}, 1, 2, []float64{0, 0}, []standardize.Reason{layout.Single, layout.Single}},
		{"nothing", []float64{0, 0, 0}, 1, 2, []float64{0, 0, 0}, []standardize.Reason{layout.Single, layout.Single, layout.Single}},
	} {
		got := standardize.LevelShares(c.counts, c.sigma, c.least)
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		l := layout.Of(proposal.Spec{Columns: []proposal.Column{{Levels: make([]string, len(got)-1)}}})
		if why := l.WhyLeftOut(got); !slices.Equal(why, c.why) {
			t.Errorf("%s: left out are %q, want %q", c.name, why, c.why)
		}
	}
}

// TestNoScalesJoinNoLevels: before the scales are known no level is rare.
func TestNoScalesJoinNoLevels(t *testing.T) {
	p := mustPlan(t, texts.Studies["levels"], 90_000, 90_000, 90_000)
	if first, _ := p.Layout.Indicators(); len(first) == 0 {
		t.Fatal("the study has no levels")
	}
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("of no scales: %v", r)
		}
	}()
	if got := p.Layout.JoinLevels(nil); got != nil {
		t.Errorf("joined %v", got)
	}
}

// Whatever the counts are, what follows is finite, adds up to one or to nothing, is above the
// threshold, and is an ask that every site takes.
func TestAnyLevelsRelease(t *testing.T) {
	p := mustPlan(t, texts.With(texts.Leveled, `center = "private"`), 3000, 3000, 3000)
	rng := rand.New(rand.NewPCG(4, 7))
	first, width := p.Layout.Indicators()
	ended := 0
	for range 3000 {
		c := p.Start()
		a, err := p.NewAsk(c, 0)
		if err != nil {
			t.Fatal(err)
		}
		noised := make([]int64, p.Queries[0].Values)
		for i := range noised {
			noised[i] = int64(math.Exp(43*rng.Float64()) * rng.NormFloat64())
		}
		r, err := p.NewRelease(a, []int{0, 1, 2}, noised)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = p.Next(c, r, nil); err != nil {
			t.Fatal(err)
		}
		for i, at := range first {
			sum, in := 0.0, 0
			for j := at; j < at+width[i]; j++ {
				share := c.Center[j]
				if share > 0 {
					in++
				}
				sum += share
				if !(share >= 0 && share <= 1) || math.Abs(c.Scale[j]*c.Scale[j]-share) > 1e-12 {
					t.Fatalf("%s has the share %v and the scale %v", p.Layout.Coordinates[j].Name, share, c.Scale[j])
				}
			}
			if in == 1 || in > 0 && math.Abs(sum-1) > 1e-9 || in == 0 && sum != 0 {
				t.Fatalf("%d shares add up to %v", in, sum)
			}
		}
		if c.End != "" {
			ended++
			continue
		}
		if a, err = p.NewAsk(c, 1); err == nil {
			err = p.Check(a)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Scale = slices.Clone(c.Scale)
		c.Scale[1] = 0.123 // a leader that says something else
		if again, err := p.NewAsk(c, 1); err != nil || p.CheckCourse(must(p.Next(p.Start(), r, nil)), again) == nil {
			t.Fatalf("other scales than the release's are taken, %v", err)
		}
	}
	if ended > 0 { // a and c have no levels
		t.Errorf("%d studies of one component ended", ended)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
