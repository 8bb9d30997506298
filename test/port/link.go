package port

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"covey/internal/pki"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// End is one end of a link, which carries messages of any length.
type End struct {
	mu      sync.Mutex
	send    func(*covey.Frame) error
	receive func() (*covey.Frame, error)
}

// AtCoordinator is the end of a link that the coordinator has.
func AtCoordinator(s grpc.BidiStreamingServer[covey.LinkRequest, covey.LinkResponse]) *End {
	return &End{
		send:    func(f *covey.Frame) error { return s.Send(&covey.LinkResponse{Frame: f}) },
		receive: func() (*covey.Frame, error) { m, err := s.Recv(); return m.GetFrame(), err },
	}
}

// AtSite is the end of a link that a site has.
func AtSite(s grpc.BidiStreamingClient[covey.LinkRequest, covey.LinkResponse]) *End {
	return &End{
		send:    func(f *covey.Frame) error { return s.Send(&covey.LinkRequest{Frame: f}) },
		receive: func() (*covey.Frame, error) { m, err := s.Recv(); return m.GetFrame(), err },
	}
}

// Send sends bytes as one message, from any goroutine.
func (e *End) Send(raw []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return wire.Send(raw, func(data []byte, last bool) error { return e.send(&covey.Frame{Data: data, Last: last}) })
}

// Receive returns the next message, or how the other end ended the link.
func (e *End) Receive() ([]byte, error) {
	return wire.Receive(func() ([]byte, bool, error) {
		f, err := e.receive()
		return f.GetData(), f.GetLast(), err
	}, wire.MaxMessage)
}

// Classical makes a server take no key exchange that is quantum-safe.
func Classical(c *tls.Config) {
	c.GetConfigForClient = nil // which would undo it
	c.CurvePreferences = []tls.CurveID{tls.X25519}
}

// Serve serves what register adds at l, with the authority's server certificate and the metadata of
// version, until the test ends.
func Serve(t testing.TB, a *pki.Authority, l net.Listener, version func() []string, register func(*grpc.Server), options ...grpc.ServerOption) {
	serve(t, a.ServerTLS(), l, version, register, options...)
}

func serve(t testing.TB, config *tls.Config, l net.Listener, version func() []string, register func(*grpc.Server), options ...grpc.ServerOption) {
	s := grpc.NewServer(append(options, grpc.Creds(credentials.NewTLS(config)),
		grpc.UnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
			grpc.SetHeader(ctx, metadata.Pairs(version()...))
			return handle(ctx, r)
		}),
		grpc.StreamInterceptor(func(server any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
			if pairs := version(); len(pairs) > 0 {
				stream.SendHeader(metadata.Pairs(pairs...))
			}
			return handle(server, stream)
		}))...)
	register(s)
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Stop()
		<-served
	})
}
