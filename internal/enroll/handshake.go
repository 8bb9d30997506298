package enroll

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/wire"
)

// Handshake is gRPC's TLS that remembers how the last handshake ended: its key exchange, or why it
// failed. gRPC itself gives only text, and a wrong CA must be told from a coordinator that
// is not there.
type Handshake struct {
	credentials.TransportCredentials
	last *ending
}

type ending struct {
	mu       sync.Mutex
	err      error
	exchange pki.KeyExchange
}

// NewHandshake returns the TLS of one connection.
func NewHandshake(c *tls.Config) *Handshake {
	return &Handshake{credentials.NewTLS(c), &ending{}}
}

// ClientHandshake is the embedded one's.
func (h *Handshake) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	out, info, err := h.TransportCredentials.ClientHandshake(ctx, authority, conn)
	h.last.mu.Lock()
	defer h.last.mu.Unlock()
	h.last.err, h.last.exchange = err, pki.KeyExchange{}
	if tls, ok := info.(credentials.TLSInfo); ok && err == nil {
		h.last.exchange = pki.KeyExchangeOf(tls.State)
	}
	return out, info, err
}

// Clone shares what is remembered.
func (h *Handshake) Clone() credentials.TransportCredentials {
	return &Handshake{h.TransportCredentials.Clone(), h.last}
}

// KeyExchange returns the last handshake's; the zero one if there was none or it failed.
func (h *Handshake) KeyExchange() pki.KeyExchange {
	h.last.mu.Lock()
	defer h.last.mu.Unlock()
	return h.last.exchange
}

// HandshakeError is a TLS handshake with the coordinator that failed: a wrong
// CA or name, an expired certificate, one that the coordinator refused, or a key exchange that one
// end refuses.
type HandshakeError struct{ Err error }

// Error repeats names of a certificate that nobody has vouched for yet.
func (e *HandshakeError) Error() string {
	text := "the TLS handshake with the coordinator failed: " + frame.Cleaned(e.Err.Error())
	if _, other := errors.AsType[x509.UnknownAuthorityError](e.Err); other {
		text += "; if its operator changed the CA, ask for a join file with --again"
	}
	return text
}

// Unwrap returns the reason, such as an x509 error.
func (e *HandshakeError) Unwrap() error { return e.Err }

// Explain returns the handshake's failure for an error of gRPC, if there was one.
func (h *Handshake) Explain(err error) error {
	h.last.mu.Lock()
	defer h.last.mu.Unlock()
	if err != nil && h.last.err != nil {
		return &HandshakeError{pki.ExplainAlert(h.last.err)}
	}
	return err
}

// Plain returns an error as a person reads it, without gRPC's framing.
func Plain(err error) string {
	if err == nil {
		return ""
	}
	if why := unreached(err); why != "" {
		return "nobody answers there: " + why
	}
	if s, ok := status.FromError(err); ok {
		return fmt.Sprintf("%s: %s", s.Code(), frame.Quoted(s.Message())) // the coordinator's words
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

// unreached returns why gRPC made no connection, quoted, without its framing; empty of another
// error.
func unreached(err error) string {
	s, ok := status.FromError(err)
	why, framed := strings.CutPrefix(s.Message(), `connection error: desc = "transport: `)
	if !ok || s.Code() != codes.Unavailable || !framed {
		return ""
	}
	why = strings.TrimPrefix(strings.TrimSuffix(why, `"`), "Error while dialing: ")
	if strings.HasPrefix(why, "dial tcp") { // the address, and the system's word
		why = why[strings.LastIndex(why, ": ")+1:]
	}
	return frame.Quoted(strings.TrimSpace(why))
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
