package pki

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// quantumSafe are the groups of TLS 1.3 whose keys an elliptic curve and ML-KEM make together:
// whoever records a connection must break both.
var quantumSafe = []tls.CurveID{tls.X25519MLKEM768, tls.SecP256r1MLKEM768, tls.SecP384r1MLKEM1024}

func isQuantumSafe(id tls.CurveID) bool { return slices.Contains(quantumSafe, id) }

// KeyExchange is how a TLS connection's keys were agreed on; it is zero if there is no connection.
type KeyExchange struct {
	Group       string `json:"group"` // such as X25519MLKEM768
	QuantumSafe bool   `json:"quantum_safe"`
}

// KeyExchangeOf returns a connection's key exchange.
func KeyExchangeOf(s tls.ConnectionState) KeyExchange {
	if !s.HandshakeComplete && s.CurveID == 0 {
		return KeyExchange{}
	}
	return KeyExchange{s.CurveID.String(), isQuantumSafe(s.CurveID)}
}

// String returns it as people read it; empty of no connection.
func (k KeyExchange) String() string {
	switch {
	case k == KeyExchange{}:
		return ""
	case k.QuantumSafe:
		return "quantum-safe (" + k.Group + ")"
	}
	return "not quantum-safe (" + k.Group + ")"
}

// Weak reports whether there is a connection that a quantum computer opens once it was recorded.
func (k KeyExchange) Weak() bool { return k.Group != "" && !k.QuantumSafe }

// KeyExchangeError is a connection that was refused because its key exchange is not quantum-safe.
type KeyExchangeError struct {
	Group   string   // agreed on; empty where the other end took none that this program offers
	Offered []string // by this program
}

func (e *KeyExchangeError) Error() string {
	offers := slices.ContainsFunc(quantumSafe, func(id tls.CurveID) bool { return slices.Contains(e.Offered, id.String()) })
	text := fmt.Sprintf("the link's key exchange is %s, which a quantum computer breaks, and this program demands one such as %v here", e.Group, quantumSafe[0])
	if e.Group == "" {
		text = fmt.Sprintf("the other end takes none of the key exchanges that this program offers (%s): it may demand one that is quantum-safe, such as %v", strings.Join(e.Offered, ", "), quantumSafe[0])
	}
	if !offers {
		return text + "; this program does not offer it: take tlsmlkem=0 out of GODEBUG here"
	}
	return text + "; the other end does not offer it: take tlsmlkem=0 out of GODEBUG there, or upgrade what answers"
}

// DemandQuantumSafe makes a client's configuration refuse every other key exchange, with a
// [*KeyExchangeError] that names it. What has left by then is the ClientHello: no certificate of
// this end and nothing of the application.
func DemandQuantumSafe(c *tls.Config) {
	before := c.VerifyConnection
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if !isQuantumSafe(s.CurveID) {
			return &KeyExchangeError{s.CurveID.String(), names(offered())}
		}
		if before != nil {
			return before(s)
		}
		return nil
	}
}

// ServeQuantumSafe makes a server's configuration refuse every other key exchange as it answers the
// ClientHello, so that the client sends nothing more. Who offers no other is refused with the alert
// handshake_failure, after refused, if it is not nil, was called with what it said.
func ServeQuantumSafe(c *tls.Config, refused func(*tls.ClientHelloInfo)) {
	c.CurvePreferences = quantumSafe
	before := c.GetConfigForClient
	c.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		if refused != nil && !slices.ContainsFunc(h.SupportedCurves, isQuantumSafe) {
			refused(h)
		}
		if before == nil {
			return nil, nil
		}
		now, err := before(h)
		if now == nil || err != nil {
			return nil, err
		}
		now = now.Clone() // it may be shared
		now.CurvePreferences = quantumSafe
		return now, nil
	}
}

// ExplainAlert returns a [*KeyExchangeError] for a client's handshake that the other end refused
// while this program offers no quantum-safe key exchange, and any other error as it is.
func ExplainAlert(err error) error {
	const handshakeFailure = tls.AlertError(40)
	at, ok := errors.AsType[*net.OpError](err)
	if !ok || at.Op != "remote error" || at.Err.Error() != handshakeFailure.Error() {
		return err
	}
	offered := offered()
	if slices.ContainsFunc(offered, isQuantumSafe) {
		return err
	}
	return &KeyExchangeError{Offered: names(offered)}
}

// CheckQuantumSafe returns a [*KeyExchangeError] if this program offers no quantum-safe key
// exchange: a server that demands one would let nobody in.
func CheckQuantumSafe() error {
	if offered := offered(); !slices.ContainsFunc(offered, isQuantumSafe) {
		return &KeyExchangeError{Offered: names(offered)}
	}
	return nil
}

// offered returns the groups that this program's TLS offers: GODEBUG and FIPS mode choose them.
func offered() (out []tls.CurveID) {
	client, server := net.Pipe()
	defer server.Close()
	go func() {
		defer client.Close()
		tls.Client(client, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}).Handshake() // its first message is all that is wanted
	}()
	tls.Server(server, &tls.Config{MinVersion: tls.VersionTLS13, GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		out = slices.Clone(h.SupportedCurves)
		return nil, errors.New("pki: enough")
	}}).Handshake()
	return out
}

func names(ids []tls.CurveID) (out []string) {
	for _, id := range ids {
		out = append(out, id.String())
	}
	return out
}
