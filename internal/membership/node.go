package membership

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"covey/internal/pki"
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

// Addresses returns the sites' addresses of all coordinators, self's first.
func (s *State) Addresses(self string) []string {
	out := slices.Clone(s.Nodes[self].Addresses)
	for _, id := range slices.Sorted(maps.Keys(s.Nodes)) {
		if id != self {
			out = append(out, s.Nodes[id].Addresses...)
		}
	}
	return out
}

// Members returns the coordinators that may connect to each other.
func (s *State) Members() pki.Members {
	out := pki.Members{Version: s.Changes, Keys: map[string][]byte{}}
	for id, n := range s.Nodes {
		if len(n.Key) > 0 {
			out.Keys[id] = n.Key
		}
	}
	return out
}

// Expected returns the coordinators that are not known by an address yet: those that were given the
// keys, and the ends of the unused join files.
func (s *State) Expected() (given []string, invited []Invite) {
	for id, n := range s.Nodes {
		if len(n.Addresses) == 0 {
			given = append(given, id)
		}
	}
	slices.Sort(given)
	return given, s.Invited(RoleNode)
}

// Knows reports whether all that is not empty in a node is in the state already.
func (s *State) Knows(n Node) bool {
	old, ok := s.Nodes[n.ID]
	return ok && (len(n.Addresses) == 0 || slices.Equal(old.Addresses, n.Addresses)) && (len(n.Key) == 0 || bytes.Equal(old.Key, n.Key))
}
