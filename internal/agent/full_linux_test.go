package agent

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"covey/internal/ledger"
	"covey/internal/wire"
	"covey/test/must"
)

// TestFullDiskRejectsNothing: a proposal that cannot be kept gets no verdict, as a rejection would
// end its study at all sites. The agent ends, and the next one is offered it again.
func TestFullDiskRejectsNothing(t *testing.T) {
	for name, pending := range map[string]string{
		"it can be listed":    "/proc/self/task", // where nobody makes a file
		"it cannot be listed": "/proc/self/exe",
	} {
		t.Run(name, func(t *testing.T) {
			c := newStandIn(t, 3, `approve = "ask"`, nil)
			s := c.sites[0]
			var ended error
			s.agent.stop = func(err error) { ended = err }
			path := filepath.Join(s.dir, "pending")
			must.Do(t, errors.Join(os.Remove(path), os.Symlink(pending, path)))
			if said := s.agent.handle(wire.Proposal{Body: c.body}); said != nil {
				t.Errorf("it says %+v", said)
			}
			if _, failed := errors.AsType[*ledger.StoreError](ended); !failed {
				t.Errorf("the agent ends with %v", ended)
			}
		})
	}
}
