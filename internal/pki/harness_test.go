package pki

import (
	"bytes"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"covey/test/must"
)

// start is the moment of every test.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const days = 24 * time.Hour

func newAuthority(t testing.TB, hosts ...string) *Authority {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, Init(dir, hosts, start))
	return must.Get(Load(dir))(t)
}

func newSite(t testing.TB) *Holder {
	t.Helper()
	dir := t.TempDir()
	must.Do(t, NewKeys(dir))
	return reload(t, dir)
}

func reload(t testing.TB, dir string) *Holder {
	t.Helper()
	return must.Get(LoadHolder(RoleSite, dir))(t)
}

func request(t testing.TB, s *Holder, name string) []byte {
	t.Helper()
	return must.Get(s.CSR(name))(t)
}

func issue(t testing.TB, a *Authority, s *Holder, name string, now time.Time) []byte {
	t.Helper()
	return must.Get(a.Issue(RoleSite, name, request(t, s, name), now))(t)
}

// member is a site that has joined a.
func member(t testing.TB, a *Authority, name string) *Holder {
	t.Helper()
	s := newSite(t)
	must.Do(t, s.SaveCertificate(issue(t, a, s, name, start), a.CertificatePEM(), start))
	return s
}

// pin returns the site's configuration at a moment.
func pin(t testing.TB, s *Holder, host string) *tls.Config {
	t.Helper()
	c := must.Get(s.ClientTLS(host))(t)
	return at(c, start)
}

func at(c *tls.Config, now time.Time) *tls.Config {
	c.Time = func() time.Time { return now }
	return c
}

// dial does a real handshake in memory and an exchange of a byte each way. serve
// runs on the server's side of it.
func dial(t testing.TB, server, client *tls.Config, serve func(*tls.Conn) error) (clientErr, serverErr error) {
	t.Helper()
	x, y := net.Pipe()
	// Only ends a test that hangs.
	x.SetDeadline(time.Now().Add(time.Minute))
	y.SetDeadline(time.Now().Add(time.Minute))
	a, b := buffer(x), buffer(y)
	done := make(chan error, 1)
	go func() {
		defer a.Close()
		c := tls.Server(a, server)
		if err := c.Handshake(); err != nil {
			done <- err
			return
		}
		done <- serve(c)
	}()
	c := tls.Client(b, client)
	clientErr = c.Handshake()
	if clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1)) // a refusal of our certificate comes here
	}
	b.Close()
	return clientErr, <-done
}

// buffered is a pipe whose writes do not wait for the reader: two sides that send
// each other an alert would wait forever.
type buffered struct {
	net.Conn
	queue chan []byte
}

func buffer(c net.Conn) *buffered {
	b := &buffered{c, make(chan []byte, 1000)}
	go func() {
		defer c.Close()
		for data := range b.queue {
			if _, err := c.Write(data); err != nil {
				return
			}
		}
	}()
	return b
}

func (b *buffered) Write(p []byte) (int, error) {
	b.queue <- bytes.Clone(p)
	return len(p), nil
}

// Close sends what is queued first. The tests call it once.
func (b *buffered) Close() error {
	close(b.queue)
	return nil
}

// special is a certificate under a's CA that Init and Issue do not make.
func special(t testing.TB, a *Authority, pub ed25519.PublicKey, bend func(c *x509.Certificate)) *x509.Certificate {
	t.Helper()
	frame := must.Get(leaf(a.CA(), start, days))(t)
	bend(frame)
	return must.Get(create(frame, a.CA(), pub, a.caKey()))(t)
}

// hello is a server that has only something to say.
func hello(c *tls.Conn) error {
	_, err := c.Write([]byte{1})
	return err
}

// folder returns the names in a directory and their modes.
func folder(t testing.TB, dir string) map[string]os.FileMode {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	found := map[string]os.FileMode{}
	for _, e := range entries {
		info := must.Get(e.Info())(t)
		found[e.Name()] = info.Mode().Perm()
	}
	return found
}

// contents returns every file of a directory as text.
func contents(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	for name := range folder(t, dir) {
		data := must.Get(os.ReadFile(filepath.Join(dir, name)))(t)
		b.WriteString(name + "\n" + string(data))
	}
	return b.String()
}

// caKey returns the CA's key as Init makes it.
func (a *Authority) caKey() ed25519.PrivateKey { return a.cas.Load().key().(ed25519.PrivateKey) }
