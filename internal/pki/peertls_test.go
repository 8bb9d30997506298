package pki

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// forged is a certificate for the coordinators' port that the CA's key signed, changed by change.
func forged(t *testing.T, a *Authority, change func(*x509.Certificate)) *tls.Certificate {
	t.Helper()
	pub, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := template(start, start.Add(days))
	tmpl.Subject = pkix.Name{CommonName: "one"}
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	tmpl.DNSNames = []string{nodeHost}
	tmpl.URIs = []*url.URL{{Scheme: "covey", Host: "node", Path: "/one"}}
	change(tmpl)
	cert, err := create(tmpl, a.CA(), pub, a.cas.Load().key())
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{cert.Raw, a.CA().Raw}, PrivateKey: key, Leaf: cert}
}

// TestPeersLookAtNames: PEER-1. A certificate of the CA that names no coordinator is refused, by
// the one that dials and by the one that accepts, although all else about it is in order.
func TestPeersLookAtNames(t *testing.T) {
	a := newAuthority(t)
	one := peerTLS(t, a, "one")
	for what, c := range map[string]struct {
		change func(*x509.Certificate)
		good   bool
	}{
		"a coordinator's": {func(*x509.Certificate) {}, true},
		"no URI":          {func(c *x509.Certificate) { c.URIs = nil }, false},
		"a site's URI":    {func(c *x509.Certificate) { c.URIs[0].Host = "site" }, false},
		"another's URI":   {func(c *x509.Certificate) { c.URIs[0].Path = "/two" }, false},
		"no name":         {func(c *x509.Certificate) { c.Subject, c.URIs[0].Path = pkix.Name{}, "/" }, false},
	} {
		shown := forged(t, a, c.change)
		dialler, server := one.Client(talking), one.Server(joining, talking)
		other := server.Clone()
		other.GetConfigForClient, other.VerifyConnection = nil, nil
		other.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return shown, nil }
		if dialled, _ := shake(dialler, other); (dialled == nil) != c.good {
			t.Errorf("%s, dialled: %v", what, dialled)
		}
		caller := one.Client(talking)
		caller.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return shown, nil }
		if _, accepted := shake(caller, server); (accepted == nil) != c.good {
			t.Errorf("%s, accepted: %v", what, accepted)
		}
	}
}

// TestPeersPin: PEER-6. Once keys are pinned, one that is none of them is refused on both sides,
// whatever name it is under.
func TestPeersPin(t *testing.T) {
	a := newAuthority(t)
	for _, name := range []string{"one", "two"} {
		for _, known := range []bool{true, false} {
			pinned := peerTLS(t, a, "one")
			pinned.Pin(func(key ed25519.PublicKey) bool { return known && key.Equal(a.NodeKey()) })
			other := peerTLS(t, a, name)
			if dialled, _ := shake(pinned.Client(talking), other.Server(joining, talking)); (dialled == nil) != known {
				t.Errorf("%s, pinned %v, dialled: %v", name, known, dialled)
			}
			if _, accepted := shake(other.Client(talking), pinned.Server(joining, talking)); (accepted == nil) != known {
				t.Errorf("%s, pinned %v, accepted: %v", name, known, accepted)
			}
		}
	}
}

// TestPeersSpeakOnlyTLS13: PKI-11, at the coordinators' port: for coordinators, for joiners, and
// for who dials.
func TestPeersSpeakOnlyTLS13(t *testing.T) {
	a := newAuthority(t)
	one := peerTLS(t, a, "one")
	old := func(c *tls.Config) *tls.Config {
		c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		return c
	}
	join := NodeJoinTLS(a.Fingerprint(), joining)
	join.Time = one.now
	for what, c := range map[string]*tls.Config{"a coordinator": one.Client(talking), "a joiner": join} {
		if dialled, accepted := shake(old(c), one.Server(joining, talking)); dialled == nil || accepted == nil {
			t.Errorf("%s was let in with TLS 1.2: %v, %v", what, dialled, accepted)
		}
	}
	server := one.Server(joining, talking)
	server.GetConfigForClient = nil
	if dialled, _ := shake(one.Client(talking), old(server)); dialled == nil {
		t.Error("a coordinator of TLS 1.2 was dialled")
	}
}

// TestOwnCAMustSign: RE-12. A CA whose key usage leaves certSign out is refused as that, before it
// is tried.
func TestOwnCAMustSign(t *testing.T) {
	dir := t.TempDir()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err = errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for usage, fine := range map[x509.KeyUsage]bool{x509.KeyUsageCertSign: true, x509.KeyUsageDigitalSignature: false, x509.KeyUsageCRLSign: false} {
		tmpl := template(start, start.Add(caValidity))
		tmpl.Subject, tmpl.IsCA, tmpl.BasicConstraintsValid, tmpl.KeyUsage = pkix.Name{CommonName: "own"}, true, true, usage
		der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), crypto.Signer(key))
		cert := write("own.crt", certificatePEM(der), err)
		pem, err := keyPEM(key)
		err = InitOwn(filepath.Join(dir, "made"), cert, write("own.key", pem, err), nil, start)
		if fine {
			if err != nil {
				t.Error(err)
			}
			os.RemoveAll(filepath.Join(dir, "made"))
			continue
		}
		if file, ok := errors.AsType[*FileError](err); !ok || !strings.Contains(file.Reason, "may not sign certificates") {
			t.Errorf("key usage %b: %v", usage, err)
		}
		if err := Vacant(filepath.Join(dir, "made")); err != nil {
			t.Error(err)
		}
	}
}

// TestMembersFile: the note is read as it was written, and what is none is named.
func TestMembersFile(t *testing.T) {
	dir := t.TempDir()
	if m, err := LoadMembers(dir); err != nil || m.Version != 0 || m.Known(make(ed25519.PublicKey, ed25519.PublicKeySize)) {
		t.Errorf("%+v, %v", m, err)
	}
	a := newAuthority(t)
	if err := SaveMembers(dir, Members{3, map[string][]byte{"one": a.NodeKey(), "short": {1}}}); err != nil {
		t.Fatal(err)
	}
	if m, err := LoadMembers(dir); err != nil || m.Version != 3 || !m.Known(a.NodeKey()) || m.Known(ed25519.PublicKey{1}) {
		t.Errorf("%+v, %v", m, err)
	}
	for _, text := range []string{"", "{", `{"version":-1}`, `{"keys":{"x":5}}`, `{"other":1}`} {
		if err := os.WriteFile(filepath.Join(dir, membersFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadMembers(dir); err == nil || !strings.Contains(err.Error(), membersFile) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := Vacant(dir); err == nil {
		t.Error("a folder with another federation's note is vacant")
	}
}

// FuzzMembers: whatever a note holds is read or refused, and what was read is written and read the
// same.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"version":3,"keys":{"one":"AAAA"}}`))
	f.Add([]byte(`{"version":18446744073709551615,"keys":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := parseMembers("note", raw)
		if err != nil {
			return
		}
		m.Known(make(ed25519.PublicKey, ed25519.PublicKeySize))
		dir := t.TempDir()
		if err := SaveMembers(dir, m); err != nil {
			t.Fatal(err)
		}
		again, err := LoadMembers(dir)
		if err != nil || again.Version != m.Version || !maps.EqualFunc(again.Keys, m.Keys, bytes.Equal) {
			t.Fatalf("%+v was read again as %+v (%v)", m, again, err)
		}
	})
}
