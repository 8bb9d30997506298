package pki

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base32"
	"encoding/hex"
	"net"
	"strings"
	"time"

	"covey/internal/name"
)

// Role is what the holder of a client certificate may ask for. The certificate's URI says it:
// covey://ROLE/NAME.
type Role string

// The roles of client certificates. They share one namespace: no site has the name of an analyst.
const (
	RoleSite    Role = "site"
	RoleAnalyst Role = "analyst"
)

// ValidName checks the name of a site, an analyst or a coordinator, as [name.Valid]. The error is a
// [*NameError].
func ValidName(s string) error {
	if !name.Valid(s) {
		return &NameError{s}
	}
	return nil
}

// validHost checks what a server certificate is made for.
func validHost(host string) error {
	if net.ParseIP(host) != nil {
		return nil
	}
	if len(host) > 253 {
		return &HostError{host}
	}
	for part := range strings.SplitSeq(host, ".") {
		if !name.Label(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") {
			return &HostError{host}
		}
	}
	return nil
}

// RoleOf returns whose a certificate is: the CN and the one URI covey://ROLE/NAME must agree. It
// does not verify the certificate: take one from tls.ConnectionState.VerifiedChains. The error is a
// [*CertificateError].
func RoleOf(cert *x509.Certificate) (Role, string, error) {
	name := cert.Subject.CommonName
	if ValidName(name) == nil && len(cert.URIs) == 1 {
		for _, role := range []Role{RoleSite, RoleAnalyst} {
			if cert.URIs[0].String() == role.uri(name) {
				return role, name, nil
			}
		}
	}
	return "", "", &CertificateError{Reason: "the certificate names no site and no analyst"}
}

func (r Role) uri(name string) string { return "covey://" + string(r) + "/" + name }

// Fingerprint is the form of an identity key that people compare by eye or over
// the telephone: 120 bits of SHA-256 in six groups of four letters and digits. To
// pass for a site a forger needs a second preimage, 2^120 work. Rosters pin the
// whole key; this is only how it is shown.
func Fingerprint(pub ed25519.PublicKey) string {
	h := sha256.Sum256(append([]byte("covey identity v1\x00"), pub...))
	return groups(strings.ToLower(base32.StdEncoding.EncodeToString(h[:15])))
}

// CAFingerprint is the form of a CA certificate that people compare, as in join files: the SHA-256
// of its DER in sixteen groups of four hexadecimal digits.
func CAFingerprint(cert *x509.Certificate) string {
	h := sha256.Sum256(cert.Raw)
	return groups(hex.EncodeToString(h[:]))
}

// validFingerprint checks the form that CAFingerprint returns, and no other.
func validFingerprint(s string) bool {
	digits := strings.ReplaceAll(s, "-", "")
	return len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == "" && groups(digits) == s
}

func groups(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i += 4 {
		if i > 0 {
			b.WriteByte('-')
		}
		b.WriteString(s[i:min(i+4, len(s))])
	}
	return b.String()
}

// Expiry returns the whole days until a certificate's end, rounded down: 0 on the
// last day, negative once it is past.
func Expiry(cert *x509.Certificate, now time.Time) (daysLeft int) {
	const day = 24 * time.Hour
	left := cert.NotAfter.Sub(now)
	days := int(left / day)
	if left < 0 && left%day != 0 {
		days-- // division rounds towards zero
	}
	return days
}
