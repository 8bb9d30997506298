package study

import (
	"fmt"
	"reflect"
	"slices"
)

// Again reports whether a proposal asks what another one asked: all that its analyst wrote is the
// same, whatever its nonce, its expiry, what it says for people and who the sites are.
func (p Proposal) Again(other Proposal) bool {
	return reflect.DeepEqual(p.asked(), other.asked())
}

func (p Proposal) asked() Spec {
	s := p.Spec
	s.Expires, s.About, s.Columns = "", About{}, slices.Clone(s.Columns)
	for i := range s.Columns {
		s.Columns[i].Measure, s.Columns[i].Range = "", nil
	}
	return s
}

// AgainText warns of a study that asks what a completed one asked.
func (p *Plan) AgainText(completed Digest) string {
	return fmt.Sprintf("study %.12s asked the same and is completed: its result is there for nothing, and this study charges ρ = %.6g (ε = %g) again to whoever is in the rows",
		completed.String(), p.Rho, p.Proposal.Spec.Epsilon)
}

// Done says in words what found the components.
func (r *Result) Done() string {
	steps := 0
	for _, rel := range r.Releases {
		if rel.Kind == KindPower {
			steps++
		}
	}
	return DoneText(r.Method, steps)
}

// DoneText says what so many power rounds and, with the covariance's method, one covariance are.
func DoneText(method string, steps int) string {
	rounds := fmt.Sprintf("%d rounds", steps)
	if steps == 1 {
		rounds = "1 round"
	}
	switch {
	case method != MethodCovariance:
		return rounds
	case steps > 0:
		return rounds + " to decide and one covariance"
	default:
		return "one covariance"
	}
}
