package result

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Step is one power step as a plot shows it.
type Step struct {
	Round, Run    int
	NoiseToSignal float64
	// Angles are those of the first [MostAngles] components to the vectors that it asked about, in
	// degrees.
	Angles []float64
}

// MostAngles is for how many components a step has angles: a drawing has no more lines.
const MostAngles = 8

// Steps are the power steps of the result, in order; none where auto took a few and then
// decided for the covariance.
func (r *Result) Steps() []Step {
	if r.Method == proposal.MethodCovariance {
		return nil
	}
	if r.brief != nil {
		return r.brief
	}
	var out []Step
	for _, rel := range r.Releases {
		if rel.Kind == study.KindPower {
			out = append(out, r.step(rel, out))
		}
	}
	return out
}

// step returns what is shown of a power release behind those before it.
func (r *Result) step(rel study.Release, before []Step) Step {
	s := Step{Round: rel.Round, NoiseToSignal: rel.NoiseToSignal(r.D)}
	if len(before) > 0 {
		s.Run = before[len(before)-1].Run
		if rel.Round == 0 {
			s.Run++
		}
	}
	block := linalg.Split(rel.X, r.D)
	for _, component := range r.Components[:min(len(r.Components), MostAngles)] {
		s.Angles = append(s.Angles, angle(component, block))
	}
	return s
}

// angle, in degrees, of the unit vector v to the span of orthonormal vectors. By the
// part of v outside of the span: its sine is exact where the angle is small.
func angle(v []float64, block [][]float64) float64 {
	rest := mat.NewVecDense(len(v), slices.Clone(v))
	for _, x := range block {
		b := mat.NewVecDense(len(x), x)
		rest.AddScaledVec(rest, -mat.Dot(rest, b), b)
	}
	return math.Asin(min(1, mat.Norm(rest, 2))) * 180 / math.Pi
}

// Done says in words what found the components.
func (r *Result) Done() string {
	steps, parts := 0, 0
	for _, rel := range r.Releases {
		switch rel.Kind {
		case study.KindPower:
			steps++
		case study.KindMoment:
			parts++
		}
	}
	text := DoneText(r.Method, steps)
	if parts > 0 && r.Method == proposal.MethodPower { // where auto started the rounds
		text = "two parts of a covariance and " + text
	}
	return text
}

// DoneText says what so many power rounds and, with the covariance's method, one covariance are.
func DoneText(method string, steps int) string {
	rounds := fmt.Sprintf("%d rounds", steps)
	if steps == 1 {
		rounds = "1 round"
	}
	switch {
	case method != proposal.MethodCovariance:
		return rounds
	case steps > 0:
		return rounds + " to decide and one covariance"
	default:
		return "one covariance"
	}
}
