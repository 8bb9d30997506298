package enroll

import (
	"crypto/x509"
	"strings"
	"testing"
)

// TestCertificatesNamesArePrintable: the names in a certificate reach the operator in the words of
// the handshake's error. Whoever answers at the coordinator's address chooses them: they are looked
// at before the chain is.
func TestCertificatesNamesArePrintable(t *testing.T) {
	foreign := "a\nlinked to b\x1b[2K\u202e"
	err := &HandshakeError{x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{foreign}}, Host: "c"}}
	for _, text := range []string{err.Error(), Plain(err)} {
		if strings.ContainsAny(text, "\n\x1b\u202e") || !strings.Contains(text, "linked to b") {
			t.Errorf("%q", text)
		}
	}
}
