package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"covey/internal/dashboard"
	"covey/internal/pki"
)

// Dashboard is where a coordinator's page is served, and to whom. The zero one is off.
type Dashboard struct {
	// Listen is host:port.
	Listen string `toml:"listen" comment:"host:port of the read-only page and /metrics. On loopback it speaks plain HTTP: reach it by an SSH tunnel."`
	// Hosts are names beside localhost and Listen's host.
	Hosts []string `toml:"hosts,omitempty" comment:"Names that the page is reached by; a request for another is refused."`
	// Certificate and Key are PEM files, read again when they change. The federation's own
	// certificates are Ed25519, which browsers do not take.
	Certificate string `toml:"certificate,omitempty" comment:"PEM file of a certificate that browsers trust. Needed beyond loopback."`
	Key         string `toml:"key,omitempty"`
	// ClientCA issued the certificates by which people in the register log in.
	ClientCA string `toml:"client_ca,omitempty" comment:"PEM file of a CA: a client certificate of it logs in the person named in it, if page invite --certificate did. Never the federation's."`
	// PlainHTTP allows plain HTTP beyond loopback.
	PlainHTTP bool `toml:"plain_http,omitempty" comment:"Plain HTTP beyond loopback, for a proxy in front that speaks TLS."`
}

func (d Dashboard) check() error {
	if d.Listen == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(d.Listen)
	if err != nil {
		return badKey("dashboard.listen", "dashboard %q: must be host:port, such as 127.0.0.1:7480", d.Listen)
	}
	if (d.Certificate == "") != (d.Key == "") {
		return badKey("dashboard", "the dashboard's certificate and key go together")
	}
	if d.ClientCA != "" && d.Certificate == "" {
		return badKey("dashboard.client_ca", "the dashboard's client_ca needs a certificate: people show theirs over TLS")
	}
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	if !loopback && d.Certificate == "" && !d.PlainHTTP {
		return badKey("dashboard.listen", "the dashboard at %q would send tokens in the clear: give it a certificate and key, or listen on 127.0.0.1 and use an SSH tunnel, or set plain_http behind a proxy that speaks TLS", d.Listen)
	}
	return nil
}

// names that the page is reached by.
func (d Dashboard) names() []string {
	host, _, err := net.SplitHostPort(d.Listen)
	if ip := net.ParseIP(host); err != nil || host == "" || ip != nil && ip.IsUnspecified() {
		return d.Hosts
	}
	return append([]string{host}, d.Hosts...)
}

