package enroll

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	health_v1 "google.golang.org/grpc/health/grpc_health_v1"

	"covey/internal/pki"
	"covey/internal/wire"
	"covey/test/must"
)

// said is a connection that keeps what is written to it.
type said struct {
	net.Conn
	mu      *sync.Mutex
	written *bytes.Buffer
}

func (s said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written.Write(p)
	return s.Conn.Write(p)
}

// TestNoPingForAMessage: a site's connection has its windows from the start, so that gRPC does not
// measure the way with a ping at what comes.
func TestNoPingForAMessage(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := grpc.NewServer()
	health_v1.RegisterHealthServer(server, health.NewServer())
	go server.Serve(l)
	t.Cleanup(server.Stop)
	var mu sync.Mutex
	var written bytes.Buffer
	options := append(DialOptions(pki.RoleSite, nil), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(nil),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			return said{conn, &mu, &written}, err
		}))
	conn := must.Get(grpc.NewClient(l.Addr().String(), options...))(t)
	for range 3 {
		must.Get(health_v1.NewHealthClient(conn).Check(t.Context(), &health_v1.HealthCheckRequest{}))(t)
	}
	must.Do(t, conn.Close())
	server.Stop()
	mu.Lock()
	defer mu.Unlock()
	if !bytes.HasPrefix(written.Bytes(), []byte(http2.ClientPreface)) {
		t.Fatalf("%q", written.Bytes())
	}
	written.Next(len(http2.ClientPreface))
	stream, connection := 0, 65535
	for frames := http2.NewFramer(io.Discard, &written); ; {
		f, err := frames.ReadFrame()
		if err == io.EOF {
			break
		}
		must.Do(t, err)
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
				stream = int(v)
			}
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				connection += int(f.Increment)
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				t.Error("a ping")
			}
		}
	}
	if stream != wire.StreamWindow || connection != wire.ConnectionWindow {
		t.Errorf("windows of %d and %d", stream, connection)
	}
}
