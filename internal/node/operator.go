package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"time"

	"covey/internal/coordinator"
	"covey/internal/frame"
	"covey/internal/membership"
	"covey/internal/operator"
	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/replica"
)

// PeersReply is the cluster as this coordinator knows it.
type PeersReply struct {
	Self   string         `json:"self"`
	Leader string         `json:"leader"` // "" for none
	Peers  []replica.Peer `json:"peers"`
	// Reached are those that answered just now, this one included. MayFail is how many more may
	// fail before nothing goes on; -1 where most are already not reached.
	Reached []string `json:"reached"`
	MayFail int      `json:"may_fail"`
	// Why has what is wrong with each of Peers that did not answer or has another signing key.
	Why map[string]string `json:"why,omitempty"`
	// KeyExchanges has the key exchange of each open connection to another coordinator, by its
	// name.
	KeyExchanges map[string]pki.KeyExchange `json:"key_exchanges,omitempty"`
	// Given have the federation's keys and have not entered; Invited are unused join files. `raft
	// remove` shuts both out.
	Given   []string            `json:"given,omitempty"`
	Invited []membership.Invite `json:"invited,omitempty"`
}

// AddRequest asks for a new coordinator's join file.
type AddRequest struct {
	Name  string            `json:"name"`
	Valid proposal.Duration `json:"valid"`
}

const (
	// maxRequest bounds the body of an operator's or another coordinator's request.
	maxRequest = 1 << 20
	// maxJoin bounds the head and the body of a joiner's, who has shown no certificate.
	maxJoin = 4 << 10
)

// operatorHandler serves the operator's socket: what concerns this coordinator
// alone here, everything else at the leader.
func (n *Node) operatorHandler(forward *forwarder) http.Handler {
	leading := n.leaderHandler()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/raft/peers", operator.Answer(func(r *http.Request) (any, error) {
		peers, err := n.replica.Peers()
		given, invited := n.Coordinator.Expected()
		reply := PeersReply{Self: n.Config.Name, Leader: n.replica.LeaderID(), Peers: peers, Why: map[string]string{}, Given: given, Invited: invited}
		if n.port != nil {
			reply.KeyExchanges = n.port.keyExchanges()
		} else {
			for i := range peers {
				peers[i].Address = "" // in memory
			}
		}
		// Tried now, not as last seen: the person who asks may be about to stop a machine.
		tried := n.reach(r.Context())
		c := n.clusterWith(tried)
		reply.MayFail = c.Tolerates()
		for _, p := range c.Peers {
			if p.Reached {
				reply.Reached = append(reply.Reached, p.Name)
			}
			if err := tried[p.Name]; err != nil {
				reply.Why[p.Name] = frame.Printable(err.Error())
			}
		}
		return reply, err
	}))
	mux.HandleFunc("POST /v1/raft/snapshot", operator.Answer(func(*http.Request) (any, error) { return struct{}{}, n.replica.Snapshot() }))
	rest := func(w http.ResponseWriter, r *http.Request) {
		if n.port == nil || n.Coordinator.Leading() {
			leading.ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}
	mux.HandleFunc("POST /v1/raft/remove/{id}", func(w http.ResponseWriter, r *http.Request) {
		// the leader would hang up before it answered
		if r.PathValue("id") == n.Config.Name && !n.Coordinator.Leading() {
			operator.Reply(w, nil, &membership.JoinError{Reason: "a coordinator that is removed is shut out at once: ask another one to remove this one"})
			return
		}
		rest(w, r)
	})
	mux.HandleFunc("/", rest)
	return mux
}

