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

// gapped makes a study's missing what it is, where its noise is whichever.
func gapped(missing string, change func(*proposal.Spec)) func(*proposal.Spec) {
	return func(s *proposal.Spec) {
		change(s)
		s.Missing = missing
		s.CentralDetail = s.Noise != proposal.NoiseDistributed
		if s.CentralDetail {
			s.Noise = proposal.NoiseCentral
		}
	}
}

// gapRow is a row with cells that may be NaN, which is a gap.
type gapRow []float64

// gapUnit are a unit's rows: of any size up to 2^480, with 0 to d gaps each.
func gapUnit(rng *rand.Rand, x []float64, people bool) []gapRow {
	var out []gapRow
	share := []float64{0, 0.3, 0.8, 1}[rng.IntN(4)]
	for _, row := range hostile(rng, x, people) {
		far := []float64{1, 1, 1, 0x1p400, 0x1p470}[rng.IntN(5)]
		for j := range row {
			if row[j] = max(-0x1p480, min(row[j]*far, 0x1p480)); rng.Float64() < share {
				row[j] = math.NaN()
			}
		}
		out = append(out, row)
	}
	return out
}

func gapMatrix(t testing.TB, units [][]gapRow, people bool) *clip.Matrix {
	t.Helper()
	var values []float64
	var gaps []byte
	var unit []int
	for u, own := range units {
		for _, row := range own {
			bits := byte(0) // d is below 8
			for j, v := range row {
				if math.IsNaN(v) {
					v, bits = 0, bits|1<<j
				}
				values = append(values, v)
			}
			gaps, unit = append(gaps, bits), append(unit, u)
		}
	}
	if !people {
		unit = nil
	}
	m, err := clip.NewGapped(d, values, gaps, unit)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A unit replaced by another MUST move the answer to each planned query by no more than the Δ that
// noise is scaled to, whatever its gaps and those of all others are, and whatever directions and
// center the coordinator says that they are filled from. The count of empty cells comes close.
func TestReplacedUnitWithGapsMovesNoAnswerByMore(t *testing.T) {
	const units = 64
	kinds := map[string]float64{}
	for seed, c := range []struct {
		name   string
		change func(*proposal.Spec)
	}{
		{"block", func(s *proposal.Spec) {
			s.Components, s.Method, s.Epsilon, s.Rows = 2, proposal.MethodAuto, 0.005, proposal.RowsPlain
		}},
		{"distributed", func(s *proposal.Spec) {
			s.Components, s.Method, s.Noise, s.Epsilon = 2, proposal.MethodAuto, proposal.NoiseDistributed, 0.005
		}},
		{"deflation", func(s *proposal.Spec) {
			s.Center, s.Components, s.Subspace = proposal.CenterPrivate, 2, proposal.SubspaceDeflation
		}},
		{"sphere", func(s *proposal.Spec) {
			s.Center, s.Components, s.Method, s.Rows = proposal.CenterPrivate, 2, proposal.MethodPower, proposal.RowsSphere
		}},
		{"pairs", func(s *proposal.Spec) { s.Center, s.Components = proposal.CenterPairs, 2 }},
		{"people", func(s *proposal.Spec) {
			s.Unit, s.Center, s.Method, s.Components, s.Epsilon = "who", proposal.CenterPrivate, proposal.MethodAuto, 2, 0.005
		}},
		{"people, deflation", func(s *proposal.Spec) {
			s.Unit, s.Center, s.Components, s.Subspace = "who", proposal.CenterPrivate, 2, proposal.SubspaceDeflation
		}},
	} {
		for _, missing := range []string{proposal.MissingFill, proposal.MissingZero} {
			p, rng := planOf(t, units, gapped(missing, c.change)), rand.New(rand.NewPCG(23, uint64(seed)))
			people := p.Proposal.Spec.Unit != ""
			for range trials(25) {
				start := basis(rng, p.K, d)
				rows := make([][]gapRow, units)
				for u := range rows {
					rows[u] = gapUnit(rng, start, people)
				}
				other, u := slices.Clone(rows), rng.IntN(units)
				other[u] = gapUnit(rng, start, people)
				if rng.IntN(3) == 0 { // one without a value, one without a gap
					rows[u], other[u] = []gapRow{slices.Repeat([]float64{math.NaN()}, d)}, []gapRow{{1, -2, 3, 0}}
				}
				before, after := New(gapMatrix(t, rows, people)), New(gapMatrix(t, other, people))
				center := make([]float64, d)
				for j := range center {
					center[j] = rng.NormFloat64() * []float64{1, 0x1p100, 0x1p145}[rng.IntN(3)]
				}
				for i, q := range p.Queries {
					c := p.Start()
					c.Query, c.Radii = i, map[study.Kind]float64{q.Kind: math.Exp2(9*rng.Float64() - 3)}
					if p.Proposal.Spec.Center == proposal.CenterPrivate && (q.Kind != study.KindMean && q.Of != study.KindMean || q.Round > 0) && q.Kind != study.KindRows && q.Of != study.KindRows && q.Kind != study.KindFilled {
						c.Center = center
					}
					all := basis(rng, p.K, d) // not what any release says
					c.X = all
					if p.Proposal.Spec.Subspace == proposal.SubspaceDeflation && (q.Kind == study.KindPower || q.Of == study.KindPower) {
						c.Found, c.X = all[:q.Run*d], all[q.Run*d:(q.Run+1)*d]
					}
					a, err := p.NewAsk(c, 0)
					if err == nil {
						a.Fill = basis(rng, len(a.Fill)/d, d)
						err = p.Check(a)
					}
					if err != nil {
						t.Fatalf("%s: %s of %s: %v", caseOf(p), q.Kind, q.Of, err)
					}
					x, y, moved := must(t)(before.Answer(p, 1, a, 1)), must(t)(after.Answer(p, 1, a, 1)), 0.0
					for j := range x {
						moved += float64((x[j] - y[j]) * (x[j] - y[j])) // exact: below 2^53
					}
					bound := p.Noise.Sensitivity(q, a.Radius)
					if moved > bound*bound {
						t.Errorf("%s: %s of %s: moved by %v, the plan's Δ is %v", caseOf(p), q.Kind, q.Of, math.Sqrt(moved), bound)
					}
					if len(a.Fill) > 0 {
						kinds[fmt.Sprint(q.Kind, " of ", q.Of, ", filled")]++
					}
					if q.Kind == study.KindFilled {
						kinds["filled"] = max(kinds["filled"], math.Sqrt(moved)/bound)
					}
				}
			}
		}
	}
	for _, kind := range []string{"power of ", "histogram of power", "variance of ", "histogram of variance", "total of "} {
		if kinds[kind+", filled"] == 0 {
			t.Errorf("nothing was filled for %s: %v", kind, kinds)
		}
	}
	if kinds["filled"] < 0.99 {
		t.Errorf("the count of empty cells moved by %v of its Δ at most", kinds["filled"])
	}
}

// caseOf names a case.
func caseOf(p *study.Plan) string {
	s := p.Proposal.Spec
	return fmt.Sprintf("%s, %s, %s, %s rows, unit %q, missing %s", s.Method, s.Subspace, s.Center, s.Rows, s.Unit, s.Missing)
}

// TestGapIsTheCenter: with missing = "zero" a gap adds what a value at the center would, in every
// query but that of empty cells; with "fill" so it does until components are released.
func TestGapIsTheCenter(t *testing.T) {
	center := []float64{1, -2, 0.5, 3}
	for _, missing := range []string{proposal.MissingZero, proposal.MissingFill} {
		p := planOf(t, 40, gapped(missing, func(s *proposal.Spec) {
			s.Center, s.Components, s.Method = proposal.CenterPrivate, 2, proposal.MethodPower
		}))
		rng := rand.New(rand.NewPCG(3, 4))
		rows, whole := make([][]gapRow, 40), make([][]gapRow, 40)
		for u := range rows {
			row := make(gapRow, d)
			for j := range row {
				row[j] = center[j] + rng.NormFloat64()
			}
			full := slices.Clone(row)
			if u%3 == 0 {
				row[u%d], full[u%d] = math.NaN(), center[u%d]
			}
			rows[u], whole[u] = []gapRow{row}, []gapRow{full}
		}
		with, without := New(gapMatrix(t, rows, false)), New(gapMatrix(t, whole, false))
		asked := 0
		for i, q := range p.Queries {
			if q.Kind == study.KindFilled || q.Round == 0 && (q.Kind == study.KindMean || q.Of == study.KindMean) {
				continue
			}
			c := p.Start()
			c.Query, c.Center, c.X, c.Radii = i, center, basis(rng, p.K, d), map[study.Kind]float64{q.Kind: 4}
			a, err := p.NewAsk(c, 0)
			if err != nil {
				t.Fatal(err)
			}
			if (len(a.Fill) > 0) != (missing == proposal.MissingFill && (q.Round > 0 && q.Kind != study.KindMean && q.Of != study.KindMean || q.Kind == study.KindVariance || q.Of == study.KindVariance || q.Kind == study.KindTotal || q.Of == study.KindTotal)) {
				t.Errorf("%s: %s of %s in round %d is filled from %d numbers", missing, q.Kind, q.Of, q.Round, len(a.Fill))
			}
			same := slices.Equal(must(t)(with.Answer(p, 1, a, 1)), must(t)(without.Answer(p, 1, a, 1)))
			if same != (len(a.Fill) == 0) && q.Kind != study.KindHistogram {
				t.Errorf("%s: %s of round %d, filled from %d numbers: the same as of values at the center: %t", missing, q.Kind, q.Round, len(a.Fill), same)
			}
			asked++
		}
		if asked < 8 {
			t.Errorf("%d queries", asked)
		}
	}
}

// TestGapIsNotPredictedFromBeingOne: that a column has no value says nothing of what it is:
// iterated, such a fill makes a component of itself, of a variance that no rows have.
func TestGapIsNotPredictedFromBeingOne(t *testing.T) {
	p := planOf(t, 40, func(s *proposal.Spec) {
		s.Missing, s.Method = proposal.MissingFill, proposal.MethodPower
		s.Columns = []proposal.Column{{Name: "a", Scale: 1}, {Name: "b", Scale: 1, Indicator: true}}
	})
	raw, err := clip.NewGapped(3, []float64{1, 0, 1}, []byte{1 << 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := New(raw).as(p, 0, study.Ask{Fill: []float64{0.48, 0.64, 0.6}})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{1, 0.64 * 0.48 / (0.48*0.48 + 0.05), 1} {
		got, square, axis := []float64{0}, []float64{0}, make([]float64, 3)
		axis[j] = 1
		if err := rows.Along(got, square, axis); err != nil || math.Abs(got[0]-want) > 1e-12 {
			t.Errorf("coordinate %d is %v, want %v, %v", j, got[0], want, err)
		}
	}
}
