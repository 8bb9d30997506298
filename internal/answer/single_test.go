package answer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/clip"
	"covey/internal/proposal"
	"covey/internal/query"
	"covey/internal/study"
)

// mixedColumns are three numbers, the second of a public scale, among columns with levels; the
// first and the last have a coordinate for missing values.
var mixedColumns = []proposal.Column{
	{Name: "color", Levels: []string{"D", "E", "F"}, Indicator: true}, {Name: "x"}, {Name: "sold", Levels: []string{"yes"}},
	{Name: "y", Scale: 2}, {Name: "cut", Levels: []string{"1", "2", "3", "4", "5", "6"}}, {Name: "z", Indicator: true},
}

const mixedD = 18

// A unit replaced by another, of one row or of up to 100, moves the answers about single columns of
// a study of numbers and levels by no more than Δ of the numbers alone, and close to it: whatever
// is in the coordinates of levels, where a leader says that the others are, and which are left out.
func TestReplacedUnitMovesMixedColumnsByNoMore(t *testing.T) {
	const units = 8
	numbers := []int{5, 8, 16}
	worst := map[string]float64{}
	for seed, unit := range []string{"", "who"} {
		p := planOf(t, 30_000, func(s *proposal.Spec) {
			s.Center, s.Standardize, s.Rounds, s.Columns, s.Unit = "", proposal.StandardizePrivate, 0, slices.Clone(mixedColumns), unit
			s.Method, s.Missing = proposal.MethodCovariance, proposal.MissingZero
		})
		if p.D != mixedD || !slices.Equal(p.Layout.Single(study.KindTree), numbers) {
			t.Fatalf("%d coordinates, %v are counted", p.D, p.Layout.Single(study.KindTree))
		}
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		draw := func() *clip.Matrix {
			var values []float64
			var gaps []byte
			kind, n := rng.IntN(4), 1
			if unit != "" && rng.IntN(2) == 0 {
				n = 1 + rng.IntN(100)
			}
			sign := float64(1 - 2*rng.IntN(2))
			for range n {
				bits := make([]byte, (mixedD+7)/8)
				for j := range mixedD {
					v := math.Exp2(60 * rng.NormFloat64()) // also of levels: whatever a file made of them
					switch kind {
					case 0:
						v = sign * 0x1p300
					case 1:
						v = 0
					case 2:
						v *= float64(1 - 2*rng.IntN(2))
					}
					if kind > 1 && rng.IntN(9) == 0 {
						v = 0
						bits[j/8] |= 1 << (j % 8)
					}
					values = append(values, v)
				}
				gaps = append(gaps, bits...)
			}
			// the other units have one row each, all alike
			rest := make([]int, n, n+units)
			for u := range units {
				rest = append(rest, u+1)
				values, gaps = append(values, slices.Repeat([]float64{1}, mixedD)...), append(gaps, make([]byte, (mixedD+7)/8)...)
			}
			if unit == "" {
				rest = nil
			}
			m, err := clip.NewGapped(mixedD, values, gaps, rest)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		for range 400 {
			before, after := New(draw()), New(draw())
			for i, q := range p.Queries {
				d, square := 0.0, 0.0
				switch q.Kind {
				case study.KindOctaves:
					square = 4 * 3
				case study.KindTree:
					square = 6 * 3
				case study.KindMoments: // of three times as many, six of which are zeros
					d, square = 9, 28*9
				default:
					continue
				}
				if want := 0x1p16*math.Sqrt(square) + math.Sqrt(2*d); math.Abs(p.Noise.Sensitivity(q, 0)/want-1) > 1e-12 {
					t.Fatalf("%s has Δ = %v, want %v", q.Kind, p.Noise.Sensitivity(q, 0), want)
				}
				course := p.Start()
				course.Query = i
				usual := rng.IntN(2) == 0
				for range mixedD {
					s := 1.0
					if !usual {
						s = []float64{0, 0x1p-100, 0x1p100, math.Exp2(20 * rng.NormFloat64())}[rng.IntN(4)]
					}
					course.Center, course.Scale = append(course.Center, 0), append(course.Scale, s)
				}
				if q.Kind == study.KindOctaves {
					course.Center, course.Scale = nil, nil
				}
				a, err := p.NewAsk(course, 0)
				if err == nil {
					err = p.Check(a)
				}
				if err != nil {
					t.Fatal(err)
				}
				x, y, moved := must(t)(before.Answer(p, 1, a, 1)), must(t)(after.Answer(p, 1, a, 1)), 0.0
				for j := range x {
					moved += float64(x[j]-y[j]) * float64(x[j]-y[j]) // exact: below 2^53
				}
				bound := p.Noise.Sensitivity(q, 0)
				if len(x) != q.Values || moved > bound*bound {
					t.Fatalf("%s, unit %q: moved by %v, the plan's Δ is %v", q.Kind, unit, math.Sqrt(moved), bound)
				}
				key := fmt.Sprint(q.Kind, " ", unit)
				worst[key] = max(worst[key], math.Sqrt(moved)/bound)
				if q.Kind == study.KindMoments { // of levels nothing: 0, and what the clip leaves of 1
					for at, j := range p.Layout.Single(q.Kind) {
						if !slices.Contains(numbers, j) && (x[at] != 0 || x[9+at] != x[9]) {
							t.Fatalf("moments of coordinate %d, a level's, are %d and %d", j, x[at], x[9+at])
						}
					}
				}
			}
		}
	}
	for key, share := range worst {
		t.Logf("%s: %.4f of Δ", key, share)
		if share < 0.999 && query.Kind(key[:4]) != "mome" {
			t.Errorf("%s moved by %.3f of Δ at most", key, share)
		}
	}
}
