package pki

import (
	"crypto/tls"
	"crypto/x509"
	"time"
)

// JoinTLS returns a new configuration for the one call that a site makes before it
// has a certificate. It knows the CA by fingerprint alone; serverName is the host
// that is dialled, from the join file. The handshake fails with a [*WrongCAError]
// if the coordinator does not show the CA certificate of that fingerprint, and with
// a [*CertificateError] if its own is not signed by that CA, not good for
// serverName, not a server's, or not good at the time.
//
// crypto/tls wants its roots before the handshake and here the root comes in it, so
// its verification is off and VerifyConnection, which crypto/tls runs before a byte
// is sent, does the whole of it again. That is as strong:
//   - the root is the certificate whose SHA-256 is the fingerprint, and a second one
//     would be a second preimage;
//   - the chain is verified by the same x509 code with that root as the only one and
//     no intermediates, and the host, the usage and the time are given;
//   - that the peer holds the leaf's key is checked by the TLS 1.3 CertificateVerify
//     message, which InsecureSkipVerify does not skip;
//   - no session can be resumed past it, for there is no session cache.
//
// serverName is an argument and not taken from the connection because crypto/tls
// reports no name there for an IP address.
func JoinTLS(fingerprint, serverName string) *tls.Config {
	c := &tls.Config{
		MinVersion:         tls.VersionTLS13,
		ServerName:         serverName,
		InsecureSkipVerify: true,
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		now := time.Now
		if c.Time != nil {
			now = c.Time
		}
		return verifyPinned(s.PeerCertificates, fingerprint, serverName, now())
	}
	return c
}

func verifyPinned(chain []*x509.Certificate, fingerprint, serverName string, now time.Time) error {
	if len(chain) < 2 {
		return &WrongCAError{Want: fingerprint}
	}
	ca := chain[len(chain)-1]
	// not a leaf that vouches for itself
	if got := CAFingerprint(ca); got != fingerprint || !ca.IsCA {
		return &WrongCAError{fingerprint, got}
	}
	// Verify with an empty DNSName would check no host.
	if validHost(serverName) != nil {
		return &CertificateError{"the coordinator's certificate cannot be checked", &HostError{serverName}}
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots:       pool(ca),
		DNSName:     serverName,
		CurrentTime: now,
		KeyUsages:   []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return &CertificateError{"the coordinator's certificate does not verify", err}
	}
	return nil
}

// CheckCA checks a CA certificate in PEM against the fingerprint of a join file.
// Errors: [*CertificateError], [*WrongCAError].
func CheckCA(caPEM []byte, fingerprint string) error {
	ca, err := parseCertificate(caPEM)
	if err != nil {
		return &CertificateError{"the CA certificate does not parse", err}
	}
	if got := CAFingerprint(ca); got != fingerprint {
		return &WrongCAError{fingerprint, got}
	}
	return nil
}
