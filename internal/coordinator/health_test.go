package coordinator

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"covey/internal/admission"
	"covey/test/site"
)

// TestHealth: over the sites' port, without a certificate, as a probe asks.
func TestHealth(t *testing.T) {
	authority := site.Authority(t, t.TempDir(), time.Now())
	m := NewMachine()
	c := New(Options{Authority: authority, Machine: m, Logger: slog.New(slog.DiscardHandler)})
	defer c.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Server()
	go s.Serve(l)
	defer s.Stop()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.CertificatePEM())
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: roots, ServerName: "localhost"})))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ask := func(service string) healthv1.HealthCheckResponse_ServingStatus {
		t.Helper()
		r, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetStatus()
	}
	if ask("") != healthv1.HealthCheckResponse_SERVING || ask(admission.FederationService) != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Error("a coordinator that follows")
	}
	if err := c.Lead(&memoryLog{machine: m}); err != nil {
		t.Fatal(err)
	}
	if ask(admission.FederationService) != healthv1.HealthCheckResponse_SERVING {
		t.Error("a coordinator that leads")
	}
	if _, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{Service: "x"}); status.Code(err) != codes.NotFound {
		t.Errorf("another service: %v", err)
	}
	watch, err := healthv1.NewHealthClient(conn).Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err == nil {
		_, err = watch.Recv()
	}
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("watch: %v", err)
	}
}
