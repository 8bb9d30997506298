package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"time"

	"covey/internal/coordinator"
	"covey/internal/replica"
	"covey/internal/study"
)

// PeersReply is the cluster as this coordinator knows it.
type PeersReply struct {
	Self   string         `json:"self"`
	Leader string         `json:"leader"` // "" for none
	Peers  []replica.Peer `json:"peers"`
}

// AddRequest asks for a new coordinator's join file.
type AddRequest struct {
	Name  string         `json:"name"`
	Valid study.Duration `json:"valid"`
}

// maxRequest bounds a request's body here.
const maxRequest = 1 << 20

// operatorHandler serves the operator's socket: what concerns this coordinator
// alone here, everything else at the leader.
func (n *Node) operatorHandler(forward *forwarder) http.Handler {
	leading := n.leaderHandler()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/raft/peers", func(w http.ResponseWriter, _ *http.Request) {
		peers, err := n.replica.Peers()
		coordinator.Reply(w, PeersReply{Self: n.Config.Name, Leader: n.replica.LeaderID(), Peers: peers}, err)
	})
	mux.HandleFunc("POST /v1/raft/snapshot", func(w http.ResponseWriter, _ *http.Request) {
		coordinator.Reply(w, struct{}{}, n.replica.Snapshot())
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if n.port == nil || n.Leading() {
			leading.ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	})
	return mux
}

// leaderHandler is what only the leader can do.
func (n *Node) leaderHandler() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/raft/add", func(w http.ResponseWriter, r *http.Request) {
		var q AddRequest
		if err := decode(r, &q); err != nil {
			coordinator.Reply(w, nil, err)
			return
		}
		text, err := n.AddNode(q.Name, time.Duration(q.Valid))
		if err != nil {
			coordinator.Reply(w, nil, err)
			return
		}
		w.Write(text)
	})
	mux.HandleFunc("POST /v1/raft/remove/{id}", func(w http.ResponseWriter, r *http.Request) {
		coordinator.Reply(w, struct{}{}, named(n.remove(r.Context(), r.PathValue("id"))))
	})
	mux.HandleFunc("POST /v1/raft/transfer", func(w http.ResponseWriter, r *http.Request) {
		coordinator.Reply(w, struct{}{}, named(n.replica.Transfer(r.Context(), r.URL.Query().Get("to"))))
	})
	n.caHandler(mux)
	mux.Handle("/", n.Operator(n.joinAddresses))
	return mux
}

// named makes a name that no coordinator has the request's fault.
func named(err error) error {
	if p, ok := errors.AsType[*replica.PeerError](err); ok {
		return &coordinator.JoinError{Reason: fmt.Sprintf("no node %.80q in the cluster: `coordinator raft peers` lists them", p.ID)}
	}
	return err
}

// peerHandler serves other coordinators: operators' requests that they pass on,
// and their own coming in. A node that does not lead says so rather than pass it on
// again.
func (n *Node) peerHandler() http.Handler {
	leading := n.leaderHandler()
	leading.HandleFunc("POST /v1/raft/enter", func(w http.ResponseWriter, r *http.Request) {
		var m member
		if err := decode(r, &m); err != nil {
			coordinator.Reply(w, nil, err)
			return
		}
		coordinator.Reply(w, struct{}{}, n.admit(r.Context(), m))
	})
	mux := http.NewServeMux()
	n.caPeerHandler(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !n.Leading() {
			coordinator.Reply(w, nil, coordinator.ErrNotLeader)
			return
		}
		leading.ServeHTTP(w, r)
	})
	return mux
}

// joinAddresses go into sites' join files: this coordinator's, then the others'.
func (n *Node) joinAddresses() []string {
	if all := n.Addresses(n.Config.Name); len(all) > 0 {
		return all
	}
	return n.Config.Addresses
}

func decode(r *http.Request, into any) error {
	if err := json.NewDecoder(io.LimitReader(r.Body, maxRequest)).Decode(into); err != nil {
		return &coordinator.JoinError{Reason: "the request is not JSON"}
	}
	return nil
}

