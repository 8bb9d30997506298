package simulate

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"covey/internal/proposal"
	"covey/internal/result"
)

// visits shows rows of a matrix.
func visits(rows [][]float64) Visit {
	return func(see func([]float64)) error {
		for _, r := range rows {
			see(append([]float64(nil), r...))
		}
		return nil
	}
}

func columnsNamed(names ...string) (out []proposal.Column) {
	for _, n := range names {
		out = append(out, proposal.Column{Name: n, Scale: 1})
	}
	return out
}

// TestPooled: second moment, scales and components are those of another computation, for each way
// in which a column is centered and scaled.
func TestPooled(t *testing.T) {
	var rows [][]float64
	dense, cov, n := new(mat.Dense), mat.NewSymDense(4, nil), 1500.0
	draw := func(leveled bool) {
		rng := rand.New(rand.NewPCG(3, 4))
		rows = nil
		for range int(n) {
			a := rng.NormFloat64()
			row := []float64{3 + 2*a, a + 0.3*rng.NormFloat64(), 5 * rng.NormFloat64(), 0}
			if rng.Float64() < 0.25 {
				row[3] = 1
			}
			if leveled {
				row[2] = 1 - row[3]
			}
			rows = append(rows, row)
		}
		dense = mat.NewDense(len(rows), 4, nil)
		for i, r := range rows {
			dense.SetRow(i, r)
		}
		stat.CovarianceMatrix(cov, dense, nil)
	}
	column := func(j int) []float64 { return mat.Col(nil, j, dense) }
	mean := func(j int) float64 { return stat.Mean(column(j), nil) }

	numbers := columnsNamed("a", "b", "c", "d")
	learned := columnsNamed("a", "b", "c", "d")
	for j := range learned {
		learned[j].Standardize = proposal.StandardizePrivate
	}
	mixed := append(columnsNamed("a", "b"), proposal.Column{Name: "l", Scale: 1, Levels: []string{"x"}}) // c is x, d is other
	for name, c := range map[string]struct {
		spec proposal.Spec
		want func(i, j int) float64
	}{
		"public": {proposal.Spec{Center: proposal.CenterPublic, Columns: numbers}, func(i, j int) float64 {
			return cov.At(i, j)*(n-1)/n + mean(i)*mean(j)
		}},
		"private": {proposal.Spec{Center: proposal.CenterPrivate, Columns: numbers}, func(i, j int) float64 { return cov.At(i, j) * (n - 1) / n }},
		"pairs":   {proposal.Spec{Center: proposal.CenterPairs, Columns: numbers}, func(i, j int) float64 { return cov.At(i, j) * (n - 1) / n }},
		"learned": {proposal.Spec{Center: proposal.CenterPrivate, Columns: learned}, func(i, j int) float64 {
			return cov.At(i, j) / math.Sqrt(cov.At(i, i)*cov.At(j, j))
		}},
		"levels": {proposal.Spec{Center: proposal.CenterPublic, Columns: mixed}, func(i, j int) float64 {
			scale, off := 1.0, mean(i)*mean(j)
			for _, l := range []int{i, j} {
				if l >= 2 {
					scale, off = scale*math.Sqrt(mean(l)), 0
				}
			}
			return (cov.At(i, j)*(n-1)/n + off) / scale
		}},
	} {
		draw(name == "levels")
		p, err := NewPooled(c.spec, visits(rows))
		if err != nil {
			t.Fatal(err)
		}
		want := mat.NewSymDense(4, nil)
		for i := range 4 {
			for j := i; j < 4; j++ {
				want.SetSym(i, j, c.want(i, j))
				if got := p.second.At(i, j); math.Abs(got-c.want(i, j)) > 1e-9*(1+math.Abs(c.want(i, j))) {
					t.Errorf("%s: entry %d, %d is %v, want %v", name, i, j, got, c.want(i, j))
				}
			}
		}
		var e mat.EigenSym
		e.Factorize(want, false)
		values := e.Values(nil)
		if sum, vectors := p.Best(2); math.Abs(sum-values[3]-values[2]) > 1e-9*sum || len(vectors) != 2 {
			t.Errorf("%s: two components have %v, want %v", name, sum, values[3]+values[2])
		}
	}
}

