package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	// LeaderID returns the node that leads, as far as this one knows; "" for none.
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

// leaderAddresses returns the sites' addresses of the node that leads, if known.
func (c *Coordinator) leaderAddresses() []string {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	if c.replica == nil || c.leading {
		return nil
	}
	return c.machine.nodes[c.replica.LeaderID()].Addresses
}

// Addresses returns the sites' addresses of all coordinators, self's first.
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

// Knows reports whether a coordinator was given the keys and not removed since.
func (c *Coordinator) Knows(id string) bool {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	_, ok := c.machine.nodes[id]
	return ok
}

// Members returns the coordinators that may connect to each other, as far as the log is applied
// here.
func (c *Coordinator) Members() pki.Members {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	m := pki.Members{Version: c.machine.changes, Keys: map[string][]byte{}}
	for id, n := range c.machine.nodes {
		if len(n.Key) > 0 {
			m.Keys[id] = n.Key
		}
	}
	return m
}

// Regrouped delivers when the coordinators have changed; several changes may be one delivery, and
// there should be one reader.
func (c *Coordinator) Regrouped() <-chan struct{} { return c.machine.regrouped }

// Expected returns the coordinators that are not known by an address yet: those that were given the
// keys, and the ends of the unused join files.
func (c *Coordinator) Expected() (given []string, invited []Invite) {
	c.machine.mu.Lock()
	defer c.machine.mu.Unlock()
	for id, n := range c.machine.nodes {
		if len(n.Addresses) == 0 {
			given = append(given, id)
		}
	}
	for _, i := range c.machine.invites {
		if i.Node != "" {
			invited = append(invited, i)
		}
	}
	slices.Sort(given)
	slices.SortFunc(invited, func(a, b Invite) int { return strings.Compare(a.Node, b.Node) })
	return given, invited
}

// PutNode records where agents reach a coordinator, and its key, if that is new. What is empty
// stays as it was.
func (c *Coordinator) PutNode(n Node) error {
	c.machine.mu.Lock()
	old, ok := c.machine.nodes[n.ID]
	c.machine.mu.Unlock()
	if ok && (len(n.Addresses) == 0 || slices.Equal(old.Addresses, n.Addresses)) && (len(n.Key) == 0 || bytes.Equal(old.Key, n.Key)) {
		return nil
	}
	return c.apply(entry{Node: &n})
}

// ForgetNode shuts a coordinator out that was removed, and withdraws its unused join files.
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
	if pki.ValidName(id) != nil {
		return pki.Estate{}, &JoinError{"", "the coordinator's name is not a valid one"}
	}
	if !c.Leading() {
		return pki.Estate{}, ErrNotLeader
	}
	// Before anything is written: who has no token could fill the log otherwise.
	attempt := spendEntry{Token: tokenKey(t.Hash()), Node: id, Now: c.now()}
	if err := c.machine.spendable(attempt); err != nil {
		return pki.Estate{}, err
	}
	if err := c.apply(entry{Spend: &attempt}); err != nil {
		return pki.Estate{}, err
	}
	c.log.Info("a new coordinator got the federation's keys", "node", id)
	return c.authority.Estate(), nil
}
