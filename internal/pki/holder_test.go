package pki

import (
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"covey/test/must"
)

func identity(s *Holder) ed25519.PublicKey { return s.identity().Public().(ed25519.PublicKey) }

func TestSiteKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	if err := NewKeys(dir); err != nil {
		t.Fatal(err)
	}
	if got := folder(t, dir); !maps.Equal(got, map[string]fs.FileMode{"identity.key": 0o600, "tls.key": 0o600}) {
		t.Fatal(got)
	}
	s := reload(t, dir)
	if s.identity().Equal(s.key()) {
		t.Fatal("one key for two ends")
	}
	// Again: nothing changes.
	before := contents(t, dir)
	if err := NewKeys(dir); err != nil {
		t.Fatal(err)
	}
	if after := contents(t, dir); len(after) != len(before) || !reload(t, dir).identity().Equal(s.identity()) {
		t.Fatal("keys changed")
	}
	// A lost TLS key is made anew, the identity stays.
	if err := os.Remove(filepath.Join(dir, tlsKeyFile)); err != nil {
		t.Fatal(err)
	}
	if err := NewKeys(dir); err != nil {
		t.Fatal(err)
	}
	if got := reload(t, dir); !got.identity().Equal(s.identity()) || got.key().Equal(s.key()) {
		t.Fatal("wrong key made anew")
	}
}

