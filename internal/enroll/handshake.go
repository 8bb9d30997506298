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
	"time"

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
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](e.Err); ok && invalid.Reason == x509.Expired && invalid.Cert != nil {
		// x509's own text has the present time: a log that says what is new would have every try.
		return fmt.Sprintf("the TLS handshake with the coordinator failed: its certificate is valid from %s to %s, which is not now by this machine's clock: compare clocks",
			invalid.Cert.NotBefore.UTC().Format(time.RFC3339), invalid.Cert.NotAfter.UTC().Format(time.RFC3339))
	}
	if _, plain := errors.AsType[tls.RecordHeaderError](e.Err); plain {
		return "the TLS handshake with the coordinator failed: what answers there does not speak TLS: something else has the address, or its port changed"
	}
	if broke, ok := errors.AsType[*net.OpError](e.Err); ok && broke.Source != nil { // its text has the ports, which are others at every try
		return fmt.Sprintf("the TLS handshake with the coordinator failed: the connection broke off: %v; a firewall or a proxy in between can do that", broke.Err)
	}
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
	if CertificateEnded(err) {
		return "the coordinator refuses this certificate as expired: it has ended, or clocks differ"
	}
	if why := noProxy(err); why != "" {
		return why
	}
	if why := unreached(err); why != "" {
		return "nobody answers there: " + why
	}
	if s, ok := status.FromError(err); ok {
		if why := unnamed(s); why != "" {
			return "the name of its address is not found: " + why + ": check it and this machine's DNS; behind a proxy set HTTPS_PROXY"
		}
		if why, broken := brokenOff(s); broken {
			return "the connection broke off: " + why
		}
		return fmt.Sprintf("%s: %s", s.Code(), frame.Quoted(s.Message())) // the coordinator's words
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return err.Error()
}

// CertificateEnded reports whether the other end refused this one's certificate as past its end. It
// says so once the client's handshake is over, and gRPC passes on the text alone.
func CertificateEnded(err error) bool {
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.Unavailable && strings.HasPrefix(s.Message(), "connection error: ") && strings.Contains(s.Message(), "remote error: tls: expired certificate")
}

// unnamed returns why gRPC could not look an address's name up, quoted, without the ports, which
// are others at every try; empty of another error.
func unnamed(s *status.Status) string {
	m := strings.TrimPrefix(s.Message(), "name resolver error: ")
	why, failed := strings.CutPrefix(m, "dns: A record lookup error: ")
	switch {
	case s.Code() != codes.Unavailable:
		return ""
	case failed:
		return frame.Quoted(strings.TrimSpace(why[strings.LastIndex(why, ":")+1:]))
	case m == "produced zero addresses":
		return frame.Quoted("no such host")
	}
	return ""
}

// brokenOff returns the system's word for a connection that broke, without the ports, which are
// others at every try.
func brokenOff(s *status.Status) (string, bool) {
	if s.Code() == codes.Unavailable && s.Message() == "error reading from server: EOF" {
		return "the other end closed it", true
	}
	m := strings.TrimSuffix(strings.TrimPrefix(s.Message(), `connection error: desc = "error reading server preface: `), `"`)
	if s.Code() == codes.Unavailable && (strings.HasPrefix(m, "read tcp ") || strings.HasPrefix(m, "write tcp ")) {
		return frame.Quoted(m[strings.LastIndex(m, ": ")+len(": "):]), true
	}
	return "", false
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
	// The rest of a proxy's answer is long, and has the time: a log that says what is new would
	// have every try.
	if _, answer, ok := strings.Cut(why, "failed to do connect handshake, response: "); ok {
		line, _, _ := strings.Cut(strings.TrimLeft(answer, `\"`), `\`)
		why = "the proxy refuses the tunnel: " + line
	}
	if strings.HasPrefix(why, "dial tcp") || strings.HasPrefix(why, "reading server HTTP response: read tcp") { // the address, and the system's word
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
		grpc.WithStaticStreamWindowSize(wire.StreamWindow),
		grpc.WithStaticConnWindowSize(wire.ConnectionWindow),
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
