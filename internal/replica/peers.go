package replica

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/hashicorp/raft"
)

// Stream is the connections between nodes: it accepts those of others and dials
// an address as the cluster's configuration has it. Who the other end is, the Stream
// must make sure: whoever it lets in is believed.
type Stream interface {
	net.Listener
	Dial(address string, timeout time.Duration) (net.Conn, error)
}

// layer adapts a Stream to raft.
type layer struct{ Stream }

func (l layer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return l.Stream.Dial(string(address), timeout)
}

const (
	peerPool    = 3 // connections kept to each node
	peerTimeout = 10 * time.Second
)

// transport is over the network if there is a Stream, else in memory: a cluster
// of one sends nothing.
func transport(opts Options, id raft.ServerID) (raft.ServerAddress, raft.Transport) {
	if opts.Stream == nil {
		return raft.NewInmemTransport(raft.ServerAddress(id))
	}
	t := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: layer{opts.Stream}, MaxPool: peerPool, Timeout: cmp.Or(opts.PeerTimeout, peerTimeout), Logger: newBridge(opts.Logger),
		// No pipelining. When the reader of a pipeline's answers has ended (a follower
		// refused an entry), raft's sender can wait forever for a place in it, a
		// follower then hears heartbeats and no entries, and Shutdown waits for the
		// sender (hashicorp/raft issue 612; the simulation found it, too). A study's
		// entries are few.
		MaxRPCsInFlight: 1,
	})
	return raft.ServerAddress(opts.Address), t
}

// Peer is one node of the cluster's configuration.
type Peer struct {
	ID      string `json:"id"`
	Address string `json:"address"` // of its peers' port
	Voter   bool   `json:"voter"`
	Leader  bool   `json:"leader"` // as far as this node knows
}

// Peers returns the latest configuration that this node knows, committed or not.
func (n *Node) Peers() ([]Peer, error) {
	f := n.raft.GetConfiguration()
	if err := f.Error(); err != nil {
		return nil, n.explain(err)
	}
	_, leader := n.raft.LeaderWithID()
	var out []Peer
	for _, s := range f.Configuration().Servers {
		out = append(out, Peer{ID: string(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter, Leader: s.ID == leader})
	}
	return out, nil
}

// LeaderID returns the node that leads as far as this one knows; "" for none.
func (n *Node) LeaderID() string {
	_, id := n.raft.LeaderWithID()
	return string(id)
}

// Heard returns when this node last heard from a leader, by this machine's clock; zero for never.
// Of the node that leads it means nothing.
func (n *Node) Heard() time.Time { return n.raft.LastContact() }

// silentFor is how long a node that this one leads must not have answered before the log says so: a
// restart takes less.
const silentFor = 5 * time.Second

// listen logs which nodes do not answer this one while it leads, once each, and which do again.
func (n *Node) listen(log *slog.Logger) {
	heard := make(chan raft.Observation, 64) // one that finds it full comes again
	o := raft.NewObserver(heard, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.FailedHeartbeatObservation, raft.ResumedHeartbeatObservation, raft.PeerObservation:
			return true
		}
		return false
	})
	n.raft.RegisterObserver(o)
	defer n.raft.DeregisterObserver(o)
	silent := map[raft.ServerID]bool{}
	for {
		select {
		case o := <-heard:
			switch o := o.Data.(type) {
			case raft.FailedHeartbeatObservation:
				if !silent[o.PeerID] && time.Since(o.LastContact) > silentFor {
					silent[o.PeerID] = true
					log.Warn("a coordinator does not answer this one, which leads; if it stays away, `coordinator raft peers` says how many more may fail", "coordinator", o.PeerID, "heard", o.LastContact)
				}
			case raft.ResumedHeartbeatObservation:
				if silent[o.PeerID] {
					log.Info("a coordinator answers again", "coordinator", o.PeerID)
				}
				delete(silent, o.PeerID)
			case raft.PeerObservation: // it leads anew, or a node came or went
				delete(silent, o.Peer.ID)
			}
		case <-n.stopped:
			return
		}
	}
}

// Behind returns how many committed entries this node knows of and has not handed to its machine.
func (n *Node) Behind() int {
	applied := n.raft.AppliedIndex() // first: it only grows
	return int(max(n.raft.CommitIndex(), applied) - applied)
}

// Add makes a node a voter, or gives a member its new address. It returns once the
// change is committed under the old and the new rule. The node must be running:
// one that is not counts against the quorum all the same. Errors as Apply's.
func (n *Node) Add(ctx context.Context, id, address string) error {
	_, err := n.await(ctx, func() raft.Future {
		return n.raft.AddVoter(raft.ServerID(id), raft.ServerAddress(address), 0, 0)
	})
	return err
}

// Remove takes a node out of the cluster. Errors as Apply's.
func (n *Node) Remove(ctx context.Context, id string) error {
	_, err := n.await(ctx, func() raft.Future { return n.raft.RemoveServer(raft.ServerID(id), 0, 0) })
	return err
}

// Transfer hands the lead to another node that has caught up: to id, or to any if
// id is "". Errors as Apply's.
func (n *Node) Transfer(ctx context.Context, id string) error {
	if id == "" {
		_, err := n.await(ctx, func() raft.Future { return n.raft.LeadershipTransfer() })
		return err
	}
	peers, err := n.Peers()
	if err != nil {
		return err
	}
	for _, p := range peers {
		if p.ID == id {
			_, err := n.await(ctx, func() raft.Future {
				return n.raft.LeadershipTransferToServer(raft.ServerID(id), raft.ServerAddress(p.Address))
			})
			return err
		}
	}
	return &PeerError{ID: id}
}

// PeerError is a node that the cluster does not have.
type PeerError struct{ ID string }

func (e *PeerError) Error() string { return "replica: no node " + e.ID + " in the cluster" }
