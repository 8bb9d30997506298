package node

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"covey/internal/frame"
	"covey/internal/membership"
	"covey/internal/operator"
	"covey/internal/pki"
	"covey/internal/proposal"
)

// member is a coordinator as it tells the leader of itself.
type member struct {
	ID        string   `json:"id"`
	Peer      string   `json:"peer"`      // address of its peer port
	Addresses []string `json:"addresses"` // of its sites' port
}

// selfNode is this coordinator as the log is to have it.
func (n *Node) selfNode() membership.Node {
	return membership.Node{ID: n.Config.Name, Addresses: n.Config.Addresses, Key: proposal.Key(n.authority.NodeKey())}
}

func (n *Node) self() member {
	return member{n.Config.Name, n.Config.PeerAddress, n.Config.Addresses}
}

// admit makes a coordinator that runs a voter, or takes over its new addresses.
// Called where this node leads.
func (n *Node) admit(ctx context.Context, m member) error {
	if pki.ValidName(m.ID) != nil || len(m.Addresses) == 0 {
		return &membership.JoinError{Reason: "the coordinator's name or addresses are not valid"}
	}
	// they are printed, and go into join files
	for _, a := range append([]string{m.Peer}, m.Addresses...) {
		if _, _, err := net.SplitHostPort(a); err != nil || frame.Printable(a) != a || strings.Contains(a, " ") {
			return &membership.JoinError{Reason: "a coordinator's address is not host:port"}
		}
	}
	as := membership.Node{ID: m.ID, Addresses: m.Addresses}
	if m.ID == n.Config.Name {
		as = n.selfNode()
	} else if !n.Coordinator.Knows(m.ID) {
		return &membership.JoinError{Reason: "this coordinator was removed, or joined with a file of another federation: `coordinator raft add` makes a new one"}
	}
	if has := n.at(m.Peer); has != "" && has != m.ID {
		return &membership.JoinError{Reason: fmt.Sprintf("%s is the peer address of coordinator %s: if that one is lost, `coordinator raft remove %s`", m.Peer, has, has)}
	}
	if err := n.Coordinator.PutNode(as); err != nil {
		return err
	}
	in, err := n.member(m)
	if err != nil || in {
		return err
	}
	n.log.Info("a coordinator enters", "name", m.ID, "peer", m.Peer)
	return n.replica.Add(ctx, m.ID, m.Peer)
}

// member reports whether the cluster has m as it is.
func (n *Node) member(m member) (bool, error) {
	peers, err := n.replica.Peers()
	for _, p := range peers {
		if p.ID == m.ID && p.Address == m.Peer && p.Voter {
			return true, err
		}
	}
	return false, err
}

// at returns whose peer address is one, "" for nobody's.
func (n *Node) at(address string) string {
	peers, _ := n.replica.Peers() // none while the process ends
	for _, p := range peers {
		if p.Address == address {
			return p.ID
		}
	}
	return ""
}

// enterWait is the pause before the leader is asked again.
const enterWait = time.Second

// enter makes this node a member at its present addresses: it asks the leader until
// the leader has said yes. It runs beside everything else, since a node that is not
// a member yet is not told who leads.
func (n *Node) enter(ctx context.Context) {
	said := ""
	for {
		err := n.tryEnter(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		if now := err.Error(); now != said {
			n.log.Info("waiting for admission to the cluster; retrying", "reason", now)
			said = now
		}
		select {
		case <-time.After(enterWait):
		case <-ctx.Done():
			return
		}
	}
}

func (n *Node) tryEnter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if n.Coordinator.Leading() {
		return n.admit(ctx, n.self())
	}
	addresses := n.Config.Peers
	if leader := n.leaderPeer(); leader != "" {
		addresses = []string{leader}
	}
	var why error
	for _, address := range addresses {
		err := n.post(ctx, address, "/v1/raft/enter", n.self())
		if err == nil {
			return nil
		}
		why = telling(why, err)
	}
	return cmp.Or(why, errors.New("no leader yet"))
}

// telling returns the later of two coordinators' errors, or the earlier if that is a leader's no,
// or nobody was reached for the later: an address that is out of use does not hide that another
// said no.
func telling(was, err error) error {
	if _, no := errors.AsType[*membership.JoinError](was); no {
		return was
	}
	if at, ok := errors.AsType[*net.OpError](err); ok && at.Op == "dial" && was != nil {
		return was
	}
	return err
}

// post sends one request to another coordinator over a connection of its own.
func (n *Node) post(ctx context.Context, address, path string, body any) error {
	_, err := n.ask(ctx, address, path, body)
	return err
}

