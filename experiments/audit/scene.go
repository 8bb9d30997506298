package main

import (
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math"

	"covey/internal/answer"
	"covey/internal/clip"
	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
)

// scene is a study and a pair of neighboring data sets: world 0 and world 1 differ in one unit of
// site 0.
type scene struct {
	name    string
	epsilon float64
	sites   int
	units   int // at each site
	d       int
	change  func(*proposal.Spec)
	pair    func(x []float64) pair // given the public start x of the study's direction

	drops   bool // all but one site that could go are in each sum
	resends int  // other leaders that open each sum again
	edge    bool // a corrupt site pushes the sums to the ring's edge
	grouped bool // the data has a unit column
	output  bool // the adversary sees a result's components alone
	worst   bool // the pair is the worst one: the bound is to be 0.8 of the claim
}

// pair is what the data sets of a scene are made of. All are in the columns' scale.
type pair struct {
	others    []float64   // row of every other unit
	one, two  [][]float64 // rows of the unit that is replaced, in world 0 and in world 1
	main, aim []float64   // directions: of the component, and in which the unit pulls it
}

// delta of every scene. The conversion of ρ to ε loses least at a small one.
const delta = 1e-6

// far is a length that every radius clips; the other world's unit is farther by octaves, so that it
// is in another bin of every histogram.
const (
	far     = 0x1p20
	farther = 0x1p26
	tilt    = 0.05
)

// opposite are units that every clipped sum of rows and every power step sees at R·v and at -R·v, v
// across the component: tilt keeps yᵀx positive in both worlds, at a cost of tilt²/2 of the
// difference.
func opposite(x []float64) pair {
	v := across(x)
	return pair{others: scaled(x, level), one: [][]float64{blend(v, far, x, tilt*far)}, two: [][]float64{blend(v, -farther, x, tilt*farther)}, main: x, aim: v}
}

// level is the other units' length. Its square is inside a histogram's bin.
const level = 1.04

// orthogonal units have outer products at a right angle, each clipped to the bound.
func orthogonal(x []float64) pair {
	v := across(x)
	return pair{others: scaled(x, level), one: [][]float64{scaled(x, far)}, two: [][]float64{scaled(v, farther)}, main: x, aim: v}
}

// present returns a unit of the largest variance along the component against one without any.
func present(x []float64) pair {
	return pair{others: scaled(x, level), one: [][]float64{scaled(x, far)}, two: [][]float64{scaled(x, 0)}, main: x, aim: across(x)}
}

// several rows a unit: three against one.
func several(x []float64) pair {
	p := opposite(x)
	p.one = [][]float64{p.one[0], p.one[0], p.one[0]}
	return p
}

// once is a pair whose power steps differ in the first round and in no other: there the component
// is where the unit of world 1 changes sides. Noise that two rounds share would be taken off with
// the second.
func once(x []float64) pair {
	v := across(x)
	return pair{others: scaled(blend(x, 1, v, 1), level), one: [][]float64{blend(v, far, x, tilt*far)}, two: [][]float64{blend(v, -farther, x, tilt*farther)}, main: x, aim: v}
}

