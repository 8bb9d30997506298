package answer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// One person at s sites is a unit at each: all of them replaced together MUST move the total of
// each planned query by no more than the Δ that sites_per_unit = s scales that query's noise to,
// which is s times that of one, and each score of a choice by s. And it comes close to it, with the
// same pair of units everywhere. Under -short only of a few plans.
func TestPersonAtSitesMovesNoTotalByMore(t *testing.T) {
	const units = 256
	worst, center := map[string]float64{}, []float64{1, -2, 0.5, 3}
	for seed, c := range []struct {
		name   string
		sites  int
		change func(*proposal.Spec)
	}{
		{"block", 2, func(s *proposal.Spec) {
			s.Components, s.Method, s.Epsilon, s.Rows = 2, proposal.MethodAuto, 0.005, proposal.RowsPlain
		}},
		{"distributed", 3, func(s *proposal.Spec) {
			s.Components, s.Method, s.Noise, s.Epsilon, s.Rows = 2, proposal.MethodAuto, proposal.NoiseDistributed, 0.005, proposal.RowsPlain
		}},
		{"pairs", 2, func(s *proposal.Spec) { s.Center = proposal.CenterPairs }},
		{"people", 3, func(s *proposal.Spec) {
			s.Unit, s.Center, s.Method, s.Components, s.Epsilon = "who", proposal.CenterPrivate, proposal.MethodAuto, 2, 0.005
		}},
		{"scale", 2, func(s *proposal.Spec) {
			s.Radius, s.Lambda, s.Epsilon, s.LambdaShare = proposal.RadiusPaper, proposal.LambdaPrivate, 25, 0.5
		}},
		{"choice", 3, func(s *proposal.Spec) {
			s.Radius, s.Lambda, s.LambdaRange, s.Epsilon, s.LambdaShare = proposal.RadiusPaper, proposal.LambdaPrivate, []float64{0.5, 40}, 25, 0.5
		}},
	} {
		if testing.Short() && !slices.Contains([]string{"block", "distributed", "choice"}, c.name) {
			continue
		}
		plain, rng := planOf(t, 2*units, c.change), rand.New(rand.NewPCG(22, uint64(seed)))
		p := planOf(t, 2*units, func(s *proposal.Spec) { c.change(s); s.SitesPerUnit = c.sites })
		people := p.Proposal.Spec.Unit != ""
		for trial := range 12 {
			var before, after []*Rows
			var zero []float64
			if p.Proposal.Spec.Center == proposal.CenterPrivate {
				zero = center
			}
			one, two := apart(rng, p.Start().X, zero)
			if trial%4 == 0 && p.Groups > 0 { // the lowest octave and the highest
				one = [][]float64{make([]float64, d)}
			}
			if people {
				two = slices.Repeat(two, 100)
			}
			for range c.sites {
				rows := make([][][]float64, 2*units)
				for u := range rows {
					rows[u] = hostile(rng, p.Start().X, people)
					if trial%2 == 0 { // all groups in one octave
						rows[u] = [][]float64{make([]float64, d)}
					}
				}
				other, u := slices.Clone(rows), rng.IntN(len(rows))
				rows[u], other[u] = one, two
				before, after = append(before, New(unitsOf(t, rows, people))), append(after, New(unitsOf(t, other, people)))
			}
			for i, q := range p.Queries {
				c2 := p.Start()
				c2.Query, c2.Radii = i, map[study.Kind]float64{q.Kind: math.Exp2(9*rng.Float64() - 3)}
				if p.Proposal.Spec.Center == proposal.CenterPrivate && (q.Kind != study.KindMean && q.Of != study.KindMean || q.Round > 0) && q.Kind != study.KindRows && q.Of != study.KindRows {
					c2.Center = center
				}
				if q.Kind == study.KindVariance || q.Of == study.KindVariance {
					c2.X = []float64{0.6, 0.8, 0, 0, 0.8, -0.6, 0, 0}[:p.K*d]
				}
				a, err := p.NewAsk(c2, 0)
				if err == nil {
					err = p.Check(a)
				}
				if err != nil {
					t.Fatalf("%s, %s of %s: %v", c.name, q.Kind, q.Of, err)
				}
				moves := make([]int64, q.Values)
				for site := range before {
					x, y := must(t)(before[site].Answer(p, site, a, 1)), must(t)(after[site].Answer(p, site, a, 1))
					for j := range x {
						moves[j] += x[j] - y[j]
					}
				}
				moved := 0.0
				for _, v := range moves {
					moved += float64(v) * float64(v) // below 2^53
					if p.Noise.Chooses(p.Queries[i]) && max(v, -v) > int64(c.sites) {
						t.Errorf("%s: a score moves by %d with a unit at %d sites", c.name, v, c.sites)
					}
				}
				bound := p.Noise.Sensitivity(q, a.Radius)
				if moved > bound*bound {
					t.Errorf("%s, %s of %s: moved by %v, the plan's Δ is %v", c.name, q.Kind, q.Of, math.Sqrt(moved), bound)
				}
				if single := plain.Noise.Sensitivity(q, a.Radius); bound < float64(c.sites)*single || bound > float64(c.sites)*single*(1+1e-15) {
					t.Errorf("%s, %s of %s: Δ = %v with %d sites, %v with one", c.name, q.Kind, q.Of, bound, c.sites, single)
				}
				key := fmt.Sprintf("%s: %s", c.name, q.Kind)
				worst[key] = max(worst[key], math.Sqrt(moved)/bound)
			}
		}
	}
	for key, share := range worst {
		if share < 0.9 {
			t.Errorf("%s moved by %.3f of Δ at most", key, share)
		}
	}
}
