package admission

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// TestAgentVersion: calls and streams of an agent that shares no protocol end before they
// are read, with words that name both versions and who must upgrade; each refusal is
// logged once. Health is anybody's.
func TestAgentVersion(t *testing.T) {
	var logs bytes.Buffer
	door := func() *Door {
		return &Door{Program: "covey-coordinator", Log: slog.New(slog.NewTextHandler(&logs, nil))}
	}
	s := grpc.NewServer(door().options()...)
	covey.RegisterFederationServer(s, covey.UnimplementedFederationServer{})
	healthv1.RegisterHealthServer(s, healthv1.UnimplementedHealthServer{})
	pipe := bufconn.Listen(1 << 16)
	go s.Serve(pipe) // ends with Stop
	defer s.Stop()
	conn, err := grpc.NewClient("passthrough:///", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return pipe.Dial() }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := covey.NewFederationClient(conn)
	for _, a := range []struct {
		version []string
		upgrade string
	}{
		{wire.Version{Protocol: wire.Protocol, Oldest: wire.Protocol, Software: "covey-agent/7"}.Pairs(), ""},
		{wire.Version{Protocol: wire.Protocol + 3, Oldest: wire.Protocol, Software: "covey-agent/8"}.Pairs(), ""},
		{wire.Version{Protocol: wire.Protocol + 1, Oldest: wire.Protocol + 1, Software: "covey-agent/9"}.Pairs(), "upgrade the coordinator"},
		{nil, "upgrade the agent"},
	} {
		ctx := metadata.NewOutgoingContext(t.Context(), metadata.Pairs(a.version...))
		for range 2 {
			var said, early metadata.MD
			_, err := client.Renew(ctx, &covey.RenewRequest{}, grpc.Header(&said))
			stream, err2 := client.Link(ctx)
			if err2 == nil {
				early, _ = stream.Header()
				_, err2 = stream.Recv()
			}
			want := codes.Unauthenticated
			if a.upgrade != "" {
				want = codes.FailedPrecondition
			}
			for _, err := range []error{err, err2} {
				if status.Code(err) != want || !strings.HasSuffix(status.Convert(err).Message(), a.upgrade) {
					t.Errorf("%v: %v", a.version, err)
				}
			}
			for _, m := range []metadata.MD{said, early} {
				if got := wire.VersionOf(m, ""); got != wire.This("covey-coordinator") {
					t.Errorf("the coordinator says it is %+v", got)
				}
			}
		}
	}
	if logs.Len() > 0 {
		t.Errorf("whoever calls without a certificate can fill the log:\n%s", logs.String())
	}
	name, err := url.Parse("covey://site/alpha")
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "alpha"}, URIs: []*url.URL{name}}
	d, old := door(), wire.Agree(wire.VersionOf(nil, "an agent"), wire.This("covey-coordinator"))
	for _, err := range []error{old, old, nil, old} {
		d.refused(leaf, err)
	}
	if n := strings.Count(logs.String(), "a program was refused"); n != 2 {
		t.Errorf("%d lines for an agent that is refused twice, taken, and refused:\n%s", n, logs.String())
	}
	if _, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("health: %v", err)
	}
}

// TestRevokedKeyIsTold: who shows a key that lets nobody in any more is in the log, once a day for
// a host; callers that a door turns away for other reasons are not.
func TestRevokedKeyIsTold(t *testing.T) {
	var logs bytes.Buffer
	name, err := url.Parse("covey://site/alpha")
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{Subject: pkix.Name{CommonName: "alpha"}, URIs: []*url.URL{name}}
	d := &Door{Log: slog.New(slog.NewTextHandler(&logs, nil))}
	for _, c := range []struct {
		host string
		why  error
		told bool
	}{
		{"10.0.0.1", status.Error(codes.FailedPrecondition, "another leads"), false},
		{"10.0.0.1", ErrExpired, false},
		{"10.0.0.1", status.Error(codes.PermissionDenied, "revoked"), true},
		{"10.0.0.1", status.Error(codes.PermissionDenied, "revoked"), false},
		{"10.0.0.2", status.Error(codes.PermissionDenied, "revoked"), true},
	} {
		logs.Reset()
		d.Admit = func(*x509.Certificate) (Client, error) { return Client{}, c.why }
		tls := credentials.TLSInfo{State: tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf}}}}
		ctx := peer.NewContext(t.Context(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(c.host), Port: 1}, AuthInfo: Caller{TLSInfo: tls}})
		ctx = metadata.NewIncomingContext(ctx, metadata.Pairs(wire.This("covey-agent").Pairs()...))
		if _, err := d.enter(ctx, "/covey.v1.Federation/Link"); status.Code(err) != status.Code(c.why) {
			t.Errorf("%v: %v", c.why, err)
		}
		if got := strings.Contains(logs.String(), "a key that was revoked") && strings.Contains(logs.String(), "site=alpha host="+c.host); got != c.told {
			t.Errorf("%v from %s: %q", c.why, c.host, logs.String())
		}
	}
}
