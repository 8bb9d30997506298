package corrupt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

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

// poisoned takes a study to its end with one poison in all sums, or in some, and to all that is
// made of a result. It returns where it failed.
func poisoned(p *study.Plan, poison func([]int64, int64, *rand.Rand), all bool, rng *rand.Rand) error {
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
			for i, poison := range poisons {
				if testing.Short() && i != 1 {
					continue
				}
				for _, every := range []bool{true, false} {
					if err := poisoned(p, poison, every, rand.New(rand.NewPCG(uint64(i), 1))); err != nil {
						t.Errorf("%s, %s, poison %d, in all sums %v: %v", name, form, i, every, err)
					}
				}
			}
		}
	}
}
