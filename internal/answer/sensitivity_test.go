package answer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/internal/study"
)

// A unit replaced by another MUST move the answer to each planned query by no more than the Δ that
// the plan scales that query's noise to, whatever the rows: planned queries, the counts' grid,
// octaves that are cut off, pairs, centres and directions found are all on the way. And it comes
// close to it, or this would find nothing. Under -short a few plans are asked, of each kind of
// noise and unit.
func TestReplacedUnitMovesNoAnswerByMore(t *testing.T) {
	const units = 256 // 64 groups of d
	worst, center := map[string]float64{}, []float64{1, -2, 0.5, 3}
	for seed, c := range []struct {
		name   string
		change func(*proposal.Spec)
	}{
		{"block", func(s *proposal.Spec) {
			s.Components, s.Method, s.Epsilon, s.Rows = 2, proposal.MethodAuto, 0.005, proposal.RowsPlain
		}},
		{"distributed", func(s *proposal.Spec) {
			s.Components, s.Method, s.Noise, s.Epsilon, s.Rows = 2, proposal.MethodAuto, proposal.NoiseDistributed, 0.005, proposal.RowsPlain
		}},
		{"centred", func(s *proposal.Spec) {
			s.Center, s.Components, s.Subspace = proposal.CenterPrivate, 2, proposal.SubspaceDeflation
		}},
		{"pairs", func(s *proposal.Spec) { s.Center, s.Components = proposal.CenterPairs, 2 }},
		{"people", func(s *proposal.Spec) {
			s.Unit, s.Center, s.Method, s.Components, s.Epsilon = "who", proposal.CenterPrivate, proposal.MethodAuto, 2, 0.005
		}},
		{"standardized", func(s *proposal.Spec) {
			s.Center, s.Standardize, s.Components, s.Subspace = "", proposal.StandardizePrivate, 2, proposal.SubspaceDeflation
		}},
		{"standardized, central", func(s *proposal.Spec) {
			s.Center, s.Standardize, s.CentralDetail, s.Components, s.Method = "", proposal.StandardizePrivate, true, 2, proposal.MethodCovariance
			s.Columns[1].Scale = 2 // public
		}},
		{"standardized, people", func(s *proposal.Spec) {
			s.Center, s.Standardize, s.Unit, s.Components, s.Rows = "", proposal.StandardizePrivate, "who", 2, proposal.RowsPlain
		}},
		{"standardized, at two sites", func(s *proposal.Spec) {
			s.Center, s.Standardize, s.SitesPerUnit, s.Method, s.Components = "", proposal.StandardizePrivate, 2, proposal.MethodCovariance, 1
		}},
		{"scale", func(s *proposal.Spec) {
			s.Radius, s.Lambda, s.Epsilon, s.LambdaShare = proposal.RadiusPaper, proposal.LambdaPrivate, 25, 0.3
		}},
		{"choice", func(s *proposal.Spec) {
			s.Radius, s.Lambda, s.LambdaRange, s.Epsilon, s.LambdaShare = proposal.RadiusPaper, proposal.LambdaPrivate, []float64{0.5, 40}, 25, 0.3
		}},
		{"choice, distributed", func(s *proposal.Spec) {
			s.Radius, s.Lambda, s.LambdaRange, s.Epsilon, s.LambdaShare, s.Noise = proposal.RadiusPaper, proposal.LambdaPrivate, []float64{0.5, 40}, 25, 0.3, proposal.NoiseDistributed
		}},
	} {
		if testing.Short() && !slices.Contains([]string{"distributed", "people", "standardized, central", "choice"}, c.name) {
			continue
		}
		name, p, rng := c.name, planOf(t, units, c.change), rand.New(rand.NewPCG(21, uint64(seed)))
		people := p.Proposal.Spec.Unit != ""
		for range 50 {
			rows := make([][][]float64, units) // by unit
			for u := range rows {
				rows[u] = hostile(rng, p.Start().X, people)
			}
			other := slices.Clone(rows)
			u := rng.IntN(units)
			other[u] = hostile(rng, p.Start().X, people)
			if rng.IntN(2) == 0 { // as far apart as can be
				var zero []float64
				// also where constants are learned
				if p.Proposal.Spec.Center == proposal.CenterPrivate {
					zero = center
				}
				rows[u], other[u] = apart(rng, p.Start().X, zero)
				if people { // of as many rows as R allows, and of one
					other[u] = slices.Repeat(other[u], 100)
				}
			}
			before, after := New(unitsOf(t, rows, people)), New(unitsOf(t, other, people))
			for i, q := range p.Queries {
				c := p.Start()
				learned := p.Proposal.Spec.Standardize == proposal.StandardizePrivate
				octaves := 9.0
				if learned && q.Kind != study.KindRows { // values are within limits
					octaves = 5
				}
				c.Query, c.Radii = i, map[study.Kind]float64{q.Kind: math.Exp2(octaves*rng.Float64() - 3)}
				if learned {
					// whatever a leader says they are
					if q.Kind.Definition().Centered && q.Of != study.KindRows {
						c.Center, c.Scale = hostileConstants(rng, center)
					}
				} else if p.Proposal.Spec.Center == proposal.CenterPrivate && (q.Kind != study.KindMean && q.Of != study.KindMean || q.Round > 0) && q.Kind != study.KindRows && q.Of != study.KindRows {
					c.Center = center
				}
				if q.Run > 0 {
					c.Found, c.X = []float64{0.6, 0.8, 0, 0}, []float64{0.8, -0.6, 0, 0}
				}
				if q.Kind == study.KindVariance || q.Of == study.KindVariance {
					c.X = []float64{0.6, 0.8, 0, 0, 0.8, -0.6, 0, 0}[:p.K*d]
				}
				a, err := p.NewAsk(c, 0)
				if err == nil {
					err = p.Check(a)
				}
				if err != nil {
					t.Fatalf("%s, %s of %s: %v", name, q.Kind, q.Of, err)
				}
				x, y, moved := must(t)(before.Answer(p, 1, a, 1)), must(t)(after.Answer(p, 1, a, 1)), 0.0
				for j := range x {
					moved += float64((x[j] - y[j]) * (x[j] - y[j])) // exact: below 2^53
				}
				bound := p.Noise.Sensitivity(q, a.Radius)
				if moved > bound*bound {
					t.Errorf("%s, %s of %s: moved by %v, the plan's Δ is %v", name, q.Kind, q.Of, math.Sqrt(moved), bound)
				}
				key := fmt.Sprintf("%s: %s", name, q.Kind)
				// one site's part
				worst[key] = max(worst[key], math.Sqrt(moved)/bound*float64(p.SitesPerUnit))
			}
		}
	}
	for key, share := range worst {
		least := 0.9
		switch {
		case strings.HasSuffix(key, string(study.KindMoments)):
			least = 0.8 // no pair reaches the bounds of both halves at once
		case strings.HasPrefix(key, "standardized") && (strings.HasSuffix(key, string(study.KindPower)) || strings.HasSuffix(key, string(study.KindVariance))):
			least = 0.7 // the limits turn the rows, which are made to point where these differ most
		}
		if share < least {
			t.Errorf("%s moved by %.3f of Δ at most", key, share)
		}
	}
}

