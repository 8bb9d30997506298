package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"covey/internal/frame"
)

// handshake is gRPC's TLS that remembers why the last handshake failed: gRPC
// itself gives only text, and a wrong CA must be told from a coordinator that
// is not there.
type handshake struct {
	credentials.TransportCredentials
	failed *failure
}

type failure struct {
	mu  sync.Mutex
	err error
}

func newHandshake(c *tls.Config) *handshake {
	return &handshake{credentials.NewTLS(c), &failure{}}
}

// ClientHandshake is the embedded one's.
func (h *handshake) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	out, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, conn)
	h.failed.mu.Lock()
	h.failed.err = err
	h.failed.mu.Unlock()
	return out, info, err
}

// Clone shares what is remembered.
func (h *handshake) Clone() credentials.TransportCredentials {
	return &handshake{h.TransportCredentials.Clone(), h.failed}
}

// HandshakeError is a TLS handshake with the coordinator that failed: a wrong
// CA or name, an expired certificate, or one that the coordinator refused.
type HandshakeError struct{ Err error }

// Error repeats names of a certificate that nobody has vouched for yet.
func (e *HandshakeError) Error() string {
	return "the TLS handshake with the coordinator failed: " + cleaned(e.Err.Error())
}

// Unwrap gives the reason, such as an x509 error.
func (e *HandshakeError) Unwrap() error { return e.Err }

// explain gives the handshake's failure for an error of gRPC, if there was one.
func (h *handshake) explain(err error) error {
	h.failed.mu.Lock()
	defer h.failed.mu.Unlock()
	if err != nil && h.failed.err != nil {
		return &HandshakeError{h.failed.err}
	}
	return err
}

// plain is an error as a person reads it, without gRPC's framing.
func plain(err error) string {
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
