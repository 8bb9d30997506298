package enroll

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
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

// TestHandshakeErrorStays: what is logged once a change of state does not change with the time or
// the caller's port, and says what to compare, ask for or do.
func TestHandshakeErrorStays(t *testing.T) {
	from := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	of := func(now string) string {
		invalid := x509.CertificateInvalidError{Cert: &x509.Certificate{NotBefore: from, NotAfter: from.AddDate(1, 0, 0)}, Reason: x509.Expired, Detail: "current time " + now}
		return (&HandshakeError{&tls.CertificateVerificationError{Err: invalid}}).Error()
	}
	if of("a") != of("b") || !strings.Contains(of("a"), "valid from 2026-01-02T03:04:05Z to 2027-01-02T03:04:05Z, which is not now by this machine's clock") {
		t.Errorf("%s; %s", of("a"), of("b"))
	}
	reset := func(port int) string {
		return (&HandshakeError{&net.OpError{Op: "read", Net: "tcp", Source: &net.TCPAddr{Port: port}, Addr: &net.TCPAddr{Port: 7443}, Err: os.NewSyscallError("read", syscall.ECONNRESET)}}).Error()
	}
	if reset(39712) != reset(39714) || !strings.Contains(reset(1), "broke off: read: connection reset by peer") {
		t.Errorf("%s; %s", reset(39712), reset(39714))
	}
	if text := (&HandshakeError{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}}).Error(); !strings.Contains(text, "ask for a join file with --again") {
		t.Error(text)
	}
	if text := (&HandshakeError{tls.RecordHeaderError{Msg: "first record"}}).Error(); !strings.Contains(text, "does not speak TLS") {
		t.Error(text)
	}
}
