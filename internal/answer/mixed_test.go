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

// basis are k random orthonormal vectors of d, one after another.
func basis(rng *rand.Rand, k, d int) []float64 {
	var out []float64
	for len(out) < k*d {
		v := make([]float64, d)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for range 2 {
			for at := 0; at < len(out); at += d {
				along := 0.0
				for j, w := range out[at : at+d] {
					along += v[j] * w
				}
				for j, w := range out[at : at+d] {
					v[j] -= along * w
				}
			}
		}
		size := 0.0
		for _, w := range v {
			size = math.Hypot(size, w)
		}
		for _, w := range v {
			out = append(out, w/size)
		}
	}
	return out
}

// mixedRow appends a row of a mixed plan as ingest makes it: any numbers, one level or none, gaps
// and their indicators.
func mixedRow(rng *rand.Rand, p *study.Plan, values []float32, gaps []byte) ([]float32, []byte) {
	row, bits := make([]float32, p.D), make([]byte, (p.D+7)/8)
	empty, level := map[int]bool{}, map[int]int{}
	share := []float64{0, 0.3, 1}[rng.IntN(3)]
	for i, c := range p.Proposal.Spec.Columns {
		empty[i], level[i] = rng.Float64() < share, rng.IntN(len(c.Levels)+1)
	}
	size := math.Exp2(rng.NormFloat64() * []float64{0, 8, 60}[rng.IntN(3)])
	for j, at := range p.Layout.Coordinates {
		switch {
		case at.Gap:
			if empty[at.Column] {
				row[j] = 1
			}
		case empty[at.Column]:
			bits[j/8] |= 1 << (j % 8)
		case at.Level >= 0:
			if at.Level == level[at.Column] {
				row[j] = 1
			}
		default:
			row[j] = float32(max(-0x1p127, min(size*rng.NormFloat64(), 0x1p127)))
		}
	}
	return append(values, row...), append(gaps, bits...)
}

// A study may do all at once: learn constants, count levels and gaps, fill, and take units of many
// rows that are stored in half. Whatever constants and directions a leader says for each site, a
// unit that is replaced MUST move no answer by more than the Δ that its noise is for.
func TestReplacedUnitMovesNoMixedAnswerByMore(t *testing.T) {
	const units = 16
	asked := map[study.Kind]int{}
	for seed, c := range []struct {
		name   string
		change func(*proposal.Spec)
	}{
		{"deflation", func(s *proposal.Spec) { s.Subspace = proposal.SubspaceDeflation }},
		{"people, at two sites", func(s *proposal.Spec) { s.Unit, s.SitesPerUnit = "who", 2 }},
		{"people, covariance, central", func(s *proposal.Spec) {
			s.Unit, s.Method, s.CentralDetail, s.Noise = "who", proposal.MethodCovariance, true, proposal.NoiseCentral
		}},
		{"sphere", func(s *proposal.Spec) { s.Method, s.Rows = proposal.MethodPower, proposal.RowsSphere }},
	} {
		p := planOf(t, 40_000, func(s *proposal.Spec) {
			s.Center, s.Standardize, s.Missing, s.Components, s.Noise = "", proposal.StandardizePrivate, proposal.MissingFill, 2, proposal.NoiseDistributed
			s.Columns = []proposal.Column{
				{Name: "a"}, {Name: "b", Levels: []string{"x", "y"}, Indicator: true}, {Name: "c", Scale: 2, Indicator: true}, {Name: "d", As: proposal.AsBoolean},
			}
			c.change(s)
		})
		rng, people := rand.New(rand.NewPCG(29, uint64(seed))), p.Proposal.Spec.Unit != ""
		for range trials(30) {
			type unitRows struct {
				values []float32
				gaps   []byte
			}
			draw := func() (u unitRows) {
				count := 1
				if people {
					count += rng.IntN(4) * rng.IntN(50)
				}
				for range count {
					u.values, u.gaps = mixedRow(rng, p, u.values, u.gaps)
				}
				return u
			}
			matrix := func(all []unitRows) *Rows {
				var values []float32
				var gaps []byte
				var unit []int
				for i, u := range all {
					values, gaps = append(values, u.values...), append(gaps, u.gaps...)
					for range len(u.values) / p.D {
						unit = append(unit, i)
					}
				}
				if !people {
					unit = nil
				}
				m, err := clip.NewGapped(p.D, values, gaps, unit)
				if err != nil {
					t.Fatal(err)
				}
				return New(m)
			}
			rows := make([]unitRows, units)
			for i := range rows {
				rows[i] = draw()
			}
			other := slices.Clone(rows)
			other[rng.IntN(units)] = draw()
			before, after := matrix(rows), matrix(other)
			for i, q := range p.Queries {
				course := p.Start()
				course.Query, course.Radii = i, map[study.Kind]float64{q.Kind: math.Exp2(9*rng.Float64() - 3)}
				course.Center, course.Scale = make([]float64, p.D), make([]float64, p.D)
				for j := range p.D {
					course.Center[j] = []float64{0, rng.NormFloat64(), 0x1p150, -0x1p150}[rng.IntN(4)]
					course.Scale[j] = []float64{0, 1, 1, math.Exp2(20 * rng.NormFloat64()), 0x1p-100, 0x1p100}[rng.IntN(6)]
				}
				a, err := p.NewAsk(course, 0)
				if err == nil {
					vectors := len(a.X) / p.D
					if q.Kind == study.KindVariance || q.Of == study.KindVariance {
						vectors = p.K
					}
					all := basis(rng, vectors+q.Run, p.D)
					a.X = all[:vectors*p.D]
					if a.Found = nil; q.Kind == study.KindPower || q.Of == study.KindPower {
						a.Found = all[len(a.X):]
					}
					// whatever the plan wants of it
					fills := 0
					for a.Fill = nil; fills <= 2*p.K; fills++ {
						a.Fill = basis(rng, fills, p.D)
						if err = p.Check(a); err == nil {
							break
						}
					}
				}
				if err != nil {
					t.Fatalf("%s, %s of %s: %v", c.name, q.Kind, q.Of, err)
				}
				asked[q.Kind]++
				x, y, moved := must(t)(before.Answer(p, 1, a, 1)), must(t)(after.Answer(p, 1, a, 1)), 0.0
				for j := range x {
					moved += float64((x[j] - y[j]) * (x[j] - y[j])) // exact: below 2^53
				}
				// at one of the sites where the unit may be
				if bound := p.Noise.Sensitivity(q, a.Radius) / float64(p.SitesPerUnit) * (1 + 1e-12); moved > bound*bound {
					t.Errorf("%s, %s of %s: moved by %v, Δ at one site is %v", c.name, q.Kind, q.Of, math.Sqrt(moved), bound)
				}
			}
		}
	}
	for _, kind := range []study.Kind{study.KindFilled, study.KindLevels, study.KindOctaves, study.KindTree, study.KindMoments, study.KindPower, study.KindMoment, study.KindVariance, study.KindTotal, study.KindHistogram} {
		if asked[kind] == 0 {
			t.Errorf("nobody was asked for %s: %v", kind, fmt.Sprint(asked))
		}
	}
}
