package study

import (
	"crypto/ed25519"
	"math/rand/v2"
	"testing"

	"covey/internal/proposal"
	"covey/test/texts"
)

// TestTrialIsInOrder: whatever a study asks, what is made up for it is an ask of that query.
// Seeded.
func TestTrialIsInOrder(t *testing.T) {
	seen := map[Kind]int{}
	check := func(name string, p *Plan) {
		for i, q := range p.Queries {
			a, err := p.Trial(i)
			if err == nil {
				err = p.Check(a)
			}
			if err != nil || a.Query != i {
				t.Errorf("%s, query %d, %s of %q: %v", name, i, q.Kind, q.Of, err)
			}
			seen[q.Kind]++
		}
		if _, err := p.Trial(len(p.Queries)); err == nil {
			t.Error("a query that is not there has a trial")
		}
	}
	for name, text := range texts.Studies {
		check(name, mustPlan(t, text, 1000, 2000, 3000, 4000))
	}
	check("leveled", mustPlan(t, texts.Leveled, 1000, 2000, 3000, 4000))
	check("mixed", mustPlan(t, texts.Mixed, 1000, 2000, 3000, 4000))
	check("pictured", mustPlan(t, texts.Pictured, 1000, 2000, 3000, 4000))
	rng := rand.New(rand.NewPCG(41, 42))
	for range 200 {
		body, err := proposal.Propose(anySpec(rng), anyRoster(rng), texts.Signer.Public().(ed25519.PublicKey), [32]byte{1})
		if err != nil {
			continue
		}
		if p, err := NewPlan(body); err == nil {
			check(p.Proposal.Spec.Name, p)
		}
	}
	for _, k := range []Kind{KindPower, KindMoment, KindMean, KindHistogram, KindTree, KindPicture, KindFilled, KindVariance} {
		if seen[k] == 0 {
			t.Errorf("no query was of kind %s", k)
		}
	}
}