// leaderHandler is what only the leader can do.
func (n *Node) leaderHandler() *http.ServeMux {
	mux := operator.Handler(n.Coordinator, n.joinAddresses)
	handle := func(pattern string, do func(*http.Request) (any, error)) {
		mux.HandleFunc(pattern, operator.Answer(do))
	}
	handle("POST /v1/raft/add", func(r *http.Request) (any, error) {
		var q AddRequest
		if err := operator.Decode(r, maxRequest, &q); err != nil {
			return nil, err
		}
		return n.AddNode(q.Name, time.Duration(q.Valid))
	})
	handle("POST /v1/raft/remove/{id}", func(r *http.Request) (any, error) {
		return struct{}{}, named(n.remove(r.Context(), r.PathValue("id")))
	})
	handle("POST /v1/raft/transfer", func(r *http.Request) (any, error) {
		if peers, err := n.replica.Peers(); err == nil && len(peers) == 1 {
			return nil, &membership.JoinError{Reason: "this coordinator is alone: no other can take the lead"}
		}
		return struct{}{}, named(n.replica.Transfer(r.Context(), r.URL.Query().Get("to")))
	})
	handle("POST /v1/page/invite", func(r *http.Request) (any, error) {
		var q PersonRequest
		if err := operator.Decode(r, maxRequest, &q); err != nil {
			return nil, err
		}
		reply, token, err := n.InvitePerson(q)
		return PersonSecret{reply, people.Text(token)}, err
	})
	handle("POST /v1/page/revoke", func(r *http.Request) (any, error) {
		var q PersonRequest
		if err := operator.Decode(r, maxRequest, &q); err != nil {
			return nil, err
		}
		return struct{}{}, n.Coordinator.RevokePerson(q.Name)
	})
	handle("GET /v1/page/people", func(*http.Request) (any, error) { return n.listPeople(), nil })
	handle("GET /v1/ca", func(r *http.Request) (any, error) { return n.rotation.state(r.Context()) })
	handle("POST /v1/ca/new", func(r *http.Request) (any, error) {
		if _, err := n.Coordinator.StartCA(); err != nil {
			return nil, err
		}
		if err := n.rotation.reconcile(r.Context()); err != nil {
			return nil, err
		}
		return n.rotation.state(r.Context())
	})
	handle("POST /v1/ca/retire", func(r *http.Request) (any, error) {
		cut, err := n.rotation.retire(r.Context(), r.URL.Query().Get("force") == "true")
		if err != nil {
			return nil, err
		}
		state, err := n.rotation.state(r.Context())
		return RetireReply{state, cut}, err
	})
	return mux
}

// named makes a name that no coordinator has the request's fault.
func named(err error) error {
	if p, ok := errors.AsType[*replica.PeerError](err); ok {
		return &membership.JoinError{Reason: fmt.Sprintf("no node %.80q in the cluster: `coordinator raft peers` lists them", p.ID)}
	}
	return err
}

// peerHandler serves other coordinators: operators' requests that they pass on,
// and their own coming in. A node that does not lead says so rather than pass it on
// again.
func (n *Node) peerHandler() http.Handler {
	leading := n.leaderHandler()
	leading.HandleFunc("POST /v1/raft/enter", operator.Answer(func(r *http.Request) (any, error) {
		var m member
		if err := operator.Decode(r, maxRequest, &m); err != nil {
			return nil, err
		}
		return struct{}{}, n.admit(r.Context(), m)
	}))
	mux := http.NewServeMux()
	handle := func(pattern string, do func(*http.Request) (any, error)) {
		mux.HandleFunc(pattern, operator.Answer(do))
	}
	handle("POST /v1/raft/members", func(*http.Request) (any, error) { return n.members.newest(), nil })
	// Other coordinators alone reach these, with certificates of the CA.
	handle("POST /v1/ca/key", func(r *http.Request) (any, error) {
		var fingerprint string
		if err := operator.Decode(r, maxRequest, &fingerprint); err != nil {
			return nil, err
		}
		key, held := n.authority.NextKey(fingerprint)
		if !held {
			return nil, &membership.CAError{Reason: "this coordinator does not hold that CA"}
		}
		return key, nil
	})
	handle("POST /v1/ca/held", func(*http.Request) (any, error) {
		present, next, _ := n.authority.Rotation()
		return heldReply{present, next, n.signing()}, nil
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !n.Coordinator.Leading() {
			operator.Reply(w, nil, coordinator.ErrNotLeader)
			return
		}
		leading.ServeHTTP(w, r)
	})
	return mux
}

// joinAddresses go into sites' join files: this coordinator's, then the others', each once.
func (n *Node) joinAddresses() []string {
	all := n.Coordinator.Addresses(n.Config.Name)
	if len(all) == 0 {
		all = n.Config.Addresses
	}
	var once []string
	for _, a := range all {
		if !slices.Contains(once, a) {
			once = append(once, a)
		}
	}
	return once
}

