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

// members are the lists next to the log's.
type members struct {
	n    *Node
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

// No leader is known for leaderless before the log says so, and again every stillLeaderless.
const (
	leaderless      = 10 * time.Second
	stillLeaderless = time.Hour
)

// newest returns the latest list that this coordinator had from the log.
func (m *members) newest() pki.Members {
	latest := m.n.Coordinator.Members()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept.Version > latest.Version {
		return m.kept
	}
	return latest
}

// has reports whether a key is a coordinator's that may connect.
func (m *members) has(key ed25519.PublicKey) bool {
	if m.newest().Known(key) {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, list := range m.heard {
		if list.Known(key) {
			return true
		}
	}
	return false
}

// keep keeps the log's list, and ends the connections of coordinators that are not in it.
func (m *members) keep() {
	list := m.n.Coordinator.Members()
	m.mu.Lock()
	if list.Version > m.kept.Version {
		m.kept = list
		if err := pki.SaveMembers(m.dir, list); err != nil {
			m.n.log.Error("the list of coordinators cannot be saved; after a restart this one may not find the others", "error", err)
		}
	}
	m.mu.Unlock()
	if m.n.port != nil {
		m.n.port.recheck()
	}
}

// follow runs beside everything else.
func (m *members) follow(ctx context.Context) {
	for {
		select {
		case <-m.n.Coordinator.Regrouped():
			m.keep()
		case <-ctx.Done():
			return
		}
	}
}

// ask asks the others for their lists while no leader is known: the leader may be one that
// joined while this coordinator was away, whom it does not let in. It runs on a goroutine of its
// own.
func (m *members) ask(ctx context.Context) {
	tick := time.NewTicker(askMembers)
	defer tick.Stop()
	say := time.Now().Add(leaderless)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if leader := m.n.replica.LeaderID(); leader != "" {
			if m.newest().Keys[leader] != nil { // the log has come as far as who leads
				m.unhear()
			}
			say = time.Now().Add(leaderless)
			continue
		}
		why := map[string]string{}
		for _, address := range m.n.others() {
			if err := m.hear(ctx, address); err != nil {
				why[address] = err.Error()
			}
		}
		if !time.Now().Before(say) && ctx.Err() == nil {
			m.n.log.Warn("no leader is known, and studies wait until most coordinators reach each other", "not_reached", why)
			say = time.Now().Add(stillLeaderless)
		}
	}
}

// hear takes another coordinator's list, if it is later than the one here. The error is of reaching
// it.
func (m *members) hear(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*askMembers)
	defer cancel()
	var list pki.Members
	raw, err := m.n.ask(ctx, address, "/v1/raft/members", "")
	if err != nil || json.Unmarshal(raw, &list) != nil || list.Version <= m.newest().Version {
		return err
	}
	m.mu.Lock()
	old, again := m.heard[address]
	if m.heard == nil {
		m.heard = map[string]pki.Members{}
	}
	m.heard[address] = list
	m.mu.Unlock()
	if !again || old.Version != list.Version {
		m.n.log.Info("the list of coordinators was learned from another coordinator", "address", address, "version", list.Version)
	}
	m.n.port.recheck()
	return nil
}

// unhear forgets the members of which other coordinators told, and ends connections admitted only
// because of them.
func (m *members) unhear() {
	m.mu.Lock()
	told := len(m.heard)
	m.heard = nil
	m.mu.Unlock()
	if told > 0 {
		m.n.port.recheck()
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
