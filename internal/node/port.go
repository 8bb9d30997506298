package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"covey/internal/pki"
)

// The protocols.
const (
	raftProtocol     = "covey-raft/1"
	operatorProtocol = "covey-operator/1"
	joinProtocol     = "covey-node-join/1"
)

// handshakeTime bounds a handshake.
const handshakeTime = 10 * time.Second

// Dialer opens a connection to host:port.
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// port is a coordinator's port for other coordinators: one TCP port, TLS 1.3 with certificates of
// the federation's own CA and keys that the log has on both sides, and three protocols told apart
// by ALPN: raft, operators' requests passed on to the leader, and the one call of a coordinator
// that joins, which has no certificate yet. A branch accepts what is connected for each.
type port struct {
	listener net.Listener
	tls      *pki.PeerTLS
	dial     Dialer
	branches map[string]*branch
	gate     *gate
	// owner returns whose address is one, "" for nobody's; nil until the log is open.
	owner atomic.Pointer[func(address string) string]

	mu     sync.Mutex
	open   map[net.Conn]*tls.Conn // accepted or dialled, in the handshake (nil) or past it
	closed bool
	work   sync.WaitGroup
}

// newPort serves on a listener, which Close closes. dial reaches other ports.
func newPort(l net.Listener, own *pki.PeerTLS, dial Dialer) *port {
	p := &port{listener: l, tls: own, dial: dial, branches: map[string]*branch{}, gate: newGate(), open: map[net.Conn]*tls.Conn{}}
	for _, name := range []string{raftProtocol, operatorProtocol, joinProtocol} {
		p.branches[name] = &branch{port: p, conns: make(chan net.Conn), done: make(chan struct{})}
	}
	p.work.Go(p.accept)
	return p
}

// raft is the branch that internal/replica talks through.
func (p *port) raft() *raftBranch { return &raftBranch{p.branches[raftProtocol]} }

// operators is the branch of requests passed on by other coordinators.
func (p *port) operators() net.Listener { return p.branches[operatorProtocol] }

// joiners is the branch of new coordinators, who have shown no certificate.
func (p *port) joiners() net.Listener { return p.branches[joinProtocol] }

// dialOperator reaches another coordinator's operators.
func (p *port) dialOperator(ctx context.Context, address string) (net.Conn, error) {
	return p.reach(ctx, operatorProtocol, address, "")
}

// dialJoin reaches a coordinator's joiners from where there is no certificate yet;
// its CA is known by fingerprint ([*pki.WrongCAError]).
func dialJoin(ctx context.Context, dial Dialer, address, fingerprint string) (net.Conn, error) {
	conn, err := secure(ctx, dial, address, pki.NodeJoinTLS(fingerprint, joinProtocol))
	if err != nil {
		return nil, err
	}
	return plain{conn, func() {}}, nil
}

// reach connects. Another coordinator than the one with that name, if it is not empty, is not taken
// for it: at the address of a lost one it would vote for it, without what that one had stored.
func (p *port) reach(ctx context.Context, protocol, address, name string) (net.Conn, error) {
	conn, err := secure(ctx, p.dial, address, p.tls.Client(protocol))
	if err != nil {
		return nil, err
	}
	if name != "" {
		is, err := pki.NodeName(conn.ConnectionState().PeerCertificates[0])
		if err == nil && is != name {
			err = fmt.Errorf("coordinator %s answers there: if %s is lost, `coordinator raft remove %s`", is, name, name)
		}
		if err != nil {
			conn.Close()
			return nil, err
		}
	}
	raw := conn.NetConn()
	if !p.enter(raw) {
		return nil, net.ErrClosed
	}
	if err := p.settle(raw, conn); err != nil {
		p.leave(raw)
		return nil, err
	}
	return plain{conn, func() { p.leave(raw) }}, nil
}

// settle notes whom a connection goes to, so that recheck finds it, and looks once more: who it is
// may have been removed while the handshake ran.
func (p *port) settle(raw net.Conn, conn *tls.Conn) error {
	p.mu.Lock()
	if _, open := p.open[raw]; open {
		p.open[raw] = conn
	}
	p.mu.Unlock()
	return p.tls.Check(conn.ConnectionState())
}

// recheck ends the connections of coordinators that are let in no longer, accepted and dialled.
func (p *port) recheck() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for raw, conn := range p.open {
		if conn != nil && p.tls.Check(conn.ConnectionState()) != nil {
			raw.Close() // who uses it finds out, and leaves
		}
	}
}