// AddNode makes a new coordinator's join file; the leader alone can.
func (n *Node) AddNode(name string, valid time.Duration) ([]byte, error) {
	if n.port == nil {
		return nil, &membership.JoinError{Reason: "this coordinator has no peer port: set peer_listen = \":PORT\" and peer_address = \"HOST:PORT\" in " + ConfigFile + " and restart it"}
	}
	peers, err := n.replica.Peers()
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, p := range peers {
		if p.ID == name {
			return nil, &membership.JoinError{Reason: "a coordinator of that name is in the cluster; remove it first"}
		}
		addresses = append(addresses, p.Address)
	}
	// The new one is told all members' keys; the first of them has noted its own by then.
	if err := n.Coordinator.PutNode(n.selfNode()); err != nil {
		return nil, err
	}
	join, err := n.Coordinator.InviteNode(name, addresses, valid)
	if err != nil {
		return nil, err
	}
	return join.Marshal()
}

// remove takes a coordinator out, or one that has not entered yet: its key and its unused join
// files are good for nothing from here on. The leader must give the lead away first: it would stop
// in the middle of what it does.
func (n *Node) remove(ctx context.Context, id string) error {
	if id == n.Config.Name {
		return &membership.JoinError{Reason: "this coordinator leads: `coordinator raft transfer` first"}
	}
	n.grouping.Lock()
	defer n.grouping.Unlock()
	peers, err := n.replica.Peers()
	if err != nil {
		return err
	}
	_, invited := n.Coordinator.Expected()
	in := slices.ContainsFunc(peers, func(p replica.Peer) bool { return p.ID == id })
	if !in && !n.Coordinator.Knows(id) && !slices.ContainsFunc(invited, func(i membership.Invite) bool { return i.Node == id }) {
		return &replica.PeerError{ID: id}
	}
	// First out of those that may connect, or it could come in again between.
	if err := n.Coordinator.ForgetNode(id); err != nil {
		return err
	}
	n.members.keep()
	if !in {
		return nil
	}
	return n.replica.Remove(ctx, id)
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
			return n.port.dialOperator(ctx, address)
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
				// nothing was done: the same may be asked again
				operator.Reply(w, nil, coordinator.ErrNotLeader)
				return
			}
			operator.Reply(w, nil, &operator.UnknownOutcomeError{Err: coordinator.ErrNotLeader})
		},
	}
	return f
}

// leaderKey is the key in a request's context of the leader to whom it is passed on.
type leaderKey struct{}

func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	leader := f.n.leaderPeer()
	if leader == "" {
		operator.Reply(w, nil, coordinator.ErrNotLeader)
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

// lookAgain is how often a caller that waits for a leader's answer checks whether it still leads.
const lookAgain = time.Second

// whileLeads returns when ctx ends, or when two looks in a row find that another leads, or none:
// one that is frozen, or behind a dead network, ends no connection.
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

// leaderPeer returns the peer address of another node that leads, "" for none.
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
	mux.HandleFunc("POST /v1/raft/join", operator.Answer(func(r *http.Request) (any, error) {
		var q joinRequest
		if err := operator.Decode(r, maxJoin, &q); err != nil {
			return nil, err
		}
		return n.join(q)
	}))
	return mux
}

// joinServer serves one request a connection, so that connections are all that the port has to
// count.
func joinServer(ctx context.Context, h http.Handler) *http.Server {
	s := &http.Server{
		Handler: h, ReadTimeout: requestTime, WriteTimeout: joinTime, MaxHeaderBytes: maxJoin,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	s.SetKeepAlivesEnabled(false)
	return s
}

type joinRequest struct {
	Token []byte `json:"token"`
	Name  string `json:"name"`
	Key   []byte `json:"key"` // pki.NodeKey's public half
}

// joinReply is all that a new coordinator needs to be one. It holds secrets.
type joinReply struct {
	Estate  json.RawMessage `json:"estate"`
	Members pki.Members     `json:"members"`
}

// join spends a new coordinator's token, notes its key and returns the federation's keys. Where it
// fails half-way the token is spent, and the keys are not given away.
func (n *Node) join(q joinRequest) (*joinReply, error) {
	if len(q.Key) != ed25519.PublicKeySize {
		return nil, &membership.JoinError{Reason: "the new coordinator's key is not an Ed25519 public key"}
	}
	n.grouping.Lock() // or it could be removed before its key is noted
	defer n.grouping.Unlock()
	estate, err := n.Coordinator.AdmitNode(q.Token, q.Name)
	if err != nil {
		return nil, err
	}
	if err := n.Coordinator.PutNode(membership.Node{ID: q.Name, Key: q.Key}); err != nil {
		return nil, err
	}
	raw, err := estate.Bytes()
	return &joinReply{raw, n.Coordinator.Members()}, err
}
