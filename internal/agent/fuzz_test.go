package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"covey/internal/pki"
	"covey/test/site"
)

// FuzzVouchers: CAs that a coordinator says are in force are trusted only on the word of one that
// is, so never of the fuzzer's.
func FuzzVouchers(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "alpha")
	a := site.Authority(f, filepath.Join(f.TempDir(), "coordinator"), testNow)
	s := site.Issue(f, dir, "alpha", a, testNow)
	certificate, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(a.CertificatePEM(), []byte{})
	f.Add(certificate, a.CertificatePEM())
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), certificate)
	f.Fuzz(func(t *testing.T, ca, endorsement []byte) {
		changed, _ := s.Trust([]pki.Voucher{{Certificate: a.CertificatePEM()}, {Certificate: ca, Endorsement: endorsement}}, testNow.Add(time.Hour))
		if changed || len(s.Authorities()) != 1 {
			t.Fatalf("it trusts %d CAs", len(s.Authorities()))
		}
	})
}
