package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// brought writes a CA as an organization brings it; under another CA unless root.
func brought(t *testing.T, key crypto.Signer, change func(*x509.Certificate)) (certFile, keyFile string) {
	t.Helper()
	above, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Example Root"}, NotBefore: start.Add(-days), NotAfter: start.Add(5000 * days), IsCA: true, BasicConstraintsValid: true}
	ca := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Example Covey CA"}, NotBefore: start.Add(-days), NotAfter: start.Add(2000 * days),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	if change != nil {
		change(ca)
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, parent, key.Public(), above)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	raw, err := keyPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "own.crt"), filepath.Join(dir, "own.key")
	if err := os.WriteFile(certFile, certificatePEM(der), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keyFile, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile
}

// TestOwnCA runs a federation under CAs with keys of every kind, each itself under another: sites
// join by its fingerprint, a second coordinator takes it over, and it can be changed for one of our
// making.
func TestOwnCA(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsa2048, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]crypto.Signer{"Ed25519": ed25519.NewKeyFromSeed(make([]byte, 32)), "ECDSA": p384, "RSA": rsa2048} {
		t.Run(name, func(t *testing.T) {
			certFile, keyFile := brought(t, key, nil)
			dir := filepath.Join(t.TempDir(), "hub")
			if err := InitOwn(dir, certFile, keyFile, []string{"hub.example"}, start); err != nil {
				t.Fatal(err)
			}
			a, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			s := member(t, a, "north")
			if !connects(t, a, s) {
				t.Error("a site is out")
			}
			if client, server := dial(t, at(a.ServerTLS(), start), at(JoinTLS(a.Fingerprint(), "hub.example"), start), greet); client != nil || server != nil {
				t.Errorf("joining by fingerprint: %v, %v", client, server)
			}
			estate, err := a.Estate().Bytes()
			if err != nil {
				t.Fatal(err)
			}
			e, err := ParseEstate(estate)
			if err != nil {
				t.Fatal(err)
			}
			second := filepath.Join(t.TempDir(), "two")
			if err := InitNode(second, e, a.Fingerprint(), nil, start); err != nil {
				t.Fatal(err)
			}
			b, err := Load(second)
			if err != nil {
				t.Fatal(err)
			}
			if !connects(t, b, s) {
				t.Error("the second coordinator refuses it")
			}
			if _, err := s.Trust(vouched(t, a), start); err != nil {
				t.Errorf("the change to another: %v", err)
			}
		})
	}
}

// TestOwnCARefuses: a CA that cannot do its work is refused with its reason before anything is
// written.
func TestOwnCARefuses(t *testing.T) {
	count := 0
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	other := ed25519.NewKeyFromSeed(append(make([]byte, 31), 1))
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	for name, c := range map[string]struct {
		key    crypto.Signer
		change func(*x509.Certificate)
	}{
		"no CA":                {key, func(c *x509.Certificate) { c.IsCA = false }},
		"may not sign":         {key, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageCRLSign }},
		"not yet":              {key, func(c *x509.Certificate) { c.NotBefore = start.Add(days) }},
		"ended":                {key, func(c *x509.Certificate) { c.NotAfter = start.Add(-time.Hour) }},
		"ends soon":            {key, func(c *x509.Certificate) { c.NotAfter = start.Add(89 * days) }},
		"servers alone":        {key, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }},
		"other names":          {key, func(c *x509.Certificate) { c.PermittedDNSDomains = []string{"example.org"} }},
		"another's key":        {other, nil},
		"a key that is short":  {small, nil},
		"a key others can see": {key, nil},
	} {
		count++
		t.Run(name, func(t *testing.T) {
			if c.key == crypto.Signer(small) && err != nil {
				return // this build of Go makes no such keys, and reads none
			}
			certFile, keyFile := brought(t, c.key, c.change)
			switch name {
			case "another's key":
				_, keyFile = brought(t, key, nil)
			case "a key others can see":
				if err := os.Chmod(keyFile, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			dir := filepath.Join(t.TempDir(), "hub")
			err := InitOwn(dir, certFile, keyFile, nil, start)
			_, file := errors.AsType[*FileError](err)
			_, mode := errors.AsType[*ModeError](err)
			if !file && !mode {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("something was written")
			}
		})
	}
	t.Logf("figure: %d bad inputs: CAs that an organization brings", count)
}