// keyExchanges returns those of open connections with other coordinators, by name: of several the
// weakest.
func (p *port) keyExchanges() map[string]pki.KeyExchange {
	out := map[string]pki.KeyExchange{}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.open {
		if conn == nil {
			continue
		}
		s := conn.ConnectionState()
		name, err := pki.NodeName(s.PeerCertificates[0])
		if k := pki.KeyExchangeOf(s); err == nil && !out[name].Weak() {
			out[name] = k
		}
	}
	return out
}

func secure(ctx context.Context, dial Dialer, address string, config *tls.Config) (*tls.Conn, error) {
	raw, err := dial(ctx, address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, explain(err)
	}
	return conn, nil
}

// internalError is the alert of TLS of a server that has no certificate to show.
const internalError = tls.AlertError(80)

// explain says what to do about a certificate that is not valid now or cannot be made, and why a
// connection broke off: in the same words each time, without the present time or a port.
func explain(err error) error {
	if bad, ok := errors.AsType[x509.CertificateInvalidError](err); ok && bad.Reason == x509.Expired {
		return fmt.Errorf("the other coordinator's certificate is valid from %s to %s, and not by this machine's clock: compare the clocks",
			bad.Cert.NotBefore.UTC().Format(time.RFC3339), bad.Cert.NotAfter.UTC().Format(time.RFC3339))
	}
	if at, ok := errors.AsType[*net.OpError](err); ok && at.Op == "remote error" && at.Err.Error() == internalError.Error() {
		return fmt.Errorf("the other coordinator cannot make its certificate (%w): has the federation's CA ended, or is a clock wrong? Its log says which: operations.md, when certificates end", at.Err)
	}
	if broke, ok := errors.AsType[*net.OpError](err); ok && broke.Source != nil && broke.Op != "dial" {
		return fmt.Errorf("the connection broke off: %w; a firewall in between can do that", broke.Err)
	}
	return pki.ExplainAlert(err)
}

// Close ends the port, its branches and every connection of them: raft leaves those that
// it keeps for later open.
func (p *port) Close() error {
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	err := p.listener.Close()
	for _, b := range p.branches {
		b.Close()
	}
	p.work.Wait()
	return err
}

func (p *port) accept() {
	config := p.tls.Server(joinProtocol, raftProtocol, operatorProtocol)
	for {
		raw, err := p.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || p.isClosed() {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of file handles, most likely
			continue
		}
		if p.enter(raw) {
			e := p.gate.enter(raw)
			p.work.Go(func() { p.admit(e, config) })
		}
	}
}

func (p *port) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

func (p *port) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.open[c] = nil
	return true
}

// admit makes the handshake, which says who it is, and hands the connection on.
func (p *port) admit(e *entrant, config *tls.Config) {
	raw := e.raw
	leave := func() {
		p.gate.leave(e)
		p.leave(raw)
	}
	conn := tls.Server(raw, config)
	raw.SetDeadline(time.Now().Add(handshakeTime))
	err := conn.Handshake()
	raw.SetDeadline(time.Time{})
	protocol := conn.ConnectionState().NegotiatedProtocol
	b := p.branches[protocol]
	if err != nil || b == nil {
		leave()
		return
	}
	if protocol == joinProtocol { // a stranger until it ends
		if !p.gate.joins(e) {
			leave()
			return
		}
	} else {
		if p.settle(raw, conn) != nil {
			leave()
			return
		}
		p.gate.known(e)
	}
	select {
	case b.conns <- plain{conn, leave}:
	case <-b.done:
		leave()
	}
}

// plain hides the TLS connection's type: net/http would look at its ALPN protocol, know
// none of ours, and hang up.
type plain struct {
	net.Conn
	closed func()
}

// Close is net.Conn's; the port then forgets the connection.
func (c plain) Close() error {
	err := c.Conn.Close()
	c.closed()
	return err
}

// leave closes a connection and forgets it.
func (p *port) leave(c net.Conn) {
	c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
}

// branch is the listener of one protocol.
type branch struct {
	port  *port
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Accept is net.Listener's.
func (b *branch) Accept() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.done:
		return nil, net.ErrClosed
	}
}

// Close ends this branch alone.
func (b *branch) Close() error {
	b.once.Do(func() { close(b.done) })
	return nil
}

// Addr returns the port's address.
func (b *branch) Addr() net.Addr { return b.port.listener.Addr() }

// raftBranch is the branch that raft accepts from and dials through.
type raftBranch struct{ *branch }

// Dial reaches the raft of the coordinator whose address it is.
func (r *raftBranch) Dial(address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	name := ""
	if owner := r.port.owner.Load(); owner != nil {
		name = (*owner)(address)
	}
	return r.port.reach(ctx, raftProtocol, address, name)
}
