package study

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/internal/query"
	"covey/internal/standardize"
)

// mixedLearning is a study of three numbers, the second of a public scale, among three columns with
// levels, of 14 coordinates; the last number has one for missing values.
const mixedLearning = `
name = "mixed"
dataset = "rows"
epsilon = 1.0
delta = 1e-6
standardize = "private"
missing = "zero"
method = "covariance"
explained_variance = "none"
[[columns]]
name = "color"
levels = ["D", "E", "F"]
[[columns]]
name = "x"
[[columns]]
name = "cut"
levels = ["1", "2", "3", "4"]
[[columns]]
name = "known"
offset = 3.0
scale = 2.0
[[columns]]
name = "sold"
levels = ["yes"]
[[columns]]
name = "z"
indicator = true
`

// TestSingleColumns: queries about single columns are of the numbers alone: their values, Δ, shares
// and score go by three coordinates of fifteen, moments by three times as many.
func TestSingleColumns(t *testing.T) {
	p := mustPlan(t, mixedLearning, 3000, 3000, 3000)
	numbers, roomy := []int{4, 10, 13}, []int{0, 1, 2, 3, 4, 5, 6, 10, 13}
	if p.D != 15 || !slices.Equal(p.Single(KindOctaves), numbers) || !slices.Equal(p.Single(KindTree), numbers) || !slices.Equal(p.Single(KindMoments), roomy) {
		t.Fatalf("of %d coordinates %v, %v and %v are counted", p.D, p.Single(KindOctaves), p.Single(KindTree), p.Single(KindMoments))
	}
	shares := standardize.SharesOf(p.N, 3, 9, p.fullMultiplier)
	if p.Score() != standardize.Score(p.N, 3, p.fullMultiplier) || p.StandardizeShare() != shares.All() {
		t.Errorf("the score is %v, the share %v", p.Score(), p.StandardizeShare())
	}
	for _, q := range p.Queries {
		values, delta, share := 0, 0.0, 0.0
		switch q.Kind {
		case KindOctaves:
			values, delta, share = 3*query.OctaveBins, 0x1p16*math.Sqrt(4*3), shares.Octaves
		case KindTree:
			values, delta, share = 3*query.TreeBins, 0x1p16*math.Sqrt(6*3), shares.Tree
		case KindMoments:
			values, delta, share = 2*9, 0x1p16*math.Sqrt(28*9)+math.Sqrt(2*9), shares.Moments
		default:
			continue
		}
		if q.Values != values || math.Abs(p.Sensitivity(q, 0)/delta-1) > 1e-12 || math.Abs(q.Rho/p.Rho/share-1) > 0.01 {
			t.Errorf("%s has %d numbers, Δ = %v and %.4f of the budget; want %d, %v, %.4f", q.Kind, q.Values, p.Sensitivity(q, 0), q.Rho/p.Rho, values, delta, share)
		}
	}
	// as few units as three numbers need, not fifteen
	least := standardize.NeededUnits(3, p.fullMultiplier, standardize.RefuseScore)
	if _, err := plan(t, mixedLearning, least/3+1, least/3+1, least/3+1); err != nil {
		t.Errorf("%d units: %v", least, err)
	}
	_, err := plan(t, mixedLearning, least/3-1, least/3-1, least/3-1)
	if bad, ok := errors.AsType[*FieldError](err); !ok || bad.Field != "standardize" || !strings.Contains(bad.Reason, "the constants of 3 columns") {
		t.Errorf("fewer than %d units: %v", least, err)
	}
	// the longest answer is a tree of three columns
	if got, want := time.Duration(p.Proposal.Spec.Deadlines.Tick), time.Millisecond+3*104*2*time.Microsecond; got != want.Round(time.Millisecond) {
		t.Errorf("the tick is %v, want %v", got, want)
	}
}

// TestMixedCourse: each number gets its own center and scale from the releases, wherever it is
// among levels, whose constants stay those of their counts.
func TestMixedCourse(t *testing.T) {
	p := mustPlan(t, mixedLearning, 40_000, 40_000, 40_000)
	means, deviations := make([]float64, p.D), make([]float64, p.D)
	for at, j := range p.numbers {
		means[j], deviations[j] = []float64{100, 0.5, -3}[at], []float64{5, 1, 0.05}[at]
	}
	c := p.Start()
	c.Center, c.Scale, c.Observed = make([]float64, p.D), make([]float64, p.D), slices.Repeat([]float64{1}, p.D)
	for j := range p.D {
		if p.counted(j) {
			c.Center[j], c.Scale[j] = 0.25, 0.5
		}
	}
	for i, q := range p.Queries {
		if q.Kind != KindOctaves && q.Kind != KindTree && q.Kind != KindMoments {
			continue
		}
		c.Query = i
		a, err := p.NewAsk(c, i, 0)
		if err != nil {
			t.Fatal(err)
		}
		var noised []int64
		for _, v := range lawOf(p, a, means, deviations) {
			noised = append(noised, int64(v*float64(p.N)/a.Grid))
		}
		r, err := p.NewRelease(a, []int{0, 1, 2}, noised)
		if err != nil {
			t.Fatal(err)
		}
		p.learn(&c, q, r)
	}
	for j := range p.D {
		switch {
		case p.counted(j):
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