func TestLoadSiteRefuses(t *testing.T) {
	a := newAuthority(t)
	other := member(t, a, "north")
	otherCert := certificatePEM(other.Certificate().Raw)
	for name, c := range map[string]struct {
		file, blamed string
		break_       func(path string) error
	}{
		"no identity":         {identityFile, identityFile, os.Remove},
		"no TLS key":          {tlsKeyFile, tlsKeyFile, os.Remove},
		"no CA":               {caFile, caFile, os.Remove},
		"half an identity":    {identityFile, identityFile, func(p string) error { return os.Truncate(p, 60) }},
		"certificate as key":  {tlsKeyFile, tlsKeyFile, func(p string) error { return os.WriteFile(p, otherCert, 0o600) }},
		"empty certificate":   {tlsFile, tlsFile, func(p string) error { return os.Truncate(p, 0) }},
		"another's":           {tlsFile, tlsFile, func(p string) error { return os.WriteFile(p, otherCert, 0o644) }},
		"another CA":          {caFile, tlsFile, func(p string) error { return os.WriteFile(p, newAuthority(t).CertificatePEM(), 0o644) }},
		"leaf in place of CA": {caFile, tlsFile, func(p string) error { return os.WriteFile(p, otherCert, 0o644) }},
	} {
		s := member(t, a, "north")
		if err := c.break_(filepath.Join(s.dir, c.file)); err != nil {
			t.Fatal(err)
		}
		_, err := LoadHolder(RoleSite, s.dir)
		if e, ok := errors.AsType[*FileError](err); !ok || e.Path != filepath.Join(s.dir, c.blamed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, file := range []string{identityFile, tlsKeyFile} {
		s := member(t, a, "north")
		if err := os.Chmod(filepath.Join(s.dir, file), 0o604); err != nil {
			t.Fatal(err)
		}
		_, err := LoadHolder(RoleSite, s.dir)
		must.As[*ModeError](t, err)
	}
}

func TestNotJoined(t *testing.T) {
	s := newSite(t)
	if _, err := s.ClientTLS("localhost"); err != ErrNotJoined {
		t.Fatal(err)
	}
	if s.Name() != "" || s.Certificate() != nil {
		t.Fatal("a site that has not joined has a name")
	}
	a := newAuthority(t)
	if err := s.SaveCertificate(issue(t, a, s, "north", start), nil, start); err != ErrNotJoined {
		t.Fatal(err)
	}
	_, err := s.CSR("Not A Name")
	must.As[*NameError](t, err)
	// A crash between the two files of a join: not joined, and it can join, even
	// under another CA.
	if err := ReplaceFile(filepath.Join(s.dir, caFile), newAuthority(t).CertificatePEM(), publicMode); err != nil {
		t.Fatal(err)
	}
	s = reload(t, s.dir)
	// The coordinator's clock may have gone back since its init.
	if err := s.SaveCertificate(issue(t, a, s, "north", start.Add(-30*time.Minute)), a.CertificatePEM(), start); err != nil {
		t.Fatal(err)
	}
	if got := reload(t, s.dir); got.Name() != "north" {
		t.Fatal(got.Name())
	}
}

// Whatever is refused changes neither the site nor its folder.
func TestSaveCertificateRefuses(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	s := member(t, a, "north")
	good := issue(t, a, s, "north", start)
	before, held := contents(t, s.dir), s.Certificate()
	certificate := func(err error) bool { _, ok := errors.AsType[*CertificateError](err); return ok }
	clock := func(err error) bool {
		return certificate(err) && strings.HasSuffix(err.Error(), "which is not now by this machine's clock: compare clocks")
	}
	wrongCA := func(err error) bool { _, ok := errors.AsType[*WrongCAError](err); return ok }
	server := certificatePEM(a.ServerCertificate().Raw)
	serverForSite, err := issueServer(a.CA(), a.caKey(), s.key(), []string{"localhost"}, start)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		cert, ca []byte
		now      time.Time
		want     func(error) bool
	}{
		"nothing":             {nil, nil, start, certificate},
		"a CA that is noise":  {good, []byte("x"), start, certificate},
		"two certificates":    {append(slices.Clone(good), good...), nil, start, certificate},
		"another site's key":  {issue(t, a, newSite(t), "north", start), nil, start, certificate},
		"another name":        {issue(t, a, s, "south", start), nil, start, certificate},
		"another CA":          {issue(t, other, s, "north", start), other.CertificatePEM(), start, wrongCA},
		"another CA, unsaid":  {issue(t, other, s, "north", start), nil, start, certificate},
		"CA does not fit":     {issue(t, other, s, "north", start), a.CertificatePEM(), start, certificate},
		"a leaf as CA":        {good, server, start, wrongCA},
		"expired":             {good, nil, start.Add(91 * days), clock},
		"not yet":             {good, nil, start.Add(-2 * time.Hour), clock},
		"a server's":          {certificatePEM(serverForSite.Raw), nil, start, certificate},
		"a key for a request": {request(t, s, "north"), nil, start, certificate},
	} {
		if err := s.SaveCertificate(c.cert, c.ca, c.now); !c.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		if !s.Certificate().Equal(held) || len(contents(t, s.dir)) != len(before) || !reload(t, s.dir).Certificate().Equal(held) {
			t.Fatalf("%s: the site changed", name)
		}
	}
	// A first certificate under another leaf that plays the CA, or under itself, or
	// for a server.
	fresh := newSite(t)
	own := issue(t, a, fresh, "north", start)
	answers := special(t, a, identity(&Holder{identity: fresh.key}), func(c *x509.Certificate) {
		c.Subject.CommonName, c.URIs, c.ExtKeyUsage = "north", held.URIs, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	})
	for _, pair := range [][2][]byte{{own, server}, {own, own}, {certificatePEM(answers.Raw), a.CertificatePEM()}} {
		if err := fresh.SaveCertificate(pair[0], pair[1], start); !certificate(err) || len(folder(t, fresh.dir)) != 2 {
			t.Error(err)
		}
	}
	// And a renewal, with the CA and without.
	for _, ca := range [][]byte{nil, a.CertificatePEM()} {
		next := issue(t, a, s, "north", start.Add(60*days))
		if err := s.SaveCertificate(next, ca, start.Add(60*days)); err != nil {
			t.Fatal(err)
		}
		if got := reload(t, s.dir).Certificate(); Expiry(got, start) != 150 || !got.Equal(s.Certificate()) {
			t.Fatal(got.NotAfter)
		}
	}
	if got := folder(t, s.dir); !maps.Equal(got, map[string]fs.FileMode{"identity.key": 0o600, "tls.key": 0o600, "ca.crt": 0o644, "tls.crt": 0o644}) {
		t.Fatal(got)
	}
}

func TestCheckCA(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	if err := CheckCA(a.CertificatePEM(), a.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	must.As[*WrongCAError](t, CheckCA(other.CertificatePEM(), a.Fingerprint()))
	must.As[*CertificateError](t, CheckCA([]byte("x"), a.Fingerprint()))
}

// The proof binds the identity, the name, the token and the request, each apart.
func TestIdentityProof(t *testing.T) {
	s, thief := newSite(t), newSite(t)
	j, k := newJoin(t), newJoin(t)
	csr := request(t, s, "north")
	proof := s.ProveIdentity("north", j.Token.Hash(), csr)
	if err := CheckIdentityProof(identity(s), "north", j.Token.Hash(), csr, proof); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another identity": CheckIdentityProof(identity(thief), "north", j.Token.Hash(), csr, proof),
		"another name":     CheckIdentityProof(identity(s), "south", j.Token.Hash(), csr, proof),
		"another token":    CheckIdentityProof(identity(s), "north", k.Token.Hash(), csr, proof),
		"another request":  CheckIdentityProof(identity(s), "north", j.Token.Hash(), request(t, thief, "north"), proof),
		"bent":             CheckIdentityProof(identity(s), "north", j.Token.Hash(), csr, append([]byte{proof[0] ^ 1}, proof[1:]...)),
		"short":            CheckIdentityProof(identity(s), "north", j.Token.Hash(), csr, proof[:63]),
		"none":             CheckIdentityProof(identity(s), "north", j.Token.Hash(), csr, nil),
		"by the TLS key":   CheckIdentityProof(identity(&Holder{identity: s.key}), "north", j.Token.Hash(), csr, proof),
		"no key":           CheckIdentityProof(nil, "north", j.Token.Hash(), csr, proof),
		"short key":        CheckIdentityProof(identity(s)[:31], "north", j.Token.Hash(), csr, proof),
	} {
		if err != ErrIdentityProof {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Where one part ends and the next begins is signed too.
	hash := j.Token.Hash()
	moved := joinMessage("nort", [32]byte(append([]byte("h"), hash[:31]...)), append([]byte{hash[31]}, csr...))
	if string(moved) == string(joinMessage("north", hash, csr)) {
		t.Error("two joins have one message")
	}
	// And what is signed is no message of another protocol.
	if sig := ed25519.Sign(s.Identity(), joinMessage("north", hash, csr)[8:]); CheckIdentityProof(identity(s), "north", hash, csr, sig) == nil {
		t.Error("the label is not signed as such")
	}
}