// tls returns the page's configuration, nil for plain HTTP.
func (d Dashboard) tls(authority *pki.Authority) (*tls.Config, error) {
	if d.Certificate == "" {
		return nil, nil
	}
	pair := &keyPair{certificate: d.Certificate, key: d.Key}
	if _, err := pair.get(nil); err != nil {
		return nil, bad("the dashboard's certificate: %v", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS13, GetCertificate: pair.get, SessionTicketsDisabled: true}
	if d.ClientCA != "" {
		text, err := os.ReadFile(d.ClientCA)
		if err != nil {
			return nil, bad("the dashboard's client_ca: %v", err)
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return nil, bad("the dashboard's client_ca %s holds no certificate", d.ClientCA)
		}
		// Every site has a certificate of the federation.
		if _, err := authority.CA().Verify(x509.VerifyOptions{Roots: config.ClientCAs, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err == nil {
			return nil, bad("the dashboard's client_ca is the federation's: every site would have a certificate of it")
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config, nil
}

// keyPair is read again when its file changes, so that a renewal needs no restart.
type keyPair struct {
	certificate, key string
	mu               sync.Mutex
	read             time.Time
	pair             *tls.Certificate
}

func (k *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.certificate)
	if err == nil && (k.pair == nil || !info.ModTime().Equal(k.read)) {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(k.certificate, k.key); err == nil {
			k.pair, k.read = &pair, info.ModTime()
		}
	}
	if k.pair != nil {
		return k.pair, nil // the old one is better than none, in the middle of a renewal
	}
	return nil, err
}

// readDashboard reads the page's certificates, where it is configured, before anything is written.
func (n *Node) readDashboard(dir string) (err error) {
	d := n.Config.Dashboard
	if d.Listen == "" {
		return nil
	}
	for _, path := range []*string{&d.Certificate, &d.Key, &d.ClientCA} {
		if *path != "" && !filepath.IsAbs(*path) && n.options.Dashboard == nil {
			*path = filepath.Join(dir, *path) // as in the file that names it
		}
	}
	n.boardTLS, err = d.tls(n.authority)
	return err
}

// DashboardError is the dashboard's port, which cannot be opened.
type DashboardError struct{ Err error }

func (e *DashboardError) Error() string { return "dashboard: " + e.Err.Error() }
func (e *DashboardError) Unwrap() error { return e.Err }

// maxVisitors bounds the connections to the page. Whoever reaches its port can hold them without a
// word, and each takes a file descriptor from the sites' port and from the log.
const maxVisitors = 512

// openDashboard listens for the page, where it is configured.
func (n *Node) openDashboard() error {
	d := n.Config.Dashboard
	if d.Listen == "" {
		return nil
	}
	l, err := n.options.Listen(d.Listen)
	if err != nil {
		return &DashboardError{err}
	}
	n.watchers = netutil.LimitListener(l, maxVisitors)
	n.board = dashboard.New(dashboard.Options{
		Source: n.Coordinator, Cluster: n.cluster, People: n.Coordinator.People, Hosts: d.names(), Logger: n.log, Now: n.now,
	})
	return nil
}

// Watching returns the address of the page, nil where there is none, and whether it
// speaks TLS.
func (n *Node) Watching() (address net.Addr, tls bool) {
	if n.watchers == nil {
		return nil, false
	}
	return n.watchers.Addr(), n.boardTLS != nil
}

// boardServer serves the page. Streams end when the dashboard is closed.
func (n *Node) boardServer(ctx context.Context) *http.Server {
	return &http.Server{
		Handler: n.board.Handler(), TLSConfig: n.boardTLS, ReadHeaderTimeout: requestTime, ReadTimeout: requestTime, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
}

// cluster is the coordinators as this one knows them and reached them when it last tried.
func (n *Node) cluster() dashboard.Cluster {
	n.reached.mu.Lock()
	defer n.reached.mu.Unlock()
	return n.clusterWith(n.reached.peers)
}

// clusterWith is the coordinators as this one knows them, and reached them.
func (n *Node) clusterWith(reached map[string]error) dashboard.Cluster {
	c := dashboard.Cluster{Self: n.Config.Name, Leader: n.replica.LeaderID(), Heard: n.replica.Heard(), Behind: n.replica.Behind()}
	peers, err := n.replica.Peers()
	if err != nil {
		return c // the process is ending
	}
	exchanges := map[string]pki.KeyExchange{}
	if n.port != nil {
		exchanges = n.port.keyExchanges()
	}
	for _, p := range peers {
		why, tried := reached[p.ID]
		if _, other := errors.AsType[*otherKeyError](why); other {
			why = nil // it is there
		}
		shown := dashboard.Peer{Name: p.ID, Address: p.Address, Voter: p.Voter, Reached: p.ID == n.Config.Name || tried && why == nil, KeyExchange: exchanges[p.ID]}
		if n.port == nil {
			shown.Address = "" // in memory
		}
		c.Peers = append(c.Peers, shown)
	}
	return c
}

// reached says how the others answered when last tried: reach.
type reached struct {
	mu    sync.Mutex
	peers map[string]error
}

// probeEvery is how often the others are tried while somebody may watch, and how long a try may
// take.
const probeEvery = 2 * time.Second

// probe tries the others' ports, again and again.
func (n *Node) probe(ctx context.Context) {
	for {
		found := n.reach(ctx)
		n.reached.mu.Lock()
		n.reached.peers = found
		n.reached.mu.Unlock()
		select {
		case <-time.After(probeEvery):
		case <-ctx.Done():
			return
		}
	}
}

// otherKeyError is of a coordinator that answers and could not go on with this one's studies.
type otherKeyError struct{ its, own string }

func (e *otherKeyError) Error() string {
	return fmt.Sprintf("its signing.key is %s, this one's %s: one cannot go on with the other's studies. Put the same signing.key into every folder", e.its, e.own)
}

// reach asks the others, all at once, and returns nil for each that answered and could go on with
// this one's studies, or what is wrong. A handshake is no answer: it is over here before the other
// has looked at this one's certificate.
func (n *Node) reach(ctx context.Context) map[string]error {
	found := map[string]error{}
	if n.port == nil {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, probeEvery)
	defer cancel()
	peers, _ := n.replica.Peers() // none when the process is ending
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, p := range peers {
		if p.ID == n.Config.Name {
			continue
		}
		all.Go(func() {
			conn, err := n.port.reach(ctx, operatorProtocol, p.Address, p.ID)
			if err == nil {
				var raw []byte
				raw, err = exchange(ctx, conn, "/v1/ca/held", nil)
				var held heldReply
				if err == nil && json.Unmarshal(raw, &held) == nil && held.Signing != "" && held.Signing != n.signing() {
					err = &otherKeyError{held.Signing, n.signing()}
				}
			}
			mu.Lock()
			found[p.ID] = err
			mu.Unlock()
		})
	}
	all.Wait()
	return found
}
