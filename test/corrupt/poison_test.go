package corrupt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/internal/report"
	"covey/internal/result"
	"covey/internal/sheet"
	"covey/internal/study"
	"covey/internal/worth"
	"covey/test/runs"
	"covey/test/texts"
)

// poisons are what a corrupt site can turn a sum into: it adds what it likes, in the ring, and the
// largest number of that is public.
var poisons = []func(v []int64, top int64, rng *rand.Rand){
	func(v []int64, top int64, _ *rand.Rand) { level(v, top) },
	func(v []int64, top int64, _ *rand.Rand) { level(v, -top-1) },
	func(v []int64, _ int64, _ *rand.Rand) { clear(v) },
	func(v []int64, top int64, rng *rand.Rand) { v[rng.IntN(len(v))] = top },
	func(v []int64, top int64, rng *rand.Rand) { v[rng.IntN(len(v))] = -top - 1 },
	func(v []int64, top int64, rng *rand.Rand) {
		for i := range v {
			v[i] = rng.Int64N(2*top+1) - top
		}
	},
	func(v []int64, _ int64, rng *rand.Rand) {
		for i := range v {
			v[i] = rng.Int64N(3) - 1
		}
	},
}

func level(v []int64, x int64) {
	for i := range v {
		v[i] = x
	}
}