// scenes are all that are audited.
var scenes = []*scene{
	{name: "power, 1 step", epsilon: 1, sites: 3, units: 8, d: 2, worst: true, pair: opposite,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds = "1", 1 }},
	{name: "power, 1 step, a second leader", epsilon: 8, sites: 3, units: 8, d: 2, worst: true, resends: 1, pair: opposite,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds = "1", 1 }},
	{name: "power, 3 steps", epsilon: 8, sites: 3, units: 1000, d: 3, worst: true, pair: opposite,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds = "1.2", 3 }},
	{name: "power, 2 steps, histograms", epsilon: 8, sites: 3, units: 1000, d: 3, worst: true, pair: opposite,
		change: func(s *proposal.Spec) { s.Rounds, s.RadiusShare, s.Rows = 2, 0.5, proposal.RowsPlain }},
	{name: "power, distributed, 1 site away, 1 corrupt", epsilon: 8, sites: 4, units: 8, d: 2, worst: true, drops: true, pair: opposite,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds, s.Noise = "1", 1, proposal.NoiseDistributed }},
	{name: "power, 2 steps, histograms, distributed, 1 away, 1 corrupt", epsilon: 8, sites: 4, units: 1000, d: 3, worst: true, drops: true, pair: opposite,
		change: func(s *proposal.Spec) {
			s.Rounds, s.RadiusShare, s.Noise, s.Rows = 2, 0.3, proposal.NoiseDistributed, proposal.RowsPlain
		}},
	{name: "covariance", epsilon: 8, sites: 3, units: 100, d: 2, worst: true, pair: orthogonal,
		change: func(s *proposal.Spec) { s.Method, s.BoundShare = proposal.MethodCovariance, 0.3 }},
	{name: "covariance, distributed, 1 away, 1 corrupt", epsilon: 8, sites: 6, units: 100, d: 2, worst: true, drops: true, pair: orthogonal,
		change: func(s *proposal.Spec) {
			s.Method, s.BoundShare, s.Noise = proposal.MethodCovariance, 0.3, proposal.NoiseDistributed
		}},
	{name: "mean, histograms, power", epsilon: 8, sites: 3, units: 100, d: 2, worst: true, pair: opposite,
		change: func(s *proposal.Spec) {
			s.Radius, s.Rounds, s.Center, s.CenterShare = "1", 1, proposal.CenterPrivate, 0.6
		}},
	{name: "mean, histograms, power, unit column", epsilon: 8, sites: 3, units: 100, d: 2, worst: true, grouped: true, pair: several,
		change: func(s *proposal.Spec) {
			s.Unit, s.Radius, s.Rounds, s.Center, s.CenterShare = "who", "1", 1, proposal.CenterPrivate, 0.6
		}},
	{name: "variance, total, histograms, power", epsilon: 8, sites: 3, units: 1000, d: 2, worst: true, pair: present,
		change: func(s *proposal.Spec) {
			s.Radius, s.Rounds, s.ExplainedVariance, s.VarianceShare = "1", 1, proposal.VariancePrivate, 0.89
		}},
	{name: "scale by groups, power", epsilon: 8, sites: 3, units: 400, d: 2, worst: true, pair: opposite,
		change: func(s *proposal.Spec) {
			s.Radius, s.Rounds, s.Lambda, s.LambdaShare = proposal.RadiusPaper, 1, proposal.LambdaPrivate, 0.4
		}},
	{name: "scale by choice, power", epsilon: 8, sites: 3, units: 400, d: 2, pair: opposite,
		change: func(s *proposal.Spec) {
			s.Radius, s.Rounds, s.Lambda, s.LambdaShare, s.LambdaRange = proposal.RadiusPaper, 1, proposal.LambdaPrivate, 0.2, []float64{0x1p-4, 0x1p10}
		}},
	{name: "power, sums at the ring's edge", epsilon: 8, sites: 3, units: 8, d: 2, edge: true, worst: true, pair: opposite,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds = "1", 1 }},
	{name: "power, 2 steps, a pair of the first alone", epsilon: 8, sites: 3, units: 1000, d: 3, pair: once,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds, s.Schedule = "1.2", 2, proposal.ScheduleEven }},
	{name: "power, 2 steps, output last alone", epsilon: 8, sites: 3, units: 1000, d: 3, pair: opposite, output: true,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds, s.Output = "1.2", 2, proposal.OutputLast }},
	{name: "power, 2 steps, output pooled alone", epsilon: 8, sites: 3, units: 1000, d: 3, pair: opposite, output: true,
		change: func(s *proposal.Spec) { s.Radius, s.Rounds, s.Output = "1.2", 2, proposal.OutputPooled }},
}

// title tells the scene from all others.
func (s *scene) title() string { return fmt.Sprintf("%s, ε %g", s.name, s.epsilon) }

// newPlan returns the scene's study. The seed is its nonce, which sets the public start.
func (s *scene) newPlan(seed uint64) (*study.Plan, error) {
	spec := proposal.Spec{Center: proposal.CenterPublic, Name: "audit", Dataset: "rows", Epsilon: s.epsilon, Delta: delta, ExplainedVariance: proposal.VarianceNone}
	for j := range s.d {
		spec.Columns = append(spec.Columns, proposal.Column{Name: fmt.Sprint("y", j), Scale: 1})
	}
	s.change(&spec)
	var roster []proposal.Member
	for i := range s.sites {
		public := identity(i).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: fmt.Sprint("site-", i), Identity: proposal.Key(public), Units: s.units})
	}
	var nonce [32]byte
	binary.BigEndian.PutUint64(nonce[:], seed)
	body, err := proposal.Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), nonce)
	if err != nil {
		return nil, err
	}
	return study.NewPlan(body)
}

// rows returns both worlds, by site. The unit that is replaced is the last of site 0.
func (s *scene) rows(p pair) ([2][]*answer.Rows, error) {
	var out [2][]*answer.Rows
	for world, own := range [][][]float64{p.one, p.two} {
		for i := range s.sites {
			var values []float64
			var unit []int
			for u := range s.units {
				rows := [][]float64{p.others}
				if i == 0 && u == s.units-1 {
					rows = own
				}
				for _, row := range rows {
					values = append(values, row...)
					unit = append(unit, u)
				}
			}
			var m *clip.Matrix
			var err error
			if s.grouped {
				m, err = clip.NewUnits(s.d, values, unit)
			} else {
				m, err = clip.NewMatrix(s.d, values)
			}
			if err != nil {
				return out, err
			}
			out[world] = append(out[world], answer.New(m))
		}
	}
	return out, nil
}

// across returns a unit vector at a right angle to x, with no number of its own zero.
func across(x []float64) []float64 {
	v := make([]float64, len(x))
	for j := range v {
		v[j] = 1 / float64(j+1)
	}
	c := linalg.Dot(v, x) / linalg.Dot(x, x)
	for j := range v {
		v[j] -= c * x[j]
	}
	return scaled(v, 1/math.Sqrt(linalg.Dot(v, v)))
}

func scaled(v []float64, c float64) []float64 { return blend(v, c, v, 0) }

func blend(v []float64, a float64, w []float64, b float64) []float64 {
	out := make([]float64, len(v))
	for j := range v {
		out[j] = a*v[j] + b*w[j]
	}
	return out
}
