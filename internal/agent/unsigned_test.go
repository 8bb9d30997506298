package agent

import (
	"crypto/ed25519"
	"fmt"
	"sync"
	"testing"

	"covey/internal/proposal"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// TestAttackManyUnsigned: AG-54. However little of the budget its proposals take, a coordinator has
// a policy approve only so many that nobody signed at a time, each of which holds the site's rows:
// the next waits for the operator, and the policy does not approve it later. One that is over makes
// room.
func TestAttackManyUnsigned(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	s := c.sites[0]
	s.agent.post = func(wire.Message) {}
	propose := func(i int) []byte {
		spec := c.plan.Proposal.Spec
		spec.Name, spec.Epsilon = fmt.Sprintf("tiny %d", i), 1e-9
		return must.Get(proposal.Propose(spec, c.plan.Proposal.Roster, c.key.Public().(ed25519.PublicKey), [32]byte{byte(i)}))(t)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	verdicts := map[study.Verdict]int{}
	const asked = 2 * siteconfig.MaxUnsigned
	for i := range asked {
		body := propose(i)
		all.Go(func() {
			d, _ := s.agent.handle(wire.Proposal{Body: body}).(wire.Decision)
			mu.Lock()
			defer mu.Unlock()
			verdicts[d.Verdict]++
		})
	}
	all.Wait()
	if verdicts[study.VerdictApproved] != siteconfig.MaxUnsigned || verdicts[study.VerdictPending] != asked-siteconfig.MaxUnsigned {
		t.Fatalf("%d proposals at once: %v", asked, verdicts)
	}
	open := s.agent.ledger.Active()
	if len(open) != siteconfig.MaxUnsigned {
		t.Errorf("%d are open", len(open))
	}
	// What is open is answered as before, and one more once there is room.
	one, _ := s.agent.ledger.Proposal(open[0].Study)
	if d := want[wire.Decision](s, wire.Proposal{Body: one}); d.Verdict != study.VerdictApproved {
		t.Errorf("one that is open: %+v", d)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: propose(asked)}); d.Verdict != study.VerdictPending {
		t.Errorf("one more: %+v", d)
	}
	s.ask(wire.Ended{Header: wire.Header{Study: open[0].Study}, Code: study.CodeAborted})
	if d := want[wire.Decision](s, wire.Proposal{Body: propose(asked + 1)}); d.Verdict != study.VerdictApproved {
		t.Errorf("after one is over: %+v", d)
	}
}
