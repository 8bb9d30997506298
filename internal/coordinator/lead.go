package coordinator

import "context"

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

// Serve leads while the replica says so, until ctx ends. An error means that this
// node cannot lead, and the process must end.
func (c *Coordinator) Serve(ctx context.Context, r Replica) error {
	m := c.machine.lock()
	m.replica = r
	led := m.leading // since before, by a node that is alone
	c.machine.unlock()
	for {
		select {
		case leads := <-r.LeaderCh():
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
			if err := r.Barrier(ctx); err != nil {
				c.log.Warn("the lead was lost before it began", "error", err)
				continue
			}
			if err := c.Lead(r); err != nil {
				return err
			}
			c.log.Info("this coordinator leads")
		case <-ctx.Done():
			c.Follow()
			return nil
		}
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
