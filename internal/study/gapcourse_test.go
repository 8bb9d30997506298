package study_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/layout"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestIndicators: a coordinate that says where a column has no value follows the column's own,
// never is a gap, and is centered and scaled by the released share, as levels are; one that nearly
// all rows have or have not is left out. It needs gaps that are kept.
func TestIndicators(t *testing.T) {
	text := strings.Replace(texts.Minimal, "explained_variance = \"none\"\ncenter = \"public\"", "missing = \"fill\"\n", 1)
	text = strings.Replace(text, "name = \"b\"", "name = \"b\"\nindicator = true", 1) + "[[columns]]\nname = \"c\"\nlevels = [\"x\", \"y\"]\nindicator = true\n[[columns]]\nname = \"e\"\nscale = 1\nindicator = true\n"
	p := runs.MustPlan(t, text, 9000, 9000, 9000, 9000, 9000)
	var names []string
	for _, at := range p.Layout.Coordinates {
		names = append(names, at.Name)
		if at.Gap != strings.HasSuffix(at.Name, " is missing") || at.Gap && at.Level != -1 {
			t.Errorf("%+v", at)
		}
	}
	if got := strings.Join(names, ", "); got != "a, b, b is missing, c=x, c=y, c=other, c is missing, e, e is missing" || p.D != len(names) {
		t.Fatalf("coordinates %s, d = %d", got, p.D)
	}
	if got := fmt.Sprint(p.Layout.Places()); got != "[0 1 3 7]" || p.Queries[0].Values != 4 {
		t.Errorf("gaps are counted at %s, %d numbers", got, p.Queries[0].Values)
	}
	if got := fmt.Sprint(p.Layout.Own()); got != "[-1 2 -1 6 6 6 -1 8 -1]" {
		t.Errorf("columns' own are at %s", got)
	}
	if own := runs.MustPlan(t, texts.Minimal, 9000, 9000, 9000, 9000, 9000).Layout.Own(); own != nil {
		t.Errorf("own %v of no column", own)
	}
	if first, width := p.Layout.Indicators(); fmt.Sprint(first, width) != "[3] [3]" {
		t.Errorf("levels are at %v, %v", first, width)
	}
	c := p.Start()
	p.ReadFilled(&c, runs.Filled(t, p, rand.New(rand.NewPCG(2, 2)), []float64{0, 0.3, 0.5, 0.001}))
	for j, want := range []float64{0, 0, 0.3, 0, 0, 0, 0.5, 0, 0} {
		scale := 1.0
		if at := p.Layout.Coordinates[j]; at.Gap {
			scale = math.Sqrt(want)
		}
		if math.Abs(c.Center[j]-want) > 0.05 || math.Abs(c.Scale[j]-scale) > 0.05 {
			t.Errorf("%s has center %v and scale %v, want %v and %v", names[j], c.Center[j], c.Scale[j], want, scale)
		}
	}
	if c.Scale[8] != 0 || c.X[8] != 0 || p.Layout.WhyLeftOut(c.Scale)[8] != layout.Even {
		t.Errorf("a coordinate that is 0 nearly everywhere has scale %v, and x is %v there", c.Scale[8], c.X[8])
	}
	for j, v := range c.Observed {
		if p.Layout.Coordinates[j].Gap && v != 1 {
			t.Errorf("%s has a value in %v of the rows", names[j], v)
		}
	}
	for _, missing := range []string{proposal.MissingError, proposal.MissingDropRow} {
		if _, err := proposal.ParseSpec([]byte(strings.Replace(text, `"fill"`, fmt.Sprintf("%q", missing), 1))); err == nil || !strings.Contains(err.Error(), "indicator") {
			t.Errorf("missing = %q: %v", missing, err)
		}
	}
}

// TestCorrectedCovariance: a covariance of rows that are empty at random, with zeros there, is
// corrected to that of complete rows; with missing = "zero" it stays what it is.
func TestCorrectedCovariance(t *testing.T) {
	const d = 6
	p, observed := runs.GapPlan(t, d, proposal.NoiseCentral), []float64{1, 0.9, 0.8, 0.5, 0.3, 0.1}
	full, m := make([]float64, 0, d*(d+1)/2), study.Moment{Tau: 2}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range d {
		for j := i; j < d; j++ {
			v, seen := rng.NormFloat64(), observed[i]*observed[j]
			if i == j {
				seen = observed[i]
			}
			full, m.Packed = append(full, v), append(m.Packed, v*seen)
		}
	}
	got := study.Course{Observed: observed}.Corrected(m, d)
	for i, v := range got.Packed {
		if !(math.Abs(v-full[i]) <= 1e-12) {
			t.Errorf("number %d is %v, want %v", i, v, full[i])
		}
	}
	square := 0.0 // of the noise, over all entries of the matrix
	for _, a := range observed {
		for _, b := range observed {
			square += 4 / (a * a * b * b) / d / d
		}
	}
	if math.Abs(got.Tau-math.Sqrt(square)) > 1e-9 {
		t.Errorf("the noise is %v, want %v", got.Tau, math.Sqrt(square))
	}
	part := study.Release{Kind: study.KindMoment, Units: 1, Grid: 1, Sigma: 1 << 10}
	for i := range d * (d + 1) / 2 {
		part.Noised = append(part.Noised, int64(1000+i))
	}
	for missing, want := range map[string]bool{proposal.MissingFill: true, proposal.MissingZero: false} {
		p.Proposal.Spec.Missing = missing
		got, _ := p.Covariance(study.Course{Observed: observed}, []study.Release{part})
		if corrected := !slices.Equal(got.Packed, part.Z()) || got.Tau != part.Tau(); corrected != want {
			t.Errorf("missing = %q is corrected: %v", missing, corrected)
		}
	}
}

// TestFilledIsRead: columns whose shares of empty cells are equal are read as equal, in both noise
// modes, one that is empty is not taken for one of the others, and nothing is below what may be
// divided by. The many are seeded.
func TestFilledIsRead(t *testing.T) {
	for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
		const columns, many = 40, 60
		p, rng := runs.GapPlan(t, columns, noise), rand.New(rand.NewPCG(11, 12))
		error, raw := 0.0, 0.0
		for run := range many {
			shares := slices.Repeat([]float64{0.2}, columns)
			if run%2 == 1 {
				shares[7] = 0.99
			}
			rel := runs.Filled(t, p, rng, shares)
			z, observed := rel.Z(), p.Observed(rel)
			if run%2 == 1 {
				if math.Abs(observed[7]-study.ObservedLeast) > 1e-9 {
					t.Errorf("an empty column is seen in %v of the rows", observed[7])
				}
				continue
			}
			for j, v := range observed {
				error += (v - 0.8) * (v - 0.8)
				raw += (z[j] - 0.2) * (z[j] - 0.2)
			}
		}
		if !(error < raw/5) {
			t.Errorf("%s: equal shares are read with an error of %v, as released %v", noise, error, raw)
		}
	}
}
