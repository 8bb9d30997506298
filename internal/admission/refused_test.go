package admission

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/credentials"
)

// TestRefusedHostsAreBounded: callers without a certificate do not fill the log.
func TestRefusedHostsAreBounded(t *testing.T) {
	var log strings.Builder
	r := Refused{Log: slog.New(slog.NewTextHandler(&log, nil))}
	for i := range 3 * maxRefusedHosts {
		r.Refuse(&tls.ClientHelloInfo{Conn: at(fmt.Sprintf("10.0.%d.%d:99", i/200, i%200))})
	}
	if n := strings.Count(log.String(), "\n"); n != maxRefusedHosts || r.Count() != 3*maxRefusedHosts {
		t.Errorf("%d lines, %d counted", n, r.Count())
	}
}

// refusing stands in for TLS that refuses a certificate.
type refusing struct {
	credentials.TransportCredentials
	why error
}

func (r refusing) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, r.why
}

// TestEndedCertificatesAreLogged: that a certificate is not good now by this machine's clock is in
// the log, once for a host and for no more than a few, and nothing is of other refusals.
func TestEndedCertificatesAreLogged(t *testing.T) {
	ended := x509.CertificateInvalidError{Cert: &x509.Certificate{NotAfter: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, Reason: x509.Expired}
	for _, c := range []struct {
		why   error
		lines int
	}{
		{&tls.CertificateVerificationError{Err: ended}, maxRefusedHosts},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, 0},
		{net.ErrClosed, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log strings.Builder
			g := NewGate(refusing{why: c.why}, slog.New(slog.NewTextHandler(&log, nil)))
			for i := range 4 * maxRefusedHosts {
				host := i / 2 // twice each
				g.ServerHandshake(at(fmt.Sprintf("10.0.%d.%d:99", host/200, host%200)))
				time.Sleep(time.Second)
			}
			if n := strings.Count(log.String(), "\n"); n != c.lines || n > 0 && !strings.Contains(log.String(), "2026-01-02T03:04:05") {
				t.Errorf("%v: %d lines, want %d: %.300s", c.why, n, c.lines, log.String())
			}
		})
	}
}

// TestEndedCertificatesOfOneHost: sites behind one address are told apart by the names that the CA
// gave them, and each is told of once a day, whatever names others make up there.
func TestEndedCertificatesOfOneHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		g := NewGate(refusing{}, slog.New(slog.NewTextHandler(&log, nil)))
		g.Issued = func(leaf *x509.Certificate) bool { return !strings.HasPrefix(leaf.Subject.CommonName, "made-up") }
		named := func(name string) {
			shown := &x509.Certificate{Subject: pkix.Name{CommonName: name}, URIs: []*url.URL{{Scheme: "covey", Host: "site", Path: "/" + name}}}
			g.tell(at("10.0.0.1:99").RemoteAddr(), x509.CertificateInvalidError{Cert: shown, Reason: x509.Expired})
		}
		for i := range 50 { // more than two days, an hour apart
			for j := range maxRefusedHosts {
				named(fmt.Sprintf("made-up-%d-%d", i, j))
			}
			for _, name := range []string{"north", "south", "not a name"} {
				named(name)
			}
			time.Sleep(time.Hour)
		}
		for _, as := range []string{"says_it_is=north ", "says_it_is=south ", `says_it_is="" `} {
			if n := strings.Count(log.String(), as); n != 3 {
				t.Errorf("%s: %d lines: %s", as, n, log.String())
			}
		}
		if strings.Contains(log.String(), "made-up") {
			t.Error(log.String())
		}
	})
}

// at is a connection from an address.
type at string

func (f at) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", string(f))
	return a
}

func (at) LocalAddr() net.Addr              { return nil }
func (at) Read([]byte) (int, error)         { return 0, net.ErrClosed }
func (at) Write([]byte) (int, error)        { return 0, net.ErrClosed }
func (at) Close() error                     { return nil }
func (at) SetDeadline(time.Time) error      { return nil }
func (at) SetReadDeadline(time.Time) error  { return nil }
func (at) SetWriteDeadline(time.Time) error { return nil }
