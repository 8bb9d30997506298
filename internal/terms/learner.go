package terms

import (
	"fmt"

	"covey/internal/study"
)

// Learner is one who could learn something of a study, alone or with others.
type Learner struct {
	Who  string `json:"who"`
	What string `json:"what"`
}

const fullNoise = "all the noise that ε and δ need"

// Learners says who could learn what under which collusion, from the plan's thresholds
// (docs/threat-model.md derives them).
func Learners(p *study.Plan) []Learner {
	t, corrupt := p.Thresholds, p.Thresholds.Corrupt
	exact, noised, alone, apart := "the exact sum", "", "this site's exact sums", "this site's sums by themselves"
	if p.Honest > 0 {
		alone = "this site's sums with its own share of the noise, " + fullNoise
		// over all sites, where its part is the smallest
		if k := t.Sites - max(corrupt, 1); k > 1 {
			alone = fmt.Sprintf("this site's sums with its own share of the noise, 1/%d of the planned variance", k)
		}
		exact, noised, apart = "the sum", ", with "+fullNoise, alone
	}
	out := []Learner{{"analysts, other sites, anyone who reads the result", "what is released: sums with noise, and the number of units"}}
	if t.Sites == 2 {
		less := "the same noise"
		if p.Honest > 0 {
			less = fullNoise
		}
		out = append(out, Learner{"the other site", "the released sums less its own part: this site's sums with " + less})
	}
	if p.Honest == 0 {
		what := fmt.Sprintf("the exact sum over at least %d sites, once per query", t.MinSurvivors)
		if p.Proposal.Spec.CentralDetail {
			what += "; column by column, so that what one site alone has is that site's exact sum"
		}
		out = append(out, Learner{"the coordinator's leader", what})
	} else {
		out = append(out, Learner{"the coordinator's leader", fmt.Sprintf("the noised sum over at least %d sites, once per query", t.MinSurvivors)})
	}
	with := func(c int) string {
		if c == 1 {
			return "the leader and one other site"
		}
		return fmt.Sprintf("the leader and up to %d other sites", c)
	}
	if corrupt > 0 {
		what := fmt.Sprintf("%s over the %d or more sites that are not among them%s", exact, t.MinSurvivors-corrupt, noised)
		if t.Sparse() {
			what += ", except for the small chance that the plan states"
		}
		out = append(out, Learner{with(corrupt), what})
	}
	left := t.Sites - 1 // the others
	switch {
	case corrupt == 0 && t.Sites == 2:
		out = append(out, Learner{"the leader and the other site", alone})
	case corrupt == 0:
		out = append(out, Learner{"the leader and one other site", fmt.Sprintf("%s over the %d other sites%s", exact, t.MinSurvivors-1, noised)},
			Learner{fmt.Sprintf("the leader and all %d other sites", left), alone})
	default:
		out = append(out, Learner{fmt.Sprintf("the leader and more than %d other sites", corrupt), apart + ": that many are trusted not to collude"})
	}
	return append(out, Learner{"this machine's administrator", "this site's rows, as before"})
}
