package main

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/result"
	"covey/internal/study"
)

// evidence is what a run shows of its world. Numbers are in standard deviations of the noise as the
// plan has it.
type evidence struct {
	residual []float64 // released less world 0's sums
	step     []float64 // world 1's sums less world 0's
	raw      float64   // residuals that nobody reduced to the ring, along step
	output   float64   // of a result, along what the unit pulls at
}

// newEvidence condenses a run's answers. Vectors keep all their numbers; of counts the one
// direction is kept in which the worlds differ, and of a choice its likelihood ratio.
func (f *federation) newEvidence(all []answered, releases []study.Release, p pair) (evidence, error) {
	var e evidence
	add := func(residual, step float64) {
		e.residual, e.step = append(e.residual, residual), append(e.step, step)
	}
	for _, a := range all {
		if f.plan.Noise.Chooses(f.plan.Queries[a.ask.Query]) {
			l, err := f.choice(a)
			if err != nil {
				return e, err
			}
			add(l+0.5, 1) // step·(residual - step/2) is l
			continue
		}
		residual, step := make([]float64, len(a.plain)), make([]float64, len(a.plain))
		for k, v := range a.plain {
			raw := a.noised[k] - v
			residual[k] = float64(raw<<(64-f.plan.Bits)>>(64-f.plan.Bits)) / a.sigma
			step[k] = float64(a.step[k]) / a.sigma
			e.raw += step[k] * float64(raw)
		}
		if a.ask.Kind.Definition().Counts {
			length := math.Sqrt(linalg.Dot(step, step))
			if length == 0 {
				add(0, 0)
			} else {
				add(linalg.Dot(residual, step)/length, length)
			}
			continue
		}
		for k := range residual {
			add(residual[k], step[k])
		}
	}
	if !f.scene.output {
		return e, nil
	}
	result, err := result.New(f.plan, releases)
	if err != nil {
		return e, err
	}
	v := result.Components[0]
	e.output = linalg.Dot(v, p.aim) * math.Copysign(1, linalg.Dot(v, p.main)) // a component has no sign
	return e, nil
}

// A statistic orders runs: the more, the more it looks like world 1.
type statistic struct {
	name  string
	score func(evidence) float64
}

// statistics returns those tried in the first part of the runs, the expected one first.
func (s *scene) statistics(calibration [2][]evidence) []statistic {
	if s.output {
		// world 1 pulls to -aim
		return []statistic{{"component", func(e evidence) float64 { return -e.output }}}
	}
	return []statistic{
		{"likelihood ratio", func(e evidence) float64 {
			sum := 0.0
			for k, d := range e.step {
				sum += d * (e.residual[k] - d/2)
			}
			return sum
		}},
		{"discriminant", discriminant(calibration)},
		// A sum that wraps comes out below one that does not, and world 1's wraps where step is
		// positive.
		{"unreduced", func(e evidence) float64 { return -e.raw }},
	}
}

// discriminant is the likelihood ratio for normal noise of the covariance that was seen: noise that
// is missing somewhere, or the same in two places, reveals the world.
func discriminant(calibration [2][]evidence) func(evidence) float64 {
	n := len(calibration[0][0].residual)
	c := mat.NewSymDense(n, nil)
	count := 0.0
	for world, all := range calibration {
		for _, e := range all {
			x := slices.Clone(e.residual)
			for k := range x {
				x[k] -= float64(world) * e.step[k]
			}
			c.SymRankOne(c, 1, mat.NewVecDense(n, x))
			count++
		}
	}
	c.ScaleSym(1/count, c)
	for k := range n {
		c.SetSym(k, k, c.At(k, k)+1e-9) // invertible where noise is missing
	}
	var factors mat.Cholesky
	if !factors.Factorize(c) {
		return func(evidence) float64 { return 0 }
	}
	return func(e evidence) float64 {
		d := mat.NewVecDense(n, slices.Clone(e.step))
		var w mat.VecDense
		if factors.SolveVecTo(&w, d) != nil && w.Len() == 0 { // ill-conditioned is meant
			return 0
		}
		sum := 0.0
		for k := range n {
			sum += w.AtVec(k) * (e.residual[k] - e.step[k]/2)
		}
		return sum
	}
}

// logShare is the logarithm of the probability with which the exponential mechanism of e0 chooses
// at.
func logShare(scores []int64, at int64, e0 float64) float64 {
	top := float64(slices.Max(scores))
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp(e0 / 2 * (float64(s) - top))
	}
	return e0/2*(float64(scores[at])-top) - math.Log(sum)
}