// AddNode makes a new coordinator's join file; the leader alone can.
func (n *Node) AddNode(name string, valid time.Duration) ([]byte, error) {
	if n.port == nil {
		return nil, &coordinator.JoinError{Reason: "this coordinator has no peer port: set peer_listen and peer_address in " + ConfigFile + " and restart it"}
	}
	peers, err := n.replica.Peers()
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, p := range peers {
		if p.ID == name {
			return nil, &coordinator.JoinError{Reason: "a coordinator of that name is in the cluster; remove it first"}
		}
		addresses = append(addresses, p.Address)
	}
	join, err := n.InviteNode(name, addresses, valid)
	if err != nil {
		return nil, err
	}
	return join.Marshal()
}

// remove takes a coordinator out. The leader must give the lead away first: it would
// stop in the middle of what it does.
func (n *Node) remove(ctx context.Context, id string) error {
	if id == n.Config.Name {
		return &coordinator.JoinError{Reason: "this coordinator leads: `coordinator raft transfer` first"}
	}
	peers, err := n.replica.Peers()
	if err != nil {
		return err
	}
	for _, p := range peers {
		if p.ID == id {
			// First out of those that may enter, or it could come in again between.
			if err := n.ForgetNode(id); err != nil {
				return err
			}
			return n.replica.Remove(ctx, id)
		}
	}
	return &replica.PeerError{ID: id}
}

// forwarder passes requests on to the leader.
type forwarder struct {
	n         *Node
	transport *http.Transport
	proxy     *httputil.ReverseProxy
}

func (n *Node) forwarder() *forwarder {
	f := &forwarder{n: n, transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return n.port.DialOperator(ctx, address)
		},
		// One leader at a time, and a watch may be long.
		MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second,
	}}
	f.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Context().Value(leaderKey{}).(string)
		},
		Transport:     f.transport,
		FlushInterval: -1, // a watch is read as it comes
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			n.log.Warn("the leader was not reached", "error", err)
			at, _ := errors.AsType[*net.OpError](err)
			if r.Method == http.MethodGet || at != nil && at.Op == "dial" {
				coordinator.Reply(w, nil, coordinator.ErrNotLeader) // nothing was done: the same may be asked again
				return
			}
			coordinator.Reply(w, nil, fmt.Errorf("%w; whether it took the request is not known: look before you repeat it", coordinator.ErrNotLeader))
		},
	}
	return f
}

// leaderKey is of a request's context: the leader that it is passed on to.
type leaderKey struct{}

func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	leader := f.n.leaderPeer()
	if leader == "" {
		coordinator.Reply(w, nil, coordinator.ErrNotLeader)
		return
	}
	ctx, cancel := context.WithCancel(context.WithValue(r.Context(), leaderKey{}, leader))
	defer cancel()
	go func() {
		f.whileLeads(ctx, leader)
		cancel()
	}()
	f.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// lookAgain is how often whoever waits for a leader's answer looks whether it leads still.
const lookAgain = time.Second

// whileLeads returns when ctx ends, or when two looks in a row find that another leads, or none: one that is
// frozen, or behind a dead network, ends no connection.
func (f *forwarder) whileLeads(ctx context.Context, leader string) {
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for missed := 0; missed < 2; {
		select {
		case <-tick.C:
			missed++
			if f.n.leaderPeer() == leader {
				missed = 0
			}
		case <-ctx.Done():
			return
		}
	}
}

func (f *forwarder) close() { f.transport.CloseIdleConnections() }

// leaderPeer gives the peer address of another node that leads, "" for none.
func (n *Node) leaderPeer() string {
	peers, err := n.replica.Peers()
	if err != nil {
		return ""
	}
	for _, p := range peers {
		if p.Leader && p.ID != n.Config.Name {
			return p.Address
		}
	}
	return ""
}

// joinerHandler serves a new coordinator, which has shown no certificate but knows a
// token.
func (n *Node) joinerHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/raft/join", func(w http.ResponseWriter, r *http.Request) {
		var q joinRequest
		if err := decode(r, &q); err != nil {
			coordinator.Reply(w, nil, err)
			return
		}
		estate, err := n.AdmitNode(q.Token, q.Name)
		if err != nil {
			coordinator.Reply(w, nil, err)
			return
		}
		raw, err := estate.Bytes()
		if err != nil {
			coordinator.Reply(w, nil, err)
			return
		}
		w.Write(raw)
	})
	return mux
}

type joinRequest struct {
	Token []byte `json:"token"`
	Name  string `json:"name"`
}
