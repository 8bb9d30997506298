package answer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/clip"
	"covey/internal/layout"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
)

// leveledColumns are a number, a column of three levels, a number and a column of one.
var leveledColumns = []proposal.Column{
	{Name: "x", Scale: 1}, {Name: "color", Levels: []string{"D", "E", "F"}}, {Name: "y", Scale: 1}, {Name: "sold", Levels: []string{"yes"}},
}

const leveledD = 8

// leveledPlan is a plan of leveledColumns at three sites of so many units.
func leveledPlan(t *testing.T, units int, change func(*proposal.Spec)) *study.Plan {
	t.Helper()
	return planOf(t, units, func(s *proposal.Spec) {
		s.Center, s.Rounds, s.Columns = "", 0, slices.Clone(leveledColumns)
		s.Components = 2
		change(s)
		if s.Method == proposal.MethodPower {
			s.Rounds = 2
		}
	})
}

// leveledRow is a row of leveledColumns: of each column with levels one coordinate is 1, or none,
// of a row that is left out. far makes the numbers large.
func leveledRow(rng *rand.Rand, far bool) []float64 {
	row := make([]float64, leveledD)
	size := math.Exp2(rng.NormFloat64())
	if far {
		size = math.Exp2(40 * rng.Float64())
	}
	row[0], row[5] = size*rng.NormFloat64(), size*rng.NormFloat64()
	row[1+rng.IntN(4)], row[6+rng.IntN(2)] = 1, 1
	return row
}