// rowsFor are a site's rows of a plan, as many units as the roster says: numbers of every
// size that rows can have, zeros, rows of nobody, gaps where the study keeps them, one level of
// each column with levels.
func rowsFor(t *testing.T, p *study.Plan, rng *rand.Rand) *answer.Rows {
	t.Helper()
	units, per := p.Proposal.Roster[0].Units, 1
	if p.Proposal.Spec.Unit != "" {
		per = 2
	}
	sizes := []float64{0, 1, -1, 1e-300, -1e-30, 3e7, 1e140, -0x1p490}
	var values []float64
	var unit []int
	var gaps []byte
	first, width := p.Layout.Indicators()
	for i := range units * per {
		row, gap := make([]float64, p.D), make([]byte, (p.D+7)/8)
		for j := range row {
			if row[j] = rng.NormFloat64(); rng.IntN(20) == 0 {
				row[j] = sizes[rng.IntN(len(sizes))]
			}
			if c := p.Layout.Coordinates[j]; c.Level >= 0 || c.Gap {
				row[j] = 0
			}
		}
		for k, at := range first {
			row[at+rng.IntN(width[k])] = 1
		}
		if own := p.Layout.Own(); p.Proposal.Spec.KeepsGaps() && rng.IntN(3) == 0 {
			for j := range row {
				if c := p.Layout.Coordinates[j]; c.Level < 0 && !c.Gap && rng.IntN(2) == 0 {
					row[j] = 0
					gap[j/8] |= 1 << (j % 8)
					if own != nil && own[j] >= 0 {
						row[own[j]] = 1
					}
				}
			}
		}
		values, gaps, unit = append(values, row...), append(gaps, gap...), append(unit, i/per)
	}
	var m *clip.Matrix
	var err error
	if per == 1 {
		unit = nil
	}
	switch {
	case p.Proposal.Spec.KeepsGaps():
		m, err = clip.NewGapped(p.D, values, gaps, unit)
	case unit != nil:
		m, err = clip.NewUnits(p.D, values, unit)
	default:
		m, err = clip.NewMatrix(p.D, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return answer.New(m)
}

// poisoned takes a study to its end with one poison in all sums, or in some, and to all that is
// made of a result. An honest site answers every question. It returns where it failed.
func poisoned(p *study.Plan, rows *answer.Rows, poison func([]int64, int64, *rand.Rand), all bool, rng *rand.Rand) error {
	survivors := make([]int, len(p.Proposal.Roster))
	for i := range survivors {
		survivors[i] = i
	}
	c, releases := p.Start(), []study.Release(nil)
	for c.Query < len(p.Queries) && c.End == "" {
		at := func(what string, err error) error {
			return fmt.Errorf("query %d, %s: %s: %w", c.Query, p.Queries[c.Query].Kind, what, err)
		}
		ask, err := p.NewAsk(c, len(releases))
		if err == nil {
			err = p.Check(ask)
		}
		if err != nil { // every honest site would refuse it
			return at("its question", err)
		}
		own, err := rows.Answer(p, 0, ask, 1)
		if err == nil && len(own) != p.Queries[c.Query].Values {
			err = fmt.Errorf("%d numbers", len(own))
		}
		if err != nil {
			return at("a site's answer", err)
		}
		// No unit's vector is longer than Δ of these kinds, whatever the question is made of.
		most := float64(p.Proposal.Roster[0].Units) * p.Noise.Sensitivity(p.Queries[c.Query], ask.Radius)
		for _, x := range own {
			if math.Abs(float64(x)) > most {
				return at("a site's answer", fmt.Errorf("%d, of at most %g", x, most))
			}
		}
		v := make([]int64, p.Queries[c.Query].Values)
		if p.Proposal.Spec.Name != "mixed" { // of which no answer is made up
			v = runs.Answer(p, ask, rng, rng.IntN(2) == 0)
		}
		if !p.Noise.Chooses(p.Queries[c.Query]) && (all || rng.IntN(3) == 0) {
			poison(v, int64(1)<<(p.Bits-1)-1, rng)
		}
		r, err := p.NewRelease(ask, survivors, v)
		if err == nil {
			err = p.CheckRelease(r)
		}
		if err != nil {
			return at("its release", err)
		}
		if c, err = p.Next(c, r, releases); err != nil {
			return at("what follows", err)
		}
		if _, err := json.Marshal(c); err != nil { // it goes into the log
			return at("what follows", err)
		}
		releases = append(releases, r)
	}
	if c.End != "" {
		return nil
	}
	r, err := result.New(p, releases)
	if err != nil {
		return err
	}
	of, err := worth.Of(p, r)
	if err != nil {
		return err
	}
	of.Verdict(of.Shown(r))
	plots, err := report.Plots(r, of)
	for _, plot := range plots {
		err = errors.Join(err, plot.WriteSVG(io.Discard))
	}
	for _, v := range []any{r, of} {
		_, unwritten := json.Marshal(v)
		err = errors.Join(err, unwritten)
	}
	return errors.Join(err, report.WriteCSV(io.Discard, r, of), report.WriteNPZ(io.Discard, r, of), report.WritePictures(io.Discard, r), sheet.Write(io.Discard, sheet.Of(p, r, of), ""))
}

// TestPoisonedSums: a corrupt site can make any sum of a study anything that the ring holds. It
// spoils the result, and nothing else: honest parties go on to the end, each question that follows
// fits the plan, and what is made of the result is written. The numbers are seeded.
func TestPoisonedSums(t *testing.T) {
	all := maps.Clone(texts.Studies)
	all["mixed"] = texts.Mixed
	for _, name := range slices.Sorted(maps.Keys(all)) {
		forms := map[string]string{"as it is": all[name]}
		if text := texts.Iterating(all[name]); text != all[name] {
			forms["iterating"] = text
		}
		for form, text := range forms {
			spec, err := proposal.ParseSpec([]byte(text))
			if err != nil { // a covariance does not iterate
				continue
			}
			p := runs.PlanOf(t, spec, 4000, 4000, 4000, 4000, 4000)
			rows := rowsFor(t, p, rand.New(rand.NewPCG(9, 9)))
			for i, poison := range poisons {
				if testing.Short() && i != 1 {
					continue
				}
				for _, every := range []bool{true, false} {
					if err := poisoned(p, rows, poison, every, rand.New(rand.NewPCG(uint64(i), 1))); err != nil {
						t.Errorf("%s, %s, poison %d, in all sums %v: %v", name, form, i, every, err)
					}
				}
			}
		}
	}
}
