package enroll

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/wire"
)

// Handshake is gRPC's TLS that remembers why the last handshake failed: gRPC
// itself gives only text, and a wrong CA must be told from a coordinator that
// is not there.
type Handshake struct {
	credentials.TransportCredentials
	failed *failure
}

type failure struct {
	mu  sync.Mutex
	err error
}

// NewHandshake returns the TLS of one connection.
func NewHandshake(c *tls.Config) *Handshake {
	return &Handshake{credentials.NewTLS(c), &failure{}}
}

// ClientHandshake is the embedded one's.
func (h *Handshake) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	out, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, conn)
	h.failed.mu.Lock()
	h.failed.err = err
	h.failed.mu.Unlock()
	return out, info, err
}

// Clone shares what is remembered.
func (h *Handshake) Clone() credentials.TransportCredentials {
	return &Handshake{h.TransportCredentials.Clone(), h.failed}
}

// HandshakeError is a TLS handshake with the coordinator that failed: a wrong
// CA or name, an expired certificate, or one that the coordinator refused.
type HandshakeError struct{ Err error }

// Error repeats names of a certificate that nobody has vouched for yet.
func (e *HandshakeError) Error() string {
	return "the TLS handshake with the coordinator failed: " + frame.Cleaned(e.Err.Error())
}

// Unwrap returns the reason, such as an x509 error.
func (e *HandshakeError) Unwrap() error { return e.Err }

// Explain returns the handshake's failure for an error of gRPC, if there was one.
func (h *Handshake) Explain(err error) error {
	h.failed.mu.Lock()
	defer h.failed.mu.Unlock()
	if err != nil && h.failed.err != nil {
		return &HandshakeError{h.failed.err}
	}
	return err
}

// Plain returns an error as a person reads it, without gRPC's framing.
func Plain(err error) string {
	if err == nil {
		return ""
	}
	if s, ok := status.FromError(err); ok {
		return fmt.Sprintf("%s: %s", s.Code(), frame.Quoted(s.Message())) // the coordinator's words
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

// DialOptions returns the options of every connection of a role's program. There is no dialer among
// them: it would bypass HTTPS_PROXY.
func DialOptions(role pki.Role, tls *Handshake) []grpc.DialOption {
	said := wire.This("covey-" + programs[role])
	return []grpc.DialOption{
		grpc.WithTransportCredentials(tls),
		// gRPC would ask DNS for settings in a TXT record: behind a firewall that drops such
		// questions each connection waits ten seconds, and nobody else sets ours.
		grpc.WithDisableServiceConfig(),
		grpc.WithUnaryInterceptor(versionedCall(said)),
		grpc.WithStreamInterceptor(versionedLink(said)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: wire.KeepaliveTime, Timeout: wire.KeepaliveTimeout, PermitWithoutStream: true,
		}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(2 * wire.Max)),
	}
}

// ServerName returns the host of an address, as the coordinator's certificate has it.
func ServerName(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
