package result

import (
	"fmt"

	"covey/internal/linalg"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Step is one power step as a page or a plot shows it.
type Step struct {
	Round, Run    int
	NoiseToSignal float64
	X             [][]float64 // asked about: vectors of d
}

// Steps are the power steps of the result, in order; none where auto took a few and then
// decided for the covariance.
func (r *Result) Steps() []Step {
	if r.Method == proposal.MethodCovariance {
		return nil
	}
	var out []Step
	run := 0
	for _, rel := range r.Releases {
		if rel.Kind != study.KindPower {
			continue
		}
		if rel.Round == 0 && len(out) > 0 {
			run++
		}
		out = append(out, Step{Round: rel.Round, Run: run, NoiseToSignal: rel.NoiseToSignal(r.D), X: linalg.Split(rel.X, r.D)})
	}
	return out
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
