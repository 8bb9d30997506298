package pki

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"
)

// TestJoinersErrorsArePrintable: who answers at the address of a join file may show the right CA,
// which is no secret, behind a certificate of its own making. Its names reach the operator who
// joins in an error, as a terminal can take them.
func TestJoinersErrorsArePrintable(t *testing.T) {
	dir := t.TempDir()
	if err := Init(dir, []string{"localhost"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	a, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	public, key, _ := ed25519.GenerateKey(rand.Reader)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"a\x1b[2K\r\nCA ok"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, leaf, leaf, public, key)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	err = verifyPinned([]*x509.Certificate{shown, a.CA()}, a.Fingerprint(), "localhost", time.Now())
	if _, ok := errors.AsType[*CertificateError](err); !ok || strings.ContainsAny(err.Error(), "\x1b\r\n") || !strings.Contains(err.Error(), "CA ok") {
		t.Errorf("%q", err)
	}
}
