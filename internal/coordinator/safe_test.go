package coordinator

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/wire"
)

// over opens a connection with a person's certificate whose key exchange is of one group.
func (o *office) over(group tls.CurveID, certificate *tls.Certificate) *grpc.ClientConn {
	o.t.Helper()
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{group}}
	if certificate != nil {
		config.Certificates = []tls.Certificate{*certificate}
	}
	conn, err := grpc.NewClient(o.address, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { conn.Close() })
	return conn
}

// certificate is a new one for a person's key.
func (o *office) certificate(role pki.Role, p *person) *tls.Certificate {
	o.t.Helper()
	csr, err := p.CSR(p.name)
	if err != nil {
		o.t.Fatal(err)
	}
	certificate, err := o.auth.Issue(role, p.name, csr, o.now())
	if err != nil {
		o.t.Fatal(err)
	}
	return p.shows(o.t, certificate)
}

// until waits for a change after which something holds.
func (o *office) until(t *testing.T, holds func() bool) {
	t.Helper()
	for {
		changed := o.c.Changed()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatal("it did not change")
		}
	}
}

// standing is the first call of every program.
func standing(t *testing.T, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := wire.CallStanding(metadata.NewOutgoingContext(ctx, metadata.Pairs(wire.This("covey-test").Pairs()...)), conn, make([]byte, 32))
	return err
}

// TestKeyExchangesAreListed: of each connected site and of each analyst who called, the coordinator
// knows the group.
func TestKeyExchangesAreListed(t *testing.T) {
	o := newOffice(t)
	ada := o.join(pki.RoleAnalyst, "ada")
	o.join(pki.RoleAnalyst, "bob") // has made no call yet
	alpha := o.join(pki.RoleSite, "alpha")
	for group, want := range map[tls.CurveID]pki.KeyExchange{
		tls.X25519:         {Group: "X25519"},
		tls.X25519MLKEM768: {Group: "X25519MLKEM768", QuantumSafe: true},
	} {
		if err := standing(t, o.over(group, o.certificate(pki.RoleAnalyst, ada))); err != nil {
			t.Fatal(err)
		}
		for _, a := range o.c.Analysts().Analysts {
			if is := a.KeyExchange; a.Name == "ada" && is != want || a.Name == "bob" && is != (pki.KeyExchange{}) {
				t.Errorf("%s: %+v", a.Name, is)
			}
		}
		ctx, end := context.WithCancel(metadata.NewOutgoingContext(t.Context(), metadata.Pairs(wire.This("covey-agent").Pairs()...)))
		link, err := wire.OpenLink(ctx, o.over(group, o.certificate(pki.RoleSite, alpha)))
		if err != nil {
			t.Fatal(err)
		}
		hello, err := wire.Encode(wire.Hello{Software: "covey-agent/1"})
		if err == nil {
			err = wire.Send(hello, link.Send)
		}
		if err != nil {
			t.Fatal(err)
		}
		site := func() (s outline.ListedSite) {
			for _, one := range o.c.Sites().Sites {
				if one.Name == "alpha" {
					s = one
				}
			}
			return s
		}
		o.until(t, func() bool { return site().KeyExchange == want })
		seen := false
		for _, s := range o.c.Overview(0).Sites {
			seen = seen || s.Name == "alpha" && s.KeyExchange == want
		}
		if !seen {
			t.Errorf("%+v", o.c.Overview(0).Sites)
		}
		end()
		o.until(t, func() bool { return !site().Connected })
		if s := site(); s.KeyExchange != (pki.KeyExchange{}) {
			t.Errorf("away, and %+v", s)
		}
	}
}

// TestQuantumSafeLinks: a coordinator that demands it lets in no site, no analyst and nobody who
// joins over another link, counts them, and names their host once.
func TestQuantumSafeLinks(t *testing.T) {
	for _, demanded := range []bool{false, true} {
		o := newOffice(t)
		ada, alpha := o.join(pki.RoleAnalyst, "ada"), o.join(pki.RoleSite, "alpha")
		var log strings.Builder
		c := o.c
		c.quantumSafe, c.refused.Log = demanded, slog.New(slog.NewTextHandler(&log, nil))
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := c.Server()
		go s.Serve(l)
		t.Cleanup(s.Stop)
		o.address = l.Addr().String()
		for role, p := range map[pki.Role]*person{pki.RoleAnalyst: ada, pki.RoleSite: alpha} {
			if err := standing(t, o.over(tls.X25519MLKEM768, o.certificate(role, p))); err != nil {
				t.Errorf("demanded %v: %s over a quantum-safe link: %v", demanded, p.name, err)
			}
			if err := standing(t, o.over(tls.X25519, o.certificate(role, p))); (err != nil) != demanded {
				t.Errorf("demanded %v: %s over X25519: %v", demanded, p.name, err)
			}
		}
		eve := o.keys("eve")
		j, err := c.InviteAs(pki.RoleSite, "eve", []string{o.address}, time.Hour, false)
		if err != nil {
			t.Fatal(err)
		}
		said := metadata.NewOutgoingContext(t.Context(), metadata.Pairs(wire.This("covey-agent").Pairs()...))
		if _, _, err := wire.CallJoin(said, o.over(tls.X25519, nil), eve.request(t, j, "eve")); (err != nil) != demanded {
			t.Errorf("demanded %v: joining over X25519: %v", demanded, err)
		}
		refused, lines := 0, 0
		if demanded {
			refused, lines = 3, 1
		}
		// gRPC tries again by itself.
		if v := c.Overview(0); v.QuantumSafe != demanded || v.Refused < refused || !demanded && v.Refused > 0 {
			t.Errorf("demanded %v: %d refused", demanded, v.Refused)
		}
		if strings.Count(log.String(), "quantum_safe_links") != lines || demanded && !strings.Contains(log.String(), "host=127.0.0.1") {
			t.Errorf("demanded %v: the log says %q", demanded, log.String())
		}
	}
}
