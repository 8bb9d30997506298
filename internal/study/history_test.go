package study_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
	"covey/test/texts"
)

// TestEarlierIsAllThatNextReads: a party that keeps no releases but those that Earlier lists, and
// of them what is left when they are spent, goes the same way as one that keeps all: agents do, and
// hold nothing else.
func TestEarlierIsAllThatNextReads(t *testing.T) {
	for name, text := range texts.Studies {
		t.Run(name, func(t *testing.T) {
			p, _, releases := runs.Run(t, text, false)
			if p.Queries.Earlier(-1) != nil || p.Queries.Earlier(len(p.Queries)) != nil {
				t.Error("a query that is not planned reads others")
			}
			c := p.Start()
			for i, r := range releases {
				var kept []study.Release
				for _, q := range p.Queries.Earlier(r.Query) {
					at := slices.IndexFunc(releases[:i], func(e study.Release) bool { return e.Query == q })
					if at < 0 {
						t.Fatalf("query %d reads query %d, which was not released before it", r.Query, q)
					}
					kept = append(kept, p.Spent(releases[at]))
				}
				all, err := p.Next(c, r, releases[:i])
				if err != nil {
					t.Fatal(err)
				}
				few, err := p.Next(c, r, kept)
				if err != nil || !equalCourses(all, few) {
					t.Fatalf("after query %d the course is another, or %v", r.Query, err)
				}
				c = all
			}
		})
	}
}

func equalCourses(a, b study.Course) bool {
	if a.Query != b.Query || a.History != b.History || a.Method != b.Method || a.End != b.End || len(a.Radii) != len(b.Radii) {
		return false
	}
	for k, r := range a.Radii {
		if b.Radii[k] != r {
			return false
		}
	}
	return slices.Equal(a.X, b.X) && slices.Equal(a.Center, b.Center) && slices.Equal(a.Found, b.Found)
}

// TestCheckCourse: AG-40. It changes one thing of an ask at a time: what follows from the releases
// is taken with other last digits, and nothing else is.
func TestCheckCourse(t *testing.T) {
	p, _, releases := runs.Run(t, texts.With(texts.Four, `center = "private"`, "components = 3", `subspace = "deflation"`, "rounds = 2"), false)
	c := p.Start()
	for i, r := range releases {
		a, err := p.NewAsk(c, i)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(field string, change func(*study.Ask)) {
			t.Helper()
			bad := a
			bad.X, bad.Center, bad.Found = slices.Clone(a.X), slices.Clone(a.Center), slices.Clone(a.Found)
			change(&bad)
			err := p.CheckCourse(c, bad)
			if m, ok := errors.AsType[*study.MismatchError](err); field != "" && (!ok || m.Field != field) || field == "" && err != nil {
				t.Errorf("query %d: got %v, want it refused for %q", r.Query, err, field)
			}
		}
		refused("", func(*study.Ask) {})
		refused("query", func(a *study.Ask) { a.Query++ })
		refused(study.FieldHistory, func(a *study.Ask) { a.History[31]++ })
		if a.Radius > 0 {
			refused("radius", func(a *study.Ask) { a.Radius *= 1 + 1e-8 })
			refused("", func(a *study.Ask) { a.Radius *= 1 + 1e-13 })
		}
		for field, of := range map[string]func(*study.Ask) []float64{
			"x": func(a *study.Ask) []float64 { return a.X }, "center": func(a *study.Ask) []float64 { return a.Center }, "found": func(a *study.Ask) []float64 { return a.Found },
		} {
			if len(of(&a)) == 0 {
				continue
			}
			refused(field, func(a *study.Ask) { of(a)[1] += 1e-8 * linalg.Norm(of(a)) })
			refused("", func(a *study.Ask) { of(a)[1] *= 1 + 1e-15 })
		}
		if len(a.Center) > 0 {
			refused("center", func(a *study.Ask) { a.Center = a.Center[:1] })
		}
		refused("x", func(a *study.Ask) { a.X = append(a.X, 0) })
		if c, err = p.Next(c, r, releases[:i]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLinkNamesAllBefore: the link after a release changes with any bit of it and of those before.
func TestLinkNamesAllBefore(t *testing.T) {
	p, _, releases := runs.Run(t, texts.With(texts.Four, "rounds = 2"), false)
	if p.Start().History != p.Digest {
		t.Error("a course does not begin with the study's digest")
	}
	walk := func(change int) proposal.Digest {
		c := p.Start()
		for i, r := range releases {
			a, err := p.NewAsk(c, r.Slot)
			if err != nil {
				t.Fatal(err)
			}
			noised := slices.Clone(r.Noised)
			if i == change {
				noised[rand.New(rand.NewPCG(1, 1)).IntN(len(noised))]++
			}
			if r, err = p.NewRelease(a, r.Survivors, noised); err != nil {
				t.Fatal(err)
			}
			if c, err = p.Next(c, r, releases[:i]); err != nil {
				t.Fatal(err)
			}
		}
		return c.History
	}
	seen := map[proposal.Digest]int{}
	for change := -1; change < len(releases); change++ {
		link := walk(change)
		if at, ok := seen[link]; ok {
			t.Errorf("a change of release %d gives the link of %d", change, at)
		}
		seen[link] = change
	}
}