// TestPooledGaps: with gaps at random the components are nearly those of complete rows, and each
// entry is a mean over the rows that have both values. Seeded: 0.02 is 5 deviations of a
// correlation of 60,000 rows and more.
func TestPooledGaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var whole, rows [][]float64
	for range 80_000 {
		a := rng.NormFloat64()
		r := []float64{1 + a, 0.8*a + 0.6*rng.NormFloat64(), rng.NormFloat64()}
		whole = append(whole, r)
		r = append([]float64(nil), r...)
		for j := range r {
			if rng.Float64() < 0.1 {
				r[j] = math.NaN()
			}
		}
		rows = append(rows, r)
	}
	spec := proposal.Spec{Center: proposal.CenterPrivate, Columns: columnsNamed("a", "b", "c")}
	full, err := NewPooled(spec, visits(whole))
	if err != nil {
		t.Fatal(err)
	}
	gapped, err := NewPooled(spec, visits(rows))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		for j := range 3 {
			if d := gapped.second.At(i, j) - full.second.At(i, j); math.Abs(d) > 0.02 {
				t.Errorf("entry %d, %d differs by %v", i, j, d)
			}
		}
	}
	var sum, both, mean, seen [3]float64
	for _, r := range rows {
		for j, v := range r {
			if !math.IsNaN(v) {
				mean[j], seen[j] = mean[j]+v, seen[j]+1
			}
		}
	}
	for _, r := range rows {
		if v := (r[0] - mean[0]/seen[0]) * (r[1] - mean[1]/seen[1]); !math.IsNaN(v) {
			sum[0], both[0] = sum[0]+v, both[0]+1
		}
	}
	if got, want := gapped.second.At(0, 1), sum[0]/both[0]; math.Abs(got-want) > 1e-9 {
		t.Errorf("entry 0, 1 is %v, want %v", got, want)
	}
}

// TestFit: the pooled answer captures all of itself, whatever the scales that a result divides by;
// another one does not, and its angle is right.
func TestFit(t *testing.T) {
	spec := proposal.Spec{Center: proposal.CenterPublic, Columns: columnsNamed("a", "b", "c")}
	spec.Columns[0].Scale = 4
	p, err := newLaw(spec, mat.NewSymDense(3, []float64{4, 0, 0, 0, 2, 0, 0, 0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	r := &result.Result{Scale: []float64{4, 1, 1}}
	turned := math.Pi / 6
	for name, c := range map[string]struct {
		scale, captured, angle float64
		components             [][]float64
	}{
		"itself":           {4, 1, 0, [][]float64{{1, 0, 0}}},
		"another scale":    {8, 1, 0, [][]float64{{2, 0, 0}, {0, 1, 0}}},
		"turned":           {4, (4*3. + 2) / 4 / 4, 30, [][]float64{{math.Cos(turned), math.Sin(turned), 0}}},
		"turned, rescaled": {8, (4*3. + 2) / 4 / 4, 30, [][]float64{{2 * math.Cos(turned), math.Sin(turned), 0}}},
		"the span alone":   {4, 1, 0, [][]float64{{0.6, 0.8, 0}, {0.8, -0.6, 0}}},
		"off":              {4, 0.5, 90, [][]float64{{0, 1, 0}}},
	} {
		r.Scale[0] = c.scale
		f := p.Fit(r, c.components)
		if math.Abs(f.Captured-c.captured) > 1e-9 || math.Abs(f.Angle-c.angle) > 1e-4 {
			t.Errorf("%s: captured %v at %v°, want %v at %v°", name, f.Captured, f.Angle, c.captured, c.angle)
		}
	}
	r.Scale[0] = 4
	if f := p.Fit(r, [][]float64{{0.6, 0.8, 0}, {0.8, -0.6, 0}}); math.Abs(f.Angles[0]-math.Acos(0.6)*180/math.Pi) > 1e-6 {
		t.Errorf("components' own angles are %v", f.Angles)
	}
}

// TestPooledWithoutAnswer: rows that are all the same, or too large to square, have no components:
// that is an error, and no share that is not a number.
func TestPooledWithoutAnswer(t *testing.T) {
	spec := proposal.Spec{Center: proposal.CenterPrivate, Columns: columnsNamed("a", "b")}
	for name, rows := range map[string][][]float64{"constant": {{1, 2}, {1, 2}}, "huge": {{1e300, 2}, {-1e300, 1}}, "one huge": {{1e200, 2}, {1, 1}, {3, 4}}} {
		if _, err := NewPooled(spec, visits(rows)); err == nil || !strings.Contains(err.Error(), "no answer to hold a study against") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