// ended is the alert of TLS for a certificate that has ended, or has not begun.
const ended = tls.AlertError(45)

// exchange posts JSON over an open connection, which it closes, and gives the
// answer's body.
func exchange(ctx context.Context, conn net.Conn, path string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		conn.Close()
		return nil, err
	}
	used := false
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		if used {
			return nil, errors.New("the connection ended")
		}
		used = true
		return conn, nil
	}}
	defer transport.CloseIdleConnections()
	defer conn.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://coordinator"+path, bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	answer, err := transport.RoundTrip(r)
	// an alert of TLS
	if refused, ok := errors.AsType[*net.OpError](err); ok && refused.Op == "remote error" {
		if refused.Err.Error() == ended.Error() {
			return nil, errors.New("the other coordinator refuses this one, whose certificate is not valid by its clock: compare the clocks")
		}
		return nil, fmt.Errorf("the other coordinator refuses this one (%w): this one was removed (`coordinator raft add` makes a new one), or the other has not heard of it yet", refused.Err)
	}
	if err != nil {
		return nil, explain(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxRequest))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return text, nil
	}
	var e operator.ErrorReply
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("the coordinator answered %q", frame.Printable(answer.Status))
	}
	// it may reach a terminal, before there is any reason to trust it
	said := frame.Printable(e.Error)
	if e.Bad {
		return nil, &membership.JoinError{Reason: said}
	}
	return nil, errors.New(said)
}

// joinTime bounds Join's search for a leader.
const joinTime = 30 * time.Second

// Join makes the data folder of a coordinator that joins others, with the join
// file's text: it fetches the federation's keys over a connection whose other end the
// file's fingerprint proves. The file is then spent. Errors: *ConfigError,
// *pki.JoinError, *pki.ExpiredError, *pki.ExistsError, *membership.JoinError, of the network.
func Join(ctx context.Context, dir string, file []byte, c Config, dial Dialer, now time.Time) error {
	join, err := pki.ParseJoin(file)
	if err != nil {
		return err
	}
	if join.Node == "" {
		return &pki.JoinError{Field: "site", Reason: "the file is for a site: use `agent join`"}
	}
	if err := join.Check(now); err != nil {
		return err
	}
	c.Name, c.Peers = join.Node, join.Coordinator
	if err := c.check(); err != nil {
		return err
	}
	if c.PeerListen == "" {
		return bad("--peer-listen and --peer-address are needed to join")
	}
	hosts, err := c.hosts()
	if err != nil {
		return err
	}
	if err := pki.Vacant(dir); err != nil {
		return err
	}
	key, err := pki.NewNodeKey()
	if err != nil {
		return err
	}
	estate, members, err := fetchEstate(ctx, join, key.Public(), dial)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := pki.InitNode(dir, estate.For(key), join.Fingerprint, hosts, now); err != nil {
		return err
	}
	if err := pki.SaveMembers(dir, members); err != nil {
		return err
	}
	return c.write(dir)
}

// fetchEstate tries the addresses until one leads. A wrong CA or a refusal ends it.
func fetchEstate(ctx context.Context, join pki.Join, key ed25519.PublicKey, dial Dialer) (pki.Estate, pki.Members, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	try := 0
	raw, err := backoff.Retry(ctx, func() ([]byte, error) {
		address := join.Coordinator[try%len(join.Coordinator)]
		try++
		conn, err := dialJoin(ctx, dial, address, join.Fingerprint)
		if _, wrong := errors.AsType[*pki.WrongCAError](err); wrong {
			return nil, backoff.Permanent(err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", address, err)
		}
		raw, err := exchange(ctx, conn, "/v1/raft/join", joinRequest{join.Token.Bytes(), join.Node, key})
		if _, refused := errors.AsType[*membership.JoinError](err); refused {
			return nil, backoff.Permanent(err)
		}
		return raw, err
	})
	if err != nil {
		return pki.Estate{}, pki.Members{}, err
	}
	var reply joinReply
	if json.Unmarshal(raw, &reply) != nil || !reply.Members.Known(key) {
		return pki.Estate{}, pki.Members{}, &pki.CertificateError{Reason: "the CA certificate or the keys that the coordinator sent do not parse"}
	}
	estate, err := pki.ParseEstate(reply.Estate)
	return estate, reply.Members, err
}

// ask posts to another coordinator and gives its answer.
func (n *Node) ask(ctx context.Context, address, path string, body any) ([]byte, error) {
	conn, err := n.port.dialOperator(ctx, address)
	if err != nil {
		return nil, err
	}
	return exchange(ctx, conn, path, body)
}
