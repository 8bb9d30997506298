package agent

import (
	"strings"
	"testing"
)

// TestProgressIsTold: who reads an agent's log sees each round, until when the others are awaited,
// the noise and the charge, each once.
func TestProgressIsTold(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s := c.sites[0]
	ask := c.query(0, 0, c.plan.Start().X)
	u := c.everyone()
	final := c.release(ask, u, c.open(ask, u))
	c.tell(final)
	text := s.log.String()
	for _, part := range []string{"the other sites are awaited", "until=20", "a sum is released", "sites=3", "noise_to_signal=", "epsilon=1", "charged=0.3333 "} {
		if strings.Count(text, part) != 1 {
			t.Errorf("%q is told %d times:\n%s", part, strings.Count(text, part), text)
		}
	}
	if strings.Count(text, "query=0 queries=2 kind=power round=0 rounds=2") != 2 {
		t.Errorf("where it stands is not told:\n%s", text)
	}
}
