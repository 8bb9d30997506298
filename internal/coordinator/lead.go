package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"covey/internal/pki"
)

// Replica is a log that several coordinators share. internal/replica implements it.
type Replica interface {
	Log
	// Barrier returns once everything committed is applied to the Machine here.
	Barrier(ctx context.Context) error
	// LeaderCh delivers true when this node begins to lead and false when it stops;
	// only the latest change is kept.
	LeaderCh() <-chan bool
	// LeaderID gives the node that leads, as far as this one knows; "" for none.
	LeaderID() string
}

// Serve leads while the replica says so, until ctx ends. An error means that this
// node cannot lead, and the process must end.
func (c *Coordinator) Serve(ctx context.Context, r Replica) error {
	c.machine.mu.Lock()
	c.replica = r
	led := c.leading // since before, by a node that is alone
	c.machine.mu.Unlock()
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

// leaderAddresses gives the sites' addresses of the node that leads, if known.
func (c *Coordinator) leaderAddresses() []string {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	if c.replica == nil || c.leading {
		return nil
	}
	return c.machine.nodes[c.replica.LeaderID()].Addresses
}

// Addresses gives the sites' addresses of all coordinators, self's first.
func (c *Coordinator) Addresses(self string) []string {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	out := slices.Clone(c.machine.nodes[self].Addresses)
	for _, id := range slices.Sorted(maps.Keys(c.machine.nodes)) {
		if id != self {
			out = append(out, c.machine.nodes[id].Addresses...)
		}
	}
	return out
}

// Knows says whether a coordinator was given the keys and not removed since.
func (c *Coordinator) Knows(id string) bool {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	_, ok := c.machine.nodes[id]
	return ok
}

// PutNode records where agents reach a coordinator, if that is new.
func (c *Coordinator) PutNode(n Node) error {
	c.machine.mu.Lock()
	old, ok := c.machine.nodes[n.ID]
	c.machine.mu.Unlock()
	if ok && slices.Equal(old.Addresses, n.Addresses) {
		return nil
	}
	return c.apply(entry{Node: &n})
}

// ForgetNode takes a coordinator that was removed out of those that may enter.
func (c *Coordinator) ForgetNode(id string) error {
	return c.apply(entry{Forget: &forgetEntry{Node: id}})
}

// InviteNode makes a new coordinator's join file and records its token's hash. peers
// are the addresses of the coordinators' peer ports.
func (c *Coordinator) InviteNode(id string, peers []string, valid time.Duration) (pki.Join, error) {
	if err := pki.ValidName(id); err != nil {
		return pki.Join{}, err
	}
	if valid <= 0 || valid > MaxInvite {
		return pki.Join{}, &JoinError{"", fmt.Sprintf("a join file is valid for more than 0 and at most %v, not %v", MaxInvite, valid)}
	}
	token, err := pki.NewToken()
	if err != nil {
		return pki.Join{}, err
	}
	expires := c.now().Add(valid).UTC().Truncate(time.Second)
	if err := c.apply(entry{Invite: &inviteEntry{Token: tokenKey(token.Hash()), Invite: Invite{Node: id, Expires: expires}}}); err != nil {
		return pki.Join{}, err
	}
	return pki.Join{Coordinator: peers, Fingerprint: c.authority.Fingerprint(), Token: token, Node: id, Expires: expires}, nil
}

// AdmitNode spends a new coordinator's token and gives it the federation's keys.
func (c *Coordinator) AdmitNode(token []byte, id string) (pki.Estate, error) {
	t, err := pki.TokenFrom(token)
	if err != nil {
		return pki.Estate{}, &JoinError{"", "the token is not a token"}
	}
	if err := c.apply(entry{Spend: &spendEntry{Token: tokenKey(t.Hash()), Node: id, Now: c.now()}}); err != nil {
		return pki.Estate{}, err
	}
	c.log.Info("a new coordinator got the federation's keys", "node", id)
	return c.authority.Estate(), nil
}
