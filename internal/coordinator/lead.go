package coordinator

import (
	"context"
	"time"
)

// Replica is a log that several coordinators share. internal/replica implements it.
type Replica interface {
	Log
	// Barrier returns once everything committed is applied to the Machine here.
	Barrier(ctx context.Context) error
	// LeaderCh delivers true when this node begins to lead and false when it stops;
	// only the latest change is kept.
	LeaderCh() <-chan bool
	// LeaderID returns the node that leads, as far as this one knows; "" for none.
	LeaderID() string
}

// retryLead is the pause before a lead that could not begin is begun again. A lead that is being
// given away refuses the barrier, and may be kept: the replica then says nothing more.
const retryLead = time.Second

// Serve leads while the replica says so, until ctx ends. An error means that this
// node cannot lead, and the process must end.
func (c *Coordinator) Serve(ctx context.Context, r Replica) error {
	m := c.machine.lock()
	m.replica = r
	led := m.leading // since before, by a node that is alone
	c.machine.unlock()
	var again <-chan time.Time // until the replica says that the lead is lost
	for {
		select {
		case leads := <-r.LeaderCh():
			again = nil
			if leads && led {
				led = false
				continue
			}
			// "true" twice is a lead that was lost and won again in between.
			c.Follow()
			if !leads {
				c.log.Info("this coordinator follows", "leader", r.LeaderID())
				continue
			}
		case <-again:
		case <-ctx.Done():
			c.Follow()
			return nil
		}
		if err := r.Barrier(ctx); err != nil {
			c.log.Warn("leading could not begin; retrying while this coordinator is the leader", "error", err)
			again = time.After(retryLead)
			continue
		}
		again = nil
		if err := c.Lead(r); err != nil {
			return err
		}
		c.log.Info("this coordinator leads")
	}
}

// leaderAddresses returns the sites' addresses of the node that leads, if known.
func (c *Coordinator) leaderAddresses() []string {
	m := c.machine.lock()
	defer c.machine.unlock()
	if m.replica == nil || m.leading {
		return nil
	}
	return m.who.Nodes[m.replica.LeaderID()].Addresses
}
