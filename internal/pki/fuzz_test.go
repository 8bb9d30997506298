package pki

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/x509"
	"path/filepath"
	"testing"

	"covey/test/must"
)

// fuzzed is a federation whose files are the seeds.
func fuzzed(f *testing.F) (*Authority, *Holder, string) {
	f.Helper()
	dir := filepath.Join(f.TempDir(), "coordinator")
	if err := Init(dir, nil, start); err != nil {
		f.Fatal(err)
	}
	a, err := Load(dir)
	if err != nil {
		f.Fatal(err)
	}
	home := filepath.Join(f.TempDir(), "north")
	if err := NewKeys(home); err != nil {
		f.Fatal(err)
	}
	s, err := LoadHolder(RoleSite, home)
	if err != nil {
		f.Fatal(err)
	}
	return a, s, dir
}

// FuzzFiles: whatever a key's or a certificate's file holds, an error that repeats nothing of it,
// or what is written again in one form that reads the same.
func FuzzFiles(f *testing.F) {
	a, _, dir := fuzzed(f)
	for _, name := range []string{caKeyFile, caFile, serverKeyFile, serverFile, signingFile} {
		raw, err := readFile(filepath.Join(dir, name), false)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
		f.Add(append(bytes.Clone(raw), raw...))
	}
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nProc-Type: 4\n\nAAAA\n-----END CERTIFICATE-----\n"))
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		if key, err := parseKey(raw); err == nil {
			written, err := keyPEM(key())
			if err != nil {
				return // a kind that this cannot write, such as X25519, signs nothing
			}
			again, err := parseKey(written)
			if err != nil || !again().Public().(interface{ Equal(crypto.PublicKey) bool }).Equal(key().Public()) {
				t.Fatal("another key comes back")
			}
		}
		if cert, err := parseCertificate(raw); err == nil {
			again, err := parseCertificate(certificatePEM(cert.Raw))
			if err != nil || !again.Equal(cert) {
				t.Fatal("another certificate comes back")
			}
			siteName(cert)
			NodeName(cert)
		}
		path := filepath.Join(home, "x.pem")
		if err := ReplaceFile(path, raw, secretMode); err != nil {
			t.Fatal(err)
		}
		if certs, err := readBundle(path); err == nil {
			if err := ReplaceFile(path, bundlePEM(certs), secretMode); err != nil {
				t.Fatal(err)
			}
			again, err := readBundle(path)
			if err != nil || len(again) != len(certs) {
				t.Fatalf("%d certificates come back as %d: %v", len(certs), len(again), err)
			}
		} else {
			must.As[*FileError](t, err)
		}
		if err := CheckCA(raw, a.Fingerprint()); err == nil && !bytes.Contains(raw, []byte("BEGIN CERTIFICATE")) {
			t.Fatal("no certificate has the CA's fingerprint")
		}
		a.Trust(Voucher{Certificate: raw, Endorsement: raw})
		a.Trust()
	})
}

// FuzzEstate: the keys that a new coordinator is sent are whole and belong together, and are
// written as they were read.
func FuzzEstate(f *testing.F) {
	a, _, _ := fuzzed(f)
	raw, err := a.Estate().Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte(`{"ca":"","ca_key":"AAAA","signing_key":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := ParseEstate(raw)
		if err != nil {
			must.As[*CertificateError](t, err)
			return
		}
		written, err := e.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseEstate(written)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.Bytes(); err != nil || !bytes.Equal(twice, written) {
			t.Fatal("other keys come back")
		}
	})
}

// FuzzRequest: whatever a certificate request is, an error, or a certificate that names the site
// that asked, for its key, and nothing else that the request wished for.
func FuzzRequest(f *testing.F) {
	a, s, _ := fuzzed(f)
	csr, err := s.CSR("north")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("north", csr)
	f.Add("South", csr)
	f.Add("north", csr[:len(csr)-1])
	f.Fuzz(func(t *testing.T, name string, der []byte) {
		text, err := a.Issue(RoleSite, name, der, start)
		if err != nil {
			return
		}
		cert, err := parseCertificate(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := siteName(cert)
		request, bad := x509.ParseCertificateRequest(der)
		if err != nil || bad != nil || got != name || cert.IsCA || len(cert.DNSNames)+len(cert.IPAddresses)+len(cert.EmailAddresses) > 0 ||
			!cert.PublicKey.(ed25519.PublicKey).Equal(request.PublicKey) {
			t.Fatalf("%v: %s", err, cert.Subject)
		}
		CheckIdentityProof(cert.PublicKey.(ed25519.PublicKey), name, [32]byte{}, der, der)
	})
}

// FuzzToken: a token has one form.
func FuzzToken(f *testing.F) {
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n")
	f.Fuzz(func(t *testing.T, text string) {
		token, err := parseToken(text)
		if err == nil && token.reveal() != text || err != nil && err != ErrToken {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
