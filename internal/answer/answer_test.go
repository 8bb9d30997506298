package answer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/test/runs"
)

const d = 4

// trials is how often a seeded search replaces a unit: under -short a fifth of n, which must come
// as near to Δ.
func trials(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

func planOf(t *testing.T, units int, change func(*proposal.Spec)) *study.Plan {
	t.Helper()
	spec := proposal.Spec{Center: proposal.CenterPublic, Name: "local", Dataset: "rows", Epsilon: 8, Delta: 1e-6, Rounds: 2}
	for j := range d {
		spec.Columns = append(spec.Columns, proposal.Column{Name: fmt.Sprint("c", j)})
	}
	change(&spec)
	if spec.Method == "" { // on rows as they are
		spec.Method, spec.Rows = proposal.MethodPower, proposal.RowsPlain
	}
	return runs.PlanOf(t, spec, units, units, units)
}

func valuesOf(n int) []float64 {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	v := make([]float64, n*d)
	for i := range v {
		v[i] = float64(d-i%d)*rng.NormFloat64() + 1
	}
	return v
}

func matrix(t *testing.T, values []float64) *clip.Matrix {
	t.Helper()
	m, err := clip.NewMatrix(d, slices.Clone(values))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ask is one for the first query of a kind, about the plan's start and these vectors.
func ask(t *testing.T, p *study.Plan, kind, of study.Kind, center, found []float64) study.Ask {
	t.Helper()
	for i, q := range p.Queries {
		if q.Kind != kind || q.Of != of || q.Run*d != len(found) {
			continue
		}
		c := p.Start()
		c.Query, c.Center, c.Found = i, center, found
		c.Radii = map[study.Kind]float64{kind: 3}
		a, err := p.NewAsk(c, i)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	t.Fatalf("no query of kind %s of %s", kind, of)
	return study.Ask{}
}

func must(t *testing.T) func([]int64, error) []int64 {
	return func(v []int64, err error) []int64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestAnswers: every planned kind meets its own map, about the ask's vectors and radius.
func TestAnswers(t *testing.T) {
	const n = 3000
	p := planOf(t, n, func(s *proposal.Spec) {
		// so little budget that public sizes leave the method open
		s.Components, s.Center, s.Method, s.Unit, s.Epsilon = 2, proposal.CenterPrivate, proposal.MethodAuto, "unit", 0.003
	})
	values := valuesOf(n)
	r := New(matrix(t, values))
	center := []float64{1, 1, 1, 1}
	less, err := matrix(t, values).Less(center)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, of study.Kind
		center   []float64
		m        clip.Map
		x        bool
	}{
		{study.KindRows, "", nil, clip.Rows, false},
		{study.KindMean, "", nil, clip.Mean, false},
		{study.KindPower, "", center, clip.Power, true},
		{study.KindMoment, "", center, clip.Moment, false},
		{study.KindVariance, "", center, clip.Variance, true},
		{study.KindTotal, "", center, clip.Total, false},
		{study.KindHistogram, study.KindRows, nil, clip.Rows, false},
		{study.KindHistogram, study.KindMean, nil, clip.Mean, false},
		{study.KindHistogram, study.KindPower, center, clip.Power, true},
		{study.KindHistogram, study.KindVariance, center, clip.Variance, true},
		{study.KindHistogram, study.KindTotal, center, clip.Total, false},
	} {
		a := ask(t, p, c.kind, c.of, c.center, nil)
		rows := less
		if c.center == nil {
			rows = matrix(t, values)
		}
		q := clip.Query{Map: c.m, X: a.X, Radius: a.Radius, Grid: a.Grid}
		want := must(t)(clip.Histogram(rows, q, 1))
		for i := range want {
			want[i] = int64(float64(want[i]) / a.Grid)
		}
		if c.kind != study.KindHistogram {
			want = must(t)(clip.Sum(rows, q, 1))
		}
		if (len(a.X) > 0) != c.x {
			t.Errorf("%s of %s: x has %d numbers", c.kind, c.of, len(a.X))
		}
		got := must(t)(r.Answer(p, 0, a, 2))
		if !slices.Equal(got, want) || len(got) != p.Queries[a.Query].Values {
			t.Errorf("%s of %s: another answer than its map's", c.kind, c.of)
		}
	}
}

// TestMovedRows: the kept copy of the rows belongs to the ask's center and directions.
func TestMovedRows(t *testing.T) {
	const n = 500
	p := planOf(t, n, func(s *proposal.Spec) {
		s.Components, s.Subspace, s.Center = 2, proposal.SubspaceDeflation, proposal.CenterPrivate
	})
	values := valuesOf(n)
	r := New(matrix(t, values))
	found := []float64{0, 0, 0, 1}
	centers := [][]float64{{1, 0, 0, 0}, {2, 0, 0, 0}, {1, 0, 0, 0}}
	for _, f := range [][]float64{nil, found, nil} {
		for _, center := range centers {
			a := ask(t, p, study.KindPower, "", center, f)
			want, err := matrix(t, values).Less(center)
			if err != nil {
				t.Fatal(err)
			}
			if want, err = want.Off(f); err != nil {
				t.Fatal(err)
			}
			q := clip.Query{Map: clip.Power, X: a.X, Radius: a.Radius, Grid: a.Grid}
			for range 2 { // made, then kept
				if !slices.Equal(must(t)(r.Answer(p, 0, a, 1)), must(t)(clip.Sum(want, q, 1))) {
					t.Fatalf("center %v, found %v: the answer is of other rows", center, f)
				}
			}
		}
	}
}

// TestSphere: power steps use rows divided by their lengths, after the center and before what was
// found is taken off; explained variance uses the rows themselves.
func TestSphere(t *testing.T) {
	const n = 500
	p := planOf(t, n, func(s *proposal.Spec) {
		s.Method, s.Components, s.Subspace, s.Center, s.Rows = proposal.MethodPower, 2, proposal.SubspaceDeflation, proposal.CenterPrivate, proposal.RowsSphere
	})
	values := valuesOf(n)
	r := New(matrix(t, values))
	center, found := []float64{1, 0, 0, 0}, []float64{0, 0, 0, 1}
	less, err := matrix(t, values).Less(center)
	if err != nil {
		t.Fatal(err)
	}
	round, err := less.Sphere()
	if err != nil {
		t.Fatal(err)
	}
	off, err := round.Off(found)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, of study.Kind
		found    []float64
		m        clip.Map
		rows     *clip.Matrix
	}{
		{study.KindPower, "", nil, clip.Power, round},
		{study.KindPower, "", found, clip.Power, off},
		{study.KindHistogram, study.KindPower, nil, clip.Power, round},
		{study.KindTotal, "", nil, clip.Total, less},
		{study.KindVariance, "", nil, clip.Variance, less},
	} {
		a := ask(t, p, c.kind, c.of, center, c.found)
		if c.kind == study.KindVariance || c.kind == study.KindTotal {
			a.Found = nil
		}
		q := clip.Query{Map: c.m, X: a.X, Radius: a.Radius, Grid: a.Grid}
		want := must(t)(clip.Histogram(c.rows, q, 1))
		for i := range want {
			want[i] = int64(float64(want[i]) / a.Grid)
		}
		if c.kind != study.KindHistogram {
			want = must(t)(clip.Sum(c.rows, q, 1))
		}
		if !slices.Equal(must(t)(r.Answer(p, 0, a, 1)), want) {
			t.Errorf("%s of %s, %d found: the answer is of other rows", c.kind, c.of, len(c.found))
		}
	}
}

// TestPairedRows: pairs are the plan's, each site's its own, half as many.
func TestPairedRows(t *testing.T) {
	const n = 501
	p := planOf(t, n, func(s *proposal.Spec) { s.Center = proposal.CenterPairs })
	values := valuesOf(n)
	r := New(matrix(t, values))
	a := ask(t, p, study.KindPower, "", nil, nil)
	var answers [][]int64
	for site := range 2 {
		pairs, err := matrix(t, values).Pairs(p.PairOrder(site))
		if err != nil {
			t.Fatal(err)
		}
		if pairs.N() != n/2 || p.N != 3*(n/2) {
			t.Fatalf("%d pairs, the plan counts %d", pairs.N(), p.N)
		}
		fresh := New(matrix(t, values))
		got := must(t)(fresh.Answer(p, site, a, 1))
		if !slices.Equal(got, must(t)(clip.Sum(pairs, clip.Query{Map: clip.Power, X: a.X, Radius: a.Radius, Grid: a.Grid}, 1))) {
			t.Fatal("the answer is not of the plan's pairs")
		}
		answers = append(answers, got)
	}
	if slices.Equal(answers[0], answers[1]) {
		t.Error("two sites pair in the same order")
	}
	if !slices.Equal(must(t)(r.Answer(p, 0, a, 1)), answers[0]) || r.raw.N() != n {
		t.Error("the answer changed")
	}
}

// TestPairsOfAnotherStudy: rows that were derived from one study's pairs are not another's, though
// all else that is asked is the same.
func TestPairsOfAnotherStudy(t *testing.T) {
	const n = 501
	values := valuesOf(n)
	r := New(matrix(t, values))
	for _, name := range []string{"one", "another"} {
		p := planOf(t, n, func(s *proposal.Spec) { s.Name, s.Center = name, proposal.CenterPairs })
		a := ask(t, p, study.KindPower, "", nil, nil)
		a.X, a.Center = []float64{1, 0, 0, 0}, []float64{0.5, 0, 0, 0} // of which derived rows are made
		if !slices.Equal(must(t)(r.Answer(p, 0, a, 1)), must(t)(New(matrix(t, values)).Answer(p, 0, a, 1))) {
			t.Errorf("the answer to study %q is of other rows", name)
		}
	}
}

// TestCounts: groups of what lies outside lambda_range are counted at its ends, and
// distributed counts are in units of their grid.
func TestCounts(t *testing.T) {
	const n = 12_000
	scale := func(noise string, limits ...float64) *study.Plan {
		return planOf(t, n, func(s *proposal.Spec) {
			s.Noise, s.Radius, s.Lambda, s.LambdaRange = noise, proposal.RadiusPaper, proposal.LambdaPrivate, limits
			if len(limits) == 0 {
				s.LambdaRange = nil
			}
		})
	}
	values := valuesOf(n)
	all := scale(proposal.NoiseCentral)
	r := New(matrix(t, values))
	full := must(t)(r.Answer(all, 0, ask(t, all, study.KindLambda, "", nil, nil), 2))
	total := int64(0)
	first, last := -1, 0
	for j, c := range full {
		total += c
		if c > 0 {
			last = j
			if first < 0 {
				first = j
			}
		}
	}
	if total != 256*int64(n/all.GroupSize) || last == first {
		t.Fatalf("%d groups of %d, octaves %d to %d", total, all.GroupSize, first, last)
	}
	below := scale(proposal.NoiseCentral, 0.001, 0.002) // all lies above
	got := must(t)(r.Answer(below, 0, ask(t, below, study.KindSelect, "", nil, nil), 1))
	if len(got) != 2 || got[0] != 0 || got[1] != int64(n/below.GroupSize) {
		t.Errorf("groups above the range: %v", got)
	}
	above := scale(proposal.NoiseCentral, 1e6, 4e6)
	got = must(t)(r.Answer(above, 0, ask(t, above, study.KindSelect, "", nil, nil), 1))
	if got[0] != int64(n/above.GroupSize) || slices.Max(got[1:]) != 0 {
		t.Errorf("groups below the range: %v", got)
	}
	shared := scale(proposal.NoiseDistributed)
	scaled := must(t)(r.Answer(shared, 0, ask(t, shared, study.KindLambda, "", nil, nil), 1))
	for j := range scaled {
		if scaled[j] != full[j] {
			t.Fatalf("octave %d: %d of %d", j, scaled[j], full[j])
		}
	}
}

// TestRowsAreRedacted: a site's rows do not print.
func TestRowsAreRedacted(t *testing.T) {
	r := New(matrix(t, []float64{1, 2, 3, 4}))
	for _, text := range []string{fmt.Sprint(r), fmt.Sprintf("%+v", r), fmt.Sprintf("%#v", r)} {
		if !strings.Contains(text, "redacted") {
			t.Error(text)
		}
	}
}

// TestTinyCoordinatesAreZero: a direction's coordinates that are next to nothing are nothing, so
// that no product with a row is a number that processors take long for, whatever threshold they
// were made for. Of the others, and of the caller's, none changes.
func TestTinyCoordinatesAreZero(t *testing.T) {
	const n = 400
	p := planOf(t, n, func(*proposal.Spec) {})
	r := New(matrix(t, valuesOf(n)))
	a := ask(t, p, study.KindPower, "", nil, nil)
	answer := func(x ...float64) []int64 {
		a := a
		a.X = slices.Clone(x)
		out := must(t)(r.Answer(p, 0, a, 1))
		if !slices.Equal(a.X, x) {
			t.Errorf("the ask's own X became %v", a.X)
		}
		return out
	}
	if got := settled([]float64{1, 0x1p-1022, -0x1p-61, -0x1p-60}); !slices.Equal(got, []float64{1, 0, 0, -0x1p-60}) {
		t.Errorf("settled: %v", got)
	}
	m, err := clip.NewMatrix(d, slices.Repeat([]float64{0, 0x1p70, 0, 0}, n)) // times 2^-61 it would show
	if err != nil {
		t.Fatal(err)
	}
	r = New(m)
	if got, want := answer(1, 0x1p-61, 0x1p-1022, 0), answer(1, 0, 0, 0); !slices.Equal(got, want) {
		t.Errorf("%v with tiny coordinates, %v without", got, want)
	}
	// A center next to nothing makes nothing of zeros, whatever the clip.
	p = planOf(t, n, func(s *proposal.Spec) { s.Center = proposal.CenterPrivate })
	if m, err = clip.NewMatrix(d, make([]float64, n*d)); err != nil {
		t.Fatal(err)
	}
	a = ask(t, p, study.KindMean, "", []float64{0x1p-1030, 0x1p-61, 0, 0}, nil)
	a.Radius, a.Grid = 0x1p-90, study.Grid(0x1p-90)
	if got := must(t)(New(m).Answer(p, 0, a, 1)); slices.ContainsFunc(got, func(v int64) bool { return v != 0 }) {
		t.Errorf("zeros less a tiny center add up to %v", got)
	}
}
