package agent

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestLeftToAPersonAfterTheRowsWereRead: of two proposals of one key, of which max_epsilon_total
// has room for one, the other is left to the operator when its rows are read already. How long that
// took does not show: that it waits is said on the minute, too.
func TestLeftToAPersonAfterTheRowsWereRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ada, print := analystKey(1)
		c := newStandIn(t, 3, fmt.Sprintf("%sanalysts = { ada = { key = %q, max_epsilon_total = 1.1 } }\n", autoPolicy, print), nil)
		s := c.sites[0]
		slow, id := c.offerBy("ada", ada, 1, func(s *proposal.Spec) { s.Epsilon = 0.5 })
		quick, other := c.offerBy("ada", ada, 2, func(s *proposal.Spec) { s.Name, s.Epsilon = "another", 1 })
		posted := openMail(s)
		// At the look at the clock of the slow one's approval the other is proposed and approved.
		looks := 0
		s.agent.now = func() time.Time {
			if looks++; looks == 2 {
				if said := s.ask(quick); said != nil {
					t.Errorf("answered %+v", said)
				}
				time.Sleep(7 * time.Second) // of reading
			}
			return testNow
		}
		said := s.ask(slow)
		if _, ok := s.agent.ledger.Approved(other); !ok || !s.agent.pending.Has(id) {
			t.Fatalf("after %d looks the quick one is approved: %v, the slow one waits: %v", looks, ok, s.agent.pending.Has(id))
		}
		if said != nil {
			t.Errorf("at once: %+v", said)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(posted.said) != 2 || posted.said[0].Study == posted.said[1].Study || max(posted.after[0], posted.after[1]) != time.Minute {
			t.Fatalf("%+v after %v", posted.said, posted.after)
		}
		for _, d := range posted.said {
			if want := map[proposal.Digest]study.Verdict{id: study.VerdictPending, other: study.VerdictApproved}[d.Study]; d.Verdict != want {
				t.Errorf("%+v; want %s", d, want)
			}
		}
		if d, ok := s.ask(slow).(wire.Decision); !ok || d.Verdict != study.VerdictPending {
			t.Errorf("asked again: %+v", d)
		}
	})
}