func leveledMatrix(t *testing.T, units [][][]float64, people bool) *clip.Matrix {
	t.Helper()
	var values []float64
	var unit []int
	for u, rows := range units {
		for _, row := range rows {
			values, unit = append(values, row...), append(unit, u)
		}
	}
	m, err := clip.NewMatrix(leveledD, values)
	if people {
		m, err = clip.NewUnits(leveledD, values, unit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A unit replaced by another, of one row or of 2 to 200, moves the answer to each query of a study
// with levels by no more than its Δ, whatever shares a leader says that the levels have: joined,
// left out, tiny. Numbers with public constants and learned ones, pairs, directions found, both
// noise modes.
func TestReplacedUnitMovesNoLeveledAnswerByMore(t *testing.T) {
	const units = 64
	worst := map[study.Kind]float64{}
	for seed, c := range []struct {
		name   string
		change func(*proposal.Spec)
	}{
		{"covariance", func(s *proposal.Spec) { s.Method = proposal.MethodCovariance }},
		{"central", func(s *proposal.Spec) {
			s.Method, s.Noise, s.CentralDetail = proposal.MethodCovariance, proposal.NoiseCentral, true
		}},
		{"sphere", func(s *proposal.Spec) { s.Method, s.Rows = proposal.MethodPower, proposal.RowsSphere }},
		{"deflation", func(s *proposal.Spec) {
			s.Method, s.Subspace, s.Rows = proposal.MethodPower, proposal.SubspaceDeflation, proposal.RowsPlain
		}},
		{"public center", func(s *proposal.Spec) { s.Method, s.Center = proposal.MethodCovariance, proposal.CenterPublic }},
		{"pairs", func(s *proposal.Spec) { s.Method, s.Center = proposal.MethodCovariance, proposal.CenterPairs }},
		{"people", func(s *proposal.Spec) { s.Method, s.Unit = proposal.MethodCovariance, "who" }},
		{"people, power", func(s *proposal.Spec) { s.Method, s.Unit, s.Rows = proposal.MethodPower, "who", proposal.RowsPlain }},
		{"dropped", func(s *proposal.Spec) { s.Method, s.Missing = proposal.MethodCovariance, proposal.MissingDropRow }},
		{"standardized", func(s *proposal.Spec) {
			s.Method, s.Standardize, s.Epsilon = proposal.MethodCovariance, proposal.StandardizePrivate, 60
			s.Columns[0].Scale = 0
		}},
	} {
		p, rng := leveledPlan(t, units, c.change), rand.New(rand.NewPCG(4, uint64(seed)))
		people := p.Proposal.Spec.Unit != ""
		draw := func() [][]float64 {
			n := 1
			if people {
				n = 1 + rng.IntN(200)
			}
			out := make([][]float64, n)
			for i := range out {
				out[i] = leveledRow(rng, rng.IntN(2) == 0)
				if i > 0 && rng.IntN(3) > 0 {
					copy(out[i], out[0])
				}
			}
			return out
		}
		for range trials(30) {
			rows := make([][][]float64, units)
			for u := range rows {
				rows[u] = draw()
			}
			other := slices.Clone(rows)
			u := rng.IntN(units)
			other[u] = draw()
			before, after := New(leveledMatrix(t, rows, people)), New(leveledMatrix(t, other, people))
			for i, q := range p.Queries {
				course := p.Start()
				course.Query, course.Radii = i, map[study.Kind]float64{q.Kind: math.Exp2(9*rng.Float64() - 3)}
				if q.Kind == study.KindRows && !people {
					course.Radii[q.Kind] = 1
				}
				course.Center, course.Scale = anyShares(rng)
				if p.Proposal.Spec.Center == proposal.CenterPairs {
					course.Center = nil
				}
				e := func(j int) []float64 {
					out := make([]float64, leveledD)
					out[j] = 1
					return out
				}
				if q.Run > 0 {
					course.Found, course.X = e(0), e(1)
				}
				if q.Kind == study.KindVariance || q.Of == study.KindVariance {
					course.X = slices.Concat(e(2), e(5))
				}
				a, err := p.NewAsk(course, 0)
				if err == nil {
					err = p.Check(a)
				}
				if err != nil {
					t.Fatalf("%s, %s of %s: %v", c.name, q.Kind, q.Of, err)
				}
				x, y, moved := must(t)(before.Answer(p, 1, a, 1)), must(t)(after.Answer(p, 1, a, 1)), 0.0
				for j := range x {
					moved += float64((x[j] - y[j]) * (x[j] - y[j]))
				}
				bound := p.Noise.Sensitivity(q, a.Radius)
				if len(x) != q.Values || moved > bound*bound {
					t.Errorf("%s, %s of %s: moved by %v, the plan's Δ is %v", c.name, q.Kind, q.Of, math.Sqrt(moved), bound)
				}
				worst[q.Kind] = max(worst[q.Kind], math.Sqrt(moved)/bound)
			}
		}
	}
	for _, k := range []study.Kind{study.KindLevels, study.KindMoment, study.KindMean, study.KindHistogram} {
		if worst[k] < 0.9 {
			t.Errorf("%s moved by %.3f of Δ at most", k, worst[k])
		}
	}
}

// anyShares are a center and scales that an ask may have: of released counts, or of no counts at
// all.
func anyShares(rng *rand.Rand) (center, scale []float64) {
	for range leveledD {
		p := []float64{0, 0x1p-100, 1, rng.Float64(), rng.Float64() * 1e-3, 0x1p90}[rng.IntN(6)]
		center, scale = append(center, p), append(scale, math.Sqrt(p))
		if p == 0x1p-100 {
			scale[len(scale)-1] = p
		}
	}
	return center, scale
}

// What a level that the ask leaves out is answered with is what a table would be answered with
// whose texts of that level are no level: the join is a function of the ask alone.
func TestJoinedLevelIsOther(t *testing.T) {
	const units = 300
	for _, change := range []func(*proposal.Spec){
		func(s *proposal.Spec) { s.Method = proposal.MethodCovariance },
		func(s *proposal.Spec) { s.Method, s.Center = proposal.MethodCovariance, proposal.CenterPairs },
	} {
		p, rng := leveledPlan(t, units, change), rand.New(rand.NewPCG(8, 8))
		rows, renamed := make([][][]float64, units), make([][][]float64, units)
		for u := range rows {
			row := leveledRow(rng, false)
			rows[u] = [][]float64{row}
			as := slices.Clone(row)
			if as[2] != 0 {
				as[2], as[4] = 0, 1
			}
			renamed[u] = [][]float64{as}
		}
		at := slices.IndexFunc(p.Queries, func(q study.Query) bool { return q.Kind == study.KindMoment })
		ask := func(scale []float64) study.Ask {
			c := p.Start()
			c.Query, c.Radii = at, map[study.Kind]float64{study.KindMoment: 40}
			c.Center, c.Scale = make([]float64, leveledD), scale
			if p.Proposal.Spec.Center == proposal.CenterPairs {
				c.Center = nil
			}
			a, err := p.NewAsk(c, 0)
			if err == nil {
				err = p.Check(a)
			}
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		all := []float64{1, 0.5, 0.25, 0.5, 0.5, 1, 0.7, 0.7}
		joined := slices.Clone(all)
		joined[2] = 0
		first := New(leveledMatrix(t, rows, false))
		got := must(t)(first.Answer(p, 1, ask(joined), 1))
		want := must(t)(New(leveledMatrix(t, renamed, false)).Answer(p, 1, ask(joined), 1))
		if !slices.Equal(got, want) {
			t.Errorf("%s: a joined level is not among the other texts", p.Proposal.Spec.Center)
		}
		// what was joined for one ask is not for the next
		if again := must(t)(first.Answer(p, 1, ask(all), 1)); slices.Equal(again, got) || !slices.Equal(again, must(t)(New(leveledMatrix(t, rows, false)).Answer(p, 1, ask(all), 1))) {
			t.Errorf("%s: a level stays joined", p.Proposal.Spec.Center)
		}
		left := slices.Clone(joined)
		left[4] = 0 // other too: nothing is joined to what is left out
		if got := p.Layout.JoinLevels(left); got != nil {
			t.Errorf("joined to what is left out: %v", got)
		}
	}
}

// A whole study over rows of numbers and levels: exact shares with little noise, rare levels named
// and joined by what was released alone, the result verified from its bytes, and a raw row
// transformed with it as docs/results.md says.
func TestStudyOfLevels(t *testing.T) {
	const perSite = 4000
	rng := rand.New(rand.NewPCG(6, 1))
	data := table{}
	kind := []int{1, 3, 4} // D and F, and texts that are no level
	for site := range 3 {
		var values []float64
		for i := range perSite {
			row := make([]float64, leveledD)
			level := kind[rng.IntN(3)]
			if site == 0 && i < 5 {
				level = 2 // E is rare, and at one site alone
			}
			row[level], row[6+rng.IntN(2)] = 1, 1
			row[0] = rng.NormFloat64() + 2*row[1] // x goes with D
			row[5] = rng.NormFloat64()
			values = append(values, row...)
		}
		m, err := clip.NewMatrix(leveledD, values)
		if err != nil {
			t.Fatal(err)
		}
		data.sites, data.counts = append(data.sites, m), append(data.counts, perSite)
	}
	for i, standardize := range []string{"", proposal.StandardizePrivate, "", ""} {
		spec := proposal.Spec{Name: "levels", Dataset: "rows", Epsilon: 4, Delta: 1e-6, Components: 1, Standardize: standardize, Columns: slices.Clone(leveledColumns)}
		switch i {
		case 1:
			spec.Columns[0].Scale, spec.Columns[2].Scale = 0, 0
		case 2:
			spec.Method, spec.Components = proposal.MethodPower, 3
		case 3:
			spec.Method, spec.Components, spec.Subspace = proposal.MethodPower, 2, proposal.SubspaceDeflation
		}
		p, r := follow(t, spec, data)
		if p.Proposal.Spec.Noise != proposal.NoiseDistributed {
			t.Errorf("noise is %s", p.Proposal.Spec.Noise)
		}
		if want := []string{"x", "color=D", "color=E", "color=F", "color=other", "y", "sold=yes", "sold=other"}; !slices.Equal(r.Columns, want) {
			t.Errorf("%q", r.Columns)
		}
		if len(r.LeftOut) != 1 || r.LeftOut[0] != (result.LeftOut{Column: "color=E", Why: layout.Joined}) || !strings.Contains(r.LevelsText(), `count as the column's other: "color=E"`) {
			t.Errorf("%+v, %s", r.LeftOut, r.LevelsText())
		}
		for j, share := range map[int]float64{1: 1. / 3, 3: 1. / 3, 4: 1. / 3, 6: 0.5, 7: 0.5} {
			if root := math.Sqrt(share); math.Abs(r.Scale[j]-root) > 0.02 || math.Abs(r.Mean[j]-root) > 0.02 || r.Offset[j] != 0 {
				t.Errorf("%s: scale %v, mean %v", r.Columns[j], r.Scale[j], r.Mean[j])
			}
		}
		for _, x := range r.Components {
			if x[2] != 0 {
				t.Errorf("a level that is left out has %v in a component", x[2])
			}
		}
		x := r.Components[0]
		if x[0] < 0.4 || x[1] < 0.4 || math.Abs(x[5]) > 0.2 || math.Abs(x[6]) > 0.2 {
			t.Errorf("%.3g", x)
		}
		if again, err := result.New(p, r.Releases); err != nil || fmt.Sprint(again.Components) != fmt.Sprint(r.Components) {
			t.Errorf("%v", err)
		}
	}
}