// hostileConstants are a center and scales that a plan accepts: the usual center and 1, or as small
// or large as can be, or left out.
func hostileConstants(rng *rand.Rand, usual []float64) (center, scale []float64) {
	ordinary := rng.IntN(2) == 0
	for _, c := range usual {
		s := 1.0
		if !ordinary {
			c = []float64{0, 0x1p150, -0x1p150, rng.NormFloat64() * 0x1p30}[rng.IntN(4)]
			s = []float64{0, 0x1p-100, 0x1p100, math.Exp2(20 * rng.NormFloat64())}[rng.IntN(4)]
		}
		center, scale = append(center, c), append(scale, s)
	}
	return center, scale
}

// hostile are a unit's rows: of any size, some along X, some against it, zeros.
func hostile(rng *rand.Rand, x []float64, people bool) [][]float64 {
	count := 1
	if people {
		count += rng.IntN(5) * rng.IntN(40)
	}
	var out [][]float64
	for range count {
		row, size := make([]float64, d), math.Exp2(rng.NormFloat64()*[]float64{1, 1, 1, 8}[rng.IntN(4)])
		for j := range row {
			row[j] = size * rng.NormFloat64()
		}
		switch rng.IntN(4) {
		case 0:
			for j := range row {
				row[j] += 3 * size * x[j]
			}
		case 1:
			clear(row)
		}
		out = append(out, row)
	}
	return out
}

// apart are two units of one row that every clipped map sends far apart: across each other, large,
// in other bins and octaves, with some of x, vectors of d, so that their power steps point along
// themselves. zero is what is taken off.
func apart(rng *rand.Rand, x, zero []float64) (a, b [][]float64) {
	row, other := make([]float64, d), make([]float64, d)
	for j := range row {
		row[j] = rng.NormFloat64()
	}
	for v := x; len(v) > 0; v = v[d:] {
		along := 0.0
		for j := range row {
			along += row[j] * v[j]
		}
		for j := range row {
			row[j] -= along * v[j]
		}
	}
	for j := range row {
		other[j] = -0x1p26 * (row[j] - 0.03*x[j])
		row[j] = 0x1p20 * (row[j] + 0.03*x[j])
	}
	switch rng.IntN(3) {
	case 0: // of a sum that is not negative the other end
		clear(row)
		copy(row, zero)
	case 1: // two axes: moments and variances that have nothing in common
		copy(row, []float64{0x1p20 * 0.6, 0x1p20 * 0.8, 0, 0})
		copy(other, []float64{0x1p26 * 0.8, -0x1p26 * 0.6, 0, 0})
	}
	return [][]float64{row}, [][]float64{other}
}

func unitsOf(t *testing.T, rows [][][]float64, people bool) *clip.Matrix {
	t.Helper()
	var values []float64
	var unit []int
	for u, own := range rows {
		for _, row := range own {
			values, unit = append(values, row...), append(unit, u)
		}
	}
	if !people {
		return matrix(t, values)
	}
	m, err := clip.NewUnits(d, values, unit)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
