package result

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestFilledText: people are told how many cells were empty and in which columns most were, in the
// result and by verify.
func TestFilledText(t *testing.T) {
	p := runs.GapPlan(t, 8, proposal.NoiseDistributed)
	shares := []float64{0, 0.1, 0.6, 0.9, 0.7, 0.8, 0.75, 0.85}
	r := &Result{}
	for j := range shares {
		r.Columns = append(r.Columns, fmt.Sprint("c", j))
	}
	if text := r.FilledText(); text != "" {
		t.Errorf("without gaps: %q", text)
	}
	r.Releases = []study.Release{runs.Filled(t, p, rand.New(rand.NewPCG(1, 1)), shares)}
	r.count(p, r.Releases)
	text := r.FilledText()
	for _, want := range []string{"of the cells had no value and were filled from the rest of their row", "more than half of the cells are empty in \"c2\"", "and 1 more", "mostly not observed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if strings.Contains(text, `"c1"`) {
		t.Errorf("%q names a column with few gaps", text)
	}
	r.Center = proposal.CenterPairs // a difference lacks what either row does, so that shares are no rows'
	if text := r.FilledText(); !strings.Contains(text, "of the differences of pairs had no value") || strings.Contains(text, "cells") {
		t.Errorf("of pairs: %q", text)
	}
	if v := (&Verified{gaps: text}); !slices.ContainsFunc(v.Rows(), func(row [2]string) bool { return row[1] == text }) {
		t.Error("verify does not say it")
	}
}

// TestFilledTextCountsCells: the share is of cells, so that indicators do not lower it, and
// negative noise is not cut off before the mean; a share is within the whole half of its interval,
// though the interval itself ends at 0.
func TestFilledTextCountsCells(t *testing.T) {
	text := texts.Minimal[:strings.Index(texts.Minimal, "[[columns]]")]
	text = strings.Replace(text, "explained_variance = \"none\"\ncenter = \"public\"", "missing = \"fill\"\nnoise = \"distributed\"\nmethod = \"covariance\"", 1)
	for j := range 4 {
		text += fmt.Sprintf("[[columns]]\nname = \"c%d\"\noffset = 0.0\nscale = 1.0\nindicator = true\n", j)
	}
	p := runs.MustPlan(t, text, 9000, 9000, 9000, 9000, 9000)
	for _, share := range []float64{0, 0.4} {
		release := runs.Filled(t, p, rand.New(rand.NewPCG(1, 1)), slices.Repeat([]float64{share}, 4))
		half := normal95 * release.Tau()
		for j, v := range []float64{1, -1, 2, -2} { // noise that cancels
			release.Noised[j] = int64((share + v*half/2) * float64(release.Units) / release.Grid)
		}
		r := &Result{Columns: make([]string, 8), Releases: []study.Release{release}}
		r.count(p, r.Releases)
		got := r.FilledText()
		var percent, within float64
		if _, err := fmt.Sscanf(got, "about %f%% of the cells", &percent); err != nil || math.Abs(percent-100*share) > 0.1 {
			t.Errorf("%q, want %g%%", got, 100*share)
		}
		_, after, _ := strings.Cut(got, "within ")
		if _, err := fmt.Sscanf(after, "%f points", &within); err != nil || math.Abs(within-100*half) > 5*half {
			t.Errorf("%q, want within %.2g points", got, 100*half)
		}
	}
}

// TestFilledTextNamesTheEmptiest: a mean over columns hides one that has all the gaps, and noise
// alone makes no column stand out.
func TestFilledTextNamesTheEmptiest(t *testing.T) {
	p := runs.GapPlan(t, 8, proposal.NoiseDistributed)
	for _, share := range []float64{0, 0.3} {
		shares := make([]float64, 8)
		shares[2] = share
		r := &Result{Columns: strings.Split("a b c d e f g h", " "), Releases: []study.Release{runs.Filled(t, p, rand.New(rand.NewPCG(1, 1)), shares)}}
		r.count(p, r.Releases)
		if text := r.FilledText(); strings.Contains(text, `the emptiest column is "c", with about `) != (share > 0) || share == 0 && strings.Contains(text, "emptiest") {
			t.Errorf("%g: %q", share, text)
		}
	}
}

// TestFilledTextOfLackedColumns: what a site does not have at all makes components too small by
// power iteration, and too large by a covariance.
func TestFilledTextOfLackedColumns(t *testing.T) {
	p := runs.GapPlan(t, 8, proposal.NoiseDistributed)
	for _, c := range []struct{ missing, method, want string }{
		{proposal.MissingFill, proposal.MethodPower, "come out too small"},
		{proposal.MissingFill, proposal.MethodCovariance, "come out too large"},
		{proposal.MissingZero, proposal.MethodCovariance, "come out too small"},
	} {
		for _, share := range []float64{0, 0.3, 0.7} {
			r := &Result{Method: c.method, Columns: strings.Split("a b c d e f g h", " "), Releases: []study.Release{
				runs.Filled(t, p, rand.New(rand.NewPCG(1, 1)), []float64{0, share, share, 0, 0, 0, 0, 0})}}
			r.count(p, r.Releases)
			r.Missing = c.missing
			if text := r.FilledText(); strings.Contains(text, c.want) != (share > 0) || share == 0 && strings.Contains(text, "whole columns") {
				t.Errorf("%v, %g: %q", c, share, text)
			}
		}
	}
}

// TestNoiseHidesFilled: where noise alone moves a share by half of all cells, no share is named.
func TestNoiseHidesFilled(t *testing.T) {
	p := runs.GapPlan(t, 3, proposal.NoiseDistributed)
	release := runs.Filled(t, p, rand.New(rand.NewPCG(1, 1)), []float64{0, 0.1, 0.9})
	r := &Result{Columns: []string{"a", "b", "c"}, Releases: []study.Release{release}}
	r.count(p, r.Releases)
	if text := r.FilledText(); !strings.Contains(text, "about ") || !strings.Contains(text, `"c" (`) {
		t.Errorf("%q", text)
	}
	r.Releases[0].Units = int(float64(release.Units) * 2 * normal95 * release.Tau()) // noise of half the cells
	if text := r.FilledText(); !strings.HasPrefix(text, "noise hides how many cells had no value") || strings.Contains(text, `"c"`) {
		t.Errorf("%q", text)
	}
}

// TestFilledIntervalsCover: the share of empty cells is released with intervals of which 95% cover
// the true one: of 40 columns × 60 seeded many at least 93% (right ones fail here with probability
// below 10^-5), in both noise modes.
func TestFilledIntervalsCover(t *testing.T) {
	for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
		const columns, many = 40, 60
		p, rng := runs.GapPlan(t, columns, noise), rand.New(rand.NewPCG(11, 12))
		covered := 0
		for run := range many {
			shares := slices.Repeat([]float64{0.2}, columns)
			if run%2 == 1 {
				shares[7] = 0.99
			}
			r := &Result{}
			r.count(p, []study.Release{runs.Filled(t, p, rng, shares)})
			for j, interval := range r.FilledInterval {
				if interval[0] <= shares[j] && shares[j] <= interval[1] {
					covered++
				}
			}
		}
		if covered < columns*many*93/100 {
			t.Errorf("%s: of %d intervals %d cover", noise, columns*many, covered)
		}
	}
}
