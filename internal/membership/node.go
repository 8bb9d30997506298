package membership

import (
	"fmt"
	"time"

	"covey/internal/proposal"
)

// Node is a coordinator that may enter, and where agents reach it.
type Node struct {
	ID string `json:"id"`
	// of its sites' port, host:port; none before it entered
	Addresses []string `json:"addresses,omitempty"`
	// Key is its own among coordinators (pki.Authority.NodeKey): a caller that shows none of these
	// keys is not a coordinator.
	Key proposal.Key `json:"key,omitempty"`
}

// SpendEntry uses a new coordinator's token up, before it is given the keys.
type SpendEntry struct {
	Token string    `json:"token"` // hash, hex
	Node  string    `json:"node"`
	Now   time.Time `json:"now"`
}

// ForgetEntry shuts a coordinator out: its key, its unused join files and its addresses in new
// ones.
type ForgetEntry struct {
	Node string `json:"node"`
}

// Regroup records where a coordinator is reached, and its key where the entry has one.
func (s *State) Regroup(n Node) {
	old := s.Nodes[n.ID]
	if len(n.Key) == 0 {
		n.Key = old.Key
	}
	if len(n.Addresses) == 0 {
		n.Addresses = old.Addresses
	}
	s.Nodes[n.ID] = n
	s.Changes++
}

// Forget shuts a coordinator out.
func (s *State) Forget(e ForgetEntry) {
	s.Withdraw(RoleNode, e.Node)
	delete(s.Nodes, e.Node)
	s.Changes++
}

// MaySpend checks a spending.
func (s *State) MaySpend(e SpendEntry) error {
	invite, ok := s.Invites[e.Token]
	switch {
	case !ok:
		return &JoinError{Reason: "this join file was already used, or was never given out here"}
	case invite.Node != e.Node || e.Node == "":
		return &JoinError{Reason: "this join file is for another"}
	case e.Now.After(invite.Expires):
		return &JoinError{Reason: fmt.Sprintf("this join file expired on %s", invite.Expires.UTC().Format(time.RFC3339))}
	}
	return nil
}

// Spend uses a token up for good: a reply that is lost after it needs a new join
// file, since the first one could otherwise buy the keys a second time.
func (s *State) Spend(e SpendEntry) error {
	if err := s.MaySpend(e); err != nil {
		return err
	}
	delete(s.Invites, e.Token)
	// known from here on, until it is removed; its key is the next entry
	s.Nodes[e.Node] = Node{ID: e.Node}
	s.Changes++
	return nil
}
