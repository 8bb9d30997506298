package answer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/internal/study"
)

// TestKeptRowsAreCounted: how many rows are kept is the exact number of those that are there, and
// replacing a unit, whose rows may all be left out, moves it by at most the plan's Δ; by nearly all
// of it where one unit is as large as can be and the other has no row. Rows and people, central and
// distributed noise.
func TestKeptRowsAreCounted(t *testing.T) {
	const units = 30
	for _, people := range []bool{false, true} {
		for _, noise := range []string{proposal.NoiseCentral, proposal.NoiseDistributed} {
			p := planOf(t, units, func(s *proposal.Spec) {
				s.Missing, s.Noise = proposal.MissingDropRow, noise
				if people {
					s.Unit = "who"
				}
			})
			at := slices.IndexFunc(p.Queries, func(q study.Query) bool { return q.Kind == study.KindRows })
			if at < 0 {
				t.Fatal("the plan does not count rows")
			}
			c := p.Start()
			c.Query = at
			if people {
				c.Radii[study.KindRows] = 5
			} else if c.Radii[study.KindRows] != 1 {
				t.Fatalf("a unit that is a row is clipped to %v", c.Radii[study.KindRows])
			}
			a, err := p.NewAsk(c, 0)
			if err == nil {
				err = p.Check(a)
			}
			if err != nil {
				t.Fatal(err)
			}
			rng, worst := rand.New(rand.NewPCG(5, 8)), 0.0
			count := func(kept [][]bool) int64 { // by unit, by row
				var values []float64
				var unit, absent []int
				for u, rows := range kept {
					for _, there := range rows {
						if !there {
							absent = append(absent, len(unit))
						}
						for range d {
							v := 0.0
							if there {
								v = rng.NormFloat64()
							}
							values = append(values, v)
						}
						unit = append(unit, u)
					}
				}
				var m *clip.Matrix
				var err error
				if people {
					m, err = clip.NewUnits(d, values, unit, absent...)
				} else {
					m, err = clip.NewMatrix(d, values, absent...)
				}
				if err != nil {
					t.Fatal(err)
				}
				sum, err := New(m).Answer(p, 1, a, 1)
				if err != nil || len(sum) != 1 {
					t.Fatalf("%v, %v", sum, err)
				}
				return sum[0]
			}
			draw := func() []bool {
				n := 1
				if people {
					n += rng.IntN(9)
				}
				rows := make([]bool, n)
				for i := range rows {
					rows[i] = rng.IntN(3) > 0
				}
				return rows
			}
			for trial := range 60 {
				kept, want := make([][]bool, units), 0.0
				for u := range kept {
					kept[u] = draw()
					n := 0.0
					for _, there := range kept[u] {
						if there {
							n++
						}
					}
					want += min(n, a.Radius)
				}
				before := count(kept)
				if got := float64(before) * a.Grid; math.Abs(got-want) > 1e-3 {
					t.Fatalf("people %t: %v rows are counted, %v are there", people, got, want)
				}
				kept[rng.IntN(units)] = draw()
				if trial%2 == 0 { // as far apart as can be
					kept[0] = slices.Repeat([]bool{true}, map[bool]int{false: 1, true: 9}[people])
					before = count(kept)
					kept[0] = []bool{false}
				} else {
					before = count(kept)
					kept[rng.IntN(units)] = draw()
				}
				moved, bound := math.Abs(float64(before-count(kept))), p.Noise.Sensitivity(p.Queries[at], a.Radius)
				if moved > bound {
					t.Errorf("people %t: moved by %v, the plan's Δ is %v", people, moved, bound)
				}
				worst = max(worst, moved/bound)
			}
			if worst < 0.9 {
				t.Errorf("%s: moved by %.3f of Δ at most", fmt.Sprint(people, noise), worst)
			}
		}
	}
}
