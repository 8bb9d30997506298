package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"covey/internal/pki"
)

// Who may connect to the coordinators' port, and be connected to, is in the log: each coordinator's
// key. A log that is read again from its beginning, or lags, has a list of the past, or none; so
// the last list is kept in a file, and one that is out of touch asks those whom it knows for
// theirs. Of several lists the one with the highest version is the latest.

// members are the lists beside the log's.
type members struct {
	dir  string
	mu   sync.Mutex
	kept pki.Members // as in the file
	// heard are other members' lists, by address, in memory alone. Each lets keys in beside this
	// coordinator's own list and shuts none out, is told to nobody, and is forgotten once a leader
	// of the own list is known: who told it may have been removed.
	heard map[string]pki.Members
}

// askMembers is how often a coordinator that knows no leader asks the others who the members are.
const askMembers = time.Second

// newest returns the latest list that this coordinator had from the log.
func (n *Node) newest() pki.Members {
	latest := n.Coordinator.Members()
	n.members.mu.Lock()
	defer n.members.mu.Unlock()
	if n.members.kept.Version > latest.Version {
		return n.members.kept
	}
	return latest
}

// isMember reports whether a key is a coordinator's that may connect.
func (n *Node) isMember(key ed25519.PublicKey) bool {
	if n.newest().Known(key) {
		return true
	}
	n.members.mu.Lock()
	defer n.members.mu.Unlock()
	for _, m := range n.members.heard {
		if m.Known(key) {
			return true
		}
	}
	return false
}

// regroup keeps the log's list, and ends the connections of coordinators that are not in it.
func (n *Node) regroup() {
	m := n.Coordinator.Members()
	n.members.mu.Lock()
	if m.Version > n.members.kept.Version {
		n.members.kept = m
		if err := pki.SaveMembers(n.members.dir, m); err != nil {
			n.log.Error("the list of coordinators cannot be saved; after a restart this one may not find the others", "error", err)
		}
	}
	n.members.mu.Unlock()
	if n.port != nil {
		n.port.Recheck()
	}
}

// followMembers runs beside everything else.
func (n *Node) followMembers(ctx context.Context) {
	for {
		select {
		case <-n.Coordinator.Regrouped():
			n.regroup()
		case <-ctx.Done():
			return
		}
	}
}

// hearMembers asks the others for their lists while no leader is known: the leader may be one that
// joined while this coordinator was away, whom it does not let in. It runs beside everything else.
func (n *Node) hearMembers(ctx context.Context) {
	tick := time.NewTicker(askMembers)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if leader := n.replica.LeaderID(); leader != "" {
			if n.newest().Keys[leader] != nil { // the log has come as far as who leads
				n.unhear()
			}
			continue
		}
		for _, address := range n.others() {
			n.hear(ctx, address)
		}
	}
}

// hear takes another coordinator's list, if it is later than the one here.
func (n *Node) hear(ctx context.Context, address string) {
	ctx, cancel := context.WithTimeout(ctx, 2*askMembers)
	defer cancel()
	var m pki.Members
	raw, err := n.ask(ctx, address, "/v1/raft/members", "")
	if err != nil || json.Unmarshal(raw, &m) != nil || m.Version <= n.newest().Version {
		return
	}
	n.members.mu.Lock()
	old, again := n.members.heard[address]
	if n.members.heard == nil {
		n.members.heard = map[string]pki.Members{}
	}
	n.members.heard[address] = m
	n.members.mu.Unlock()
	if !again || old.Version != m.Version {
		n.log.Info("the list of coordinators was learned from another coordinator", "address", address, "version", m.Version)
	}
	n.port.Recheck()
}

// unhear forgets what others told, and ends the connections that were let in by it alone.
func (n *Node) unhear() {
	n.members.mu.Lock()
	told := len(n.members.heard)
	n.members.heard = nil
	n.members.mu.Unlock()
	if told > 0 {
		n.port.Recheck()
	}
}

// others are the peer addresses of other coordinators.
func (n *Node) others() []string {
	out := slices.Clone(n.Config.Peers)
	peers, _ := n.replica.Peers() // none while the process ends
	for _, p := range peers {
		if p.ID != n.Config.Name && !slices.Contains(out, p.Address) {
			out = append(out, p.Address)
		}
	}
	return out
}
