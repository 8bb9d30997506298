package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	covey "covey/proto/covey/v1"
	"covey/test/must"
	"covey/test/network"
	"covey/test/port"
	"covey/test/site"
)

// answering is a listener that hands each connection to serve.
func answering(t *testing.T, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return l.Addr().String()
}

// speaking answers with TLS.
func speaking(t *testing.T, config *tls.Config) string {
	return answering(t, func(c net.Conn) { tls.Server(c, config).Handshake() })
}

// inspector is what opens TLS on the way: a certificate of its own CA, with the name that was asked
// for and the coordinator's common name.
func inspector(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(name string, ca bool, parent *x509.Certificate) *x509.Certificate {
		c := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: name, Organization: []string{"Example Hospital"}}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			IsCA: ca, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
		if parent == nil {
			parent = c
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		out, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ca := sign("Web Gateway CA", true, nil)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{sign(pki.ServerName, false, ca).Raw, ca.Raw}, PrivateKey: key}}}
}

// made returns a coordinator's keys as of a moment: of the same CA, or of its own if like is nil.
func made(t *testing.T, like *pki.Authority, now time.Time) *pki.Authority {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hub")
	var err error
	if like == nil {
		err = pki.Init(dir, nil, now)
	} else {
		err = pki.InitNode(dir, like.Estate(), like.Fingerprint(), nil, now)
	}
	if err != nil {
		t.Fatal(err)
	}
	a, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// certified returns a site with a certificate, without a call.
func certified(t *testing.T, s *port.Server) *pki.Holder {
	t.Helper()
	return site.Issue(t, t.TempDir(), "alpha", s.Authority, time.Now())
}

// TestProbeTellsFaultsApart: everything that can stand between an agent and its coordinator has its
// own code and a remedy.
func TestProbeTellsFaultsApart(t *testing.T) {
	s := port.New(t)
	site := certified(t, s)
	closed := answering(t, func(net.Conn) {})
	refused := must.Get(network.Free(1))(t)[0]
	elsewhere, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	go func() {
		for {
			c, err := elsewhere.Accept()
			if err != nil {
				return
			}
			tls.Server(c, s.Authority.ServerTLS()).Handshake()
			c.Close()
		}
	}()
	for name, c := range map[string]struct {
		address string
		code    Code
		says    string
	}{
		"no such name":  {"no-such-host.invalid:7443", CheckName, "no-such-host.invalid"},
		"nobody there":  {refused, CheckRefused, "refused"},
		"hangs up":      {closed, CheckTLS, "cut off"},
		"not TLS":       {answering(t, func(c net.Conn) { c.Write([]byte("SSH-2.0-OpenSSH_9.6\r\n")) }), CheckNotTLS, "does not speak TLS"},
		"inspection":    {speaking(t, inspector(t)), CheckInspected, "Web Gateway CA"},
		"another Covey": {speaking(t, made(t, nil, time.Now()).ServerTLS()), CheckWrongCA, "its fingerprint should be " + s.Authority.Fingerprint()},
		"ended":         {speaking(t, made(t, s.Authority, time.Now().Add(-2*365*24*time.Hour)).ServerTLS()), CheckServerEnded, "ended"},
		"clock behind":  {speaking(t, made(t, s.Authority, time.Now().Add(30*24*time.Hour)).ServerTLS()), CheckClockBehind, "clock says"},
		"another name":  {elsewhere.Addr().String(), CheckWrongName, `"127.0.0.1"`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			out := probe(ctx, site, c.address, false, nil)
			last := out[len(out)-1]
			if last.Code != c.code || last.OK || !strings.Contains(last.Result, c.says) || last.Do == "" || last.Do != remedies[c.code] {
				t.Errorf("%+v, want %s that says %q", last, c.code, c.says)
			}
		})
	}
	out := probe(t.Context(), site, s.Address, true, nil)
	if len(out) != 6 || out[5].Code != CheckClock {
		t.Fatalf("%+v", out)
	}
	for _, f := range out {
		if !f.OK {
			t.Errorf("%+v", f)
		}
	}
}

// TestProbeCall: what the coordinator says, and that it says nothing.
func TestProbeCall(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*port.Server)
		code   Code
	}{
		"clock apart": {func(s *port.Server) { s.Ahead = -10 * time.Minute }, CheckClock},
		"revoked": {func(s *port.Server) {
			s.Stands = func(*covey.StandingRequest) (*covey.StandingResponse, error) {
				return nil, status.Error(codes.PermissionDenied, "the site is revoked or has not joined")
			}
		}, CheckRefusedSite},
		"clock ahead": {func(s *port.Server) {
			s.Stands = func(*covey.StandingRequest) (*covey.StandingResponse, error) {
				return nil, status.Error(codes.Unavailable, `connection error: desc = "error reading server preface: remote error: tls: expired certificate"`)
			}
		}, CheckClock},
		"fails": {func(s *port.Server) {
			s.Stands = func(*covey.StandingRequest) (*covey.StandingResponse, error) {
				return nil, status.Error(codes.Internal, "x")
			}
		}, CheckNoAnswer},
		"another version": {func(s *port.Server) { s.Version = []string{"covey-protocol", "900", "covey-oldest", "900"} }, CheckVersion},
	} {
		t.Run(name, func(t *testing.T) {
			s := port.New(t)
			c.change(s)
			out := probe(port.Bounded(t), certified(t, s), s.Address, false, nil)
			if last := out[len(out)-1]; last.Code != c.code || last.OK || last.Do == "" {
				t.Errorf("%+v, want %s", last, c.code)
			}
		})
	}
}

// TestEveryCodeHasARemedy, and the page for people has every code.
func TestEveryCodeHasARemedy(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	for code, do := range remedies {
		if do == "" || !strings.Contains(string(page), "`"+string(code)+"`") {
			t.Errorf("%s: remedy %q, or it is not in docs/commands.md", code, do)
		}
	}
}
