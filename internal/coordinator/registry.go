package coordinator

import (
	"time"

	"covey/internal/membership"
	"covey/internal/pki"
)

// registry is who may connect: sites, coordinators, and the CAs that vouch for them.
type registry struct{ *core }

// Addresses returns the sites' addresses of all coordinators, self's first.
func (c registry) Addresses(self string) []string {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.who.Addresses(self)
}

// Knows reports whether a coordinator was given the keys and not removed since.
func (c registry) Knows(id string) bool {
	m := c.machine.lock()
	defer c.machine.unlock()
	_, ok := m.who.Nodes[id]
	return ok
}

// Members returns the coordinators that may connect to each other, as far as the log is applied
// here.
func (c registry) Members() pki.Members {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.who.Members()
}

// Regrouped delivers when the coordinators have changed; several changes may be one delivery, and
// there should be one reader.
func (c registry) Regrouped() <-chan struct{} {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.regrouped
}

// Expected returns the coordinators that are not known by an address yet (membership.State).
func (c registry) Expected() (given []string, invited []membership.Invite) {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.who.Expected()
}

// PutNode records where agents reach a coordinator, and its key, if that is new. What is empty
// stays as it was.
func (c registry) PutNode(n membership.Node) error {
	m := c.machine.lock()
	known := m.who.Knows(n)
	c.machine.unlock()
	if known {
		return nil
	}
	return c.apply(entry{Node: &n})
}

// ForgetNode shuts a coordinator out that was removed, and withdraws its unused join files.
func (c registry) ForgetNode(id string) error {
	return c.apply(entry{Forget: &membership.ForgetEntry{Node: id}})
}

// InviteNode makes a new coordinator's join file and records its token's hash. peers
// are the addresses of the coordinators' peer ports.
func (c registry) InviteNode(id string, peers []string, valid time.Duration) (pki.Join, error) {
	if err := pki.ValidName(id); err != nil {
		return pki.Join{}, err
	}
	if err := membership.CheckValid(valid); err != nil {
		return pki.Join{}, err
	}
	return c.giveOut(membership.Invite{Node: id}, peers, valid)
}

// AdmitNode spends a new coordinator's token and gives it the federation's keys.
func (c registry) AdmitNode(token []byte, id string) (pki.Estate, error) {
	t, err := pki.TokenFrom(token)
	if err != nil {
		return pki.Estate{}, &membership.JoinError{Reason: "the token is malformed"}
	}
	if pki.ValidName(id) != nil {
		return pki.Estate{}, &membership.JoinError{Reason: "the coordinator's name is not valid"}
	}
	if !c.Leading() {
		return pki.Estate{}, ErrNotLeader
	}
	// Before anything is written: who has no token could fill the log otherwise.
	attempt := membership.SpendEntry{Token: tokenKey(t.Hash()), Node: id, Now: c.now()}
	if err := c.machine.spendable(attempt); err != nil {
		return pki.Estate{}, err
	}
	if err := c.apply(entry{Spend: &attempt}); err != nil {
		return pki.Estate{}, err
	}
	c.log.Info("a new coordinator got the federation's keys", "node", id)
	return c.authority.Estate(), nil
}
