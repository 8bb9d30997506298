package clip

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/query"
)

// TestMapsAreTheTables: a sum by the code of a map is that by its kind's Map in the table, to a
// grid step: for units of one row, whose code is another, and of several. No unit is long enough to
// be clipped.
func TestMapsAreTheTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	const d, n = 5, 23
	seen := 0
	for _, def := range query.Kinds() {
		m, ok := MapOf(def.Kind)
		if ok != (def.Map != nil) {
			t.Errorf("%s has a map: %t", def.Kind, ok)
		}
		if !ok || def.Map == nil {
			continue
		}
		seen++
		for _, of := range []int{1, 3} {
			q := Query{Map: m, Radius: 4096, Grid: 0x1p-20}
			if def.Directions != query.None {
				q.X = orthogonal(rng, d, 2)
			}
			values, units := make([]float64, n*of*d), make([]int, n*of)
			for i := range values {
				values[i] = rng.NormFloat64()
			}
			matrix := mustMatrix(t, d, slices.Clone(values))
			for i := range units {
				units[i] = i / of
			}
			if of > 1 {
				var err error
				if matrix, err = NewUnits(d, slices.Clone(values), units); err != nil {
					t.Fatal(err)
				}
			}
			want := make([]float64, def.Values(d, 2))
			for lo := 0; lo < len(values); lo += d {
				def.Map(want, values[lo:lo+d], q.X)
			}
			got := mustSum(t, matrix, q, 1)
			if len(got) != len(want) || q.Values(d) != len(want) {
				t.Fatalf("%s has %d values, the table %d", def.Kind, len(got), len(want))
			}
			for j := range want { // each unit rounds once
				if diff := math.Abs(float64(got[j])*q.Grid - want[j]); diff > n*q.Grid {
					t.Errorf("%s, %d rows a unit: value %d is off by %v", def.Kind, of, j, diff)
				}
			}
		}
	}
	if seen < 6 {
		t.Errorf("%d kinds of sums", seen)
	}
}

// TestKindWithoutCode: a kind that this package has no code for is summed by the table's Map,
// clipped and rounded like any other, and counted by the length of its vector.
func TestKindWithoutCode(t *testing.T) {
	before := definitions
	defer func() { definitions = before }()
	power := query.Power.Definition()
	power.Kind = "again"
	definitions = append(slices.Clone(before), power)
	m, ok := MapOf("again")
	if !ok || m <= Rows {
		t.Fatalf("the map of a new kind is %d, %t", m, ok)
	}
	rng := rand.New(rand.NewPCG(15, 92))
	const d = 4
	values := make([]float64, 200*d)
	for i := range values {
		values[i] = 3 * rng.NormFloat64()
	}
	rows := mustMatrix(t, d, values)
	q := Query{Map: m, X: orthogonal(rng, d, 2), Radius: 10, Grid: query.Grid(10)}
	same := q
	same.Map = Power
	a, b := mustSum(t, rows, q, 2), mustSum(t, rows, same, 2)
	for j := range a {
		if diff := a[j] - b[j]; max(diff, -diff) > 200 { // a step for each row
			t.Errorf("value %d is %d by the table's map, %d by this package's", j, a[j], b[j])
		}
	}
	if !slices.Equal(mustHistogram(t, rows, q, 2), mustHistogram(t, rows, same, 2)) {
		t.Error("the norms are others")
	}
	if m.definition().Sensitivity(q.Radius, q.Grid, len(a)) != Power.definition().Sensitivity(q.Radius, q.Grid, len(a)) {
		t.Error("the sensitivity is another")
	}
}
