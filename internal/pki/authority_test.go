package pki

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"covey/test/must"
)

func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	if err := Init(dir, []string{"covey.example.org", "192.0.2.7", "localhost"}, start); err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{"ca.key": 0o600, "ca.crt": 0o644, "server.key": 0o600, "server.crt": 0o644, "signing.key": 0o600}
	if got := folder(t, dir); !maps.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	a, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^([0-9a-f]{4}-){15}[0-9a-f]{4}$`).MatchString(a.Fingerprint()) {
		t.Fatal(a.Fingerprint())
	}
	server := a.ServerCertificate()
	for _, host := range []string{"covey.example.org", "192.0.2.7", "localhost", "127.0.0.1", "::1"} {
		if err := server.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	if server.VerifyHostname("other.example.org") == nil || server.VerifyHostname("192.0.2.8") == nil {
		t.Error("the server certificate is for a host that was not named")
	}
	if server.IsCA || !slices.Equal(server.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}) || !a.CA().IsCA || !a.CA().MaxPathLenZero || a.CA().KeyUsage != x509.KeyUsageCertSign {
		t.Error("the CA must sign leaves only, and the server nothing")
	}
	if len(a.SigningKey()) != ed25519.PrivateKeySize || a.SigningKey().Equal(a.caKey()) || a.serverKey().Equal(a.caKey()) {
		t.Error("keys are not three")
	}
	if b := newAuthority(t); b.Fingerprint() == a.Fingerprint() || b.SigningKey().Equal(a.SigningKey()) {
		t.Error("two folders share a key")
	}
}

// Any one of the files is enough to stop Init, and nothing changes.
func TestInitRefusesToOverwrite(t *testing.T) {
	for _, name := range []string{caKeyFile, caFile, serverKeyFile, serverFile, signingFile} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Init(dir, nil, start)
		if e := must.As[*ExistsError](t, err); e.Path != filepath.Join(dir, name) {
			t.Error(e)
		}
		if got := contents(t, dir); got != name+"\nprecious" {
			t.Errorf("the folder now holds %q", got)
		}
	}
}

// createFile itself refuses, for a file that comes between the look and the write.
func TestCreateFileRefusesToOverwrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.key")
	if err := createFile(path, []byte("one"), secretMode); err != nil {
		t.Fatal(err)
	}
	must.As[*ExistsError](t, createFile(path, []byte("two"), secretMode))
	if got := contents(t, dir); got != "x.key\none" {
		t.Fatalf("%q", got)
	}
	if err := ReplaceFile(path, []byte("three"), secretMode); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, dir); got != "x.key\nthree" {
		t.Fatalf("%q", got)
	}
}

// Of several at once one wins, whole, and the others are told so.
func TestCreateFileOnce(t *testing.T) {
	dir := t.TempDir()
	for round := range 50 {
		path := filepath.Join(dir, fmt.Sprint(round))
		var won atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				err := createFile(path, []byte("whole"), secretMode)
				if _, exists := errors.AsType[*ExistsError](err); err == nil {
					won.Add(1)
				} else if !exists {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if data, err := os.ReadFile(path); won.Load() != 1 || string(data) != "whole" || err != nil {
			t.Fatalf("%d won, %q, %v", won.Load(), data, err)
		}
	}
	if got := len(folder(t, dir)); got != 50 {
		t.Fatalf("%d files", got)
	}
}

func TestBadHosts(t *testing.T) {
	count := 0
	for _, host := range []string{"", "covey.example.org:7443", "*.example.org", "a..b", "-a", "a b", "münchen.example", "http://x", ".", "fe80::1%eth0", "[::1]"} {
		count++
		dir := filepath.Join(t.TempDir(), "data")
		if e := must.As[*HostError](t, Init(dir, []string{"good.example", host}, start)); e.Host != host {
			t.Error(e)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: the folder was made", host)
		}
	}
	t.Logf("figure: %d bad inputs: hosts", count)
}

func TestLoadRefuses(t *testing.T) {
	count := 0
	other := newAuthority(t)
	for name, c := range map[string]struct {
		file   string
		break_ func(path string) error
	}{
		"missing key":        {caKeyFile, os.Remove},
		"missing CA":         {caFile, os.Remove},
		"missing signing":    {signingFile, os.Remove},
		"empty key":          {serverKeyFile, func(p string) error { return os.Truncate(p, 0) }},
		"half a certificate": {serverFile, func(p string) error { return os.Truncate(p, 200) }},
		"not a certificate":  {caFile, func(p string) error { return os.WriteFile(p, []byte("hello"), 0o644) }},
		"huge":               {caFile, func(p string) error { return os.Truncate(p, maxFile+1) }},
		"another CA's":       {caFile, func(p string) error { return os.WriteFile(p, other.CertificatePEM(), 0o644) }},
		"server of another": {serverFile, func(p string) error {
			return os.WriteFile(p, certificatePEM(other.ServerCertificate().Raw), 0o644)
		}},
		"server by another": {serverFile, func(p string) error {
			key, err := readEd25519(filepath.Join(filepath.Dir(p), serverKeyFile))
			if err != nil {
				return err
			}
			cert, err := issueServer(other.CA(), other.caKey(), key(), []string{"localhost"}, start)
			if err != nil {
				return err
			}
			return os.WriteFile(p, certificatePEM(cert.Raw), 0o644)
		}},
		"no CA": {caFile, func(p string) error {
			key, err := readEd25519(filepath.Join(filepath.Dir(p), caKeyFile))
			if err != nil {
				return err
			}
			frame := template(start, start.Add(days))
			cert, err := create(frame, frame, key().Public().(ed25519.PublicKey), key())
			if err != nil {
				return err
			}
			return os.WriteFile(p, certificatePEM(cert.Raw), 0o644)
		}},
		"CA as its own server": {serverFile, func(p string) error {
			ca, err := os.ReadFile(filepath.Join(filepath.Dir(p), caFile))
			if err != nil {
				return err
			}
			return os.WriteFile(p, ca, 0o644)
		}},
		"key and certificate in one": {caFile, func(p string) error {
			return os.WriteFile(p, append(other.CertificatePEM(), other.CertificatePEM()...), 0o644)
		}},
	} {
		count++
		dir := t.TempDir()
		if err := Init(dir, nil, start); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, c.file)
		if err := c.break_(path); err != nil {
			t.Fatal(err)
		}
		_, err := Load(dir)
		if e, ok := errors.AsType[*FileError](err); !ok || e.Path != path {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("figure: %d bad inputs: folders of an authority", count)
}

// A key that any user of the machine can read or replace is refused.
func TestOpenKeysAreRefused(t *testing.T) {
	a := newAuthority(t)
	for _, name := range []string{caKeyFile, serverKeyFile, signingFile} {
		path := filepath.Join(a.dir, name)
		for mode, ok := range map[fs.FileMode]bool{0o600: true, 0o400: true, 0o660: true, 0o644: false, 0o602: false} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			_, err := Load(a.dir)
			if e, refused := errors.AsType[*ModeError](err); refused == ok || refused && e.Path != path {
				t.Errorf("%s %04o: %v", name, mode, err)
			}
		}
		os.Chmod(path, 0o600)
	}
}

func TestIssue(t *testing.T) {
	a, s := newAuthority(t), newSite(t)
	cert, err := parseCertificate(issue(t, a, s, "north-1", start))
	if err != nil {
		t.Fatal(err)
	}
	if name, err := siteName(cert); err != nil || name != "north-1" {
		t.Fatal(name, err)
	}
	if cert.URIs[0].String() != "covey://site/north-1" || !slices.Equal(cert.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}) ||
		cert.IsCA || len(cert.DNSNames)+len(cert.IPAddresses)+len(cert.EmailAddresses) != 0 {
		t.Fatalf("%+v", cert)
	}
	if got := cert.NotAfter.Sub(start); got != 90*days {
		t.Fatal(got)
	}
	if !a.Issued(cert) || newAuthority(t).Issued(cert) {
		t.Fatal("a certificate is not its CA's, or another's")
	}
	again, err := parseCertificate(issue(t, a, s, "north-1", start))
	if err != nil || again.SerialNumber.Cmp(cert.SerialNumber) == 0 {
		t.Fatal("two certificates have one serial number")
	}
	// A certificate does not outlive its CA, and none is made after it.
	late := a.CA().NotAfter.Add(-days)
	cert, err = parseCertificate(issue(t, a, s, "north-1", late))
	if err != nil || !cert.NotAfter.Equal(a.CA().NotAfter) {
		t.Fatal(cert.NotAfter, err)
	}
	_, err = a.Issue(RoleSite, "north-1", request(t, s, "north-1"), a.CA().NotAfter)
	must.As[*CertificateError](t, err)
}

// Of a request only the key counts: a site cannot ask for a CA, a server's
// certificate or another's name.
func TestIssueRefuses(t *testing.T) {
	a, s := newAuthority(t), newSite(t)
	csr := request(t, s, "north")
	_, err := a.Issue(RoleSite, "north/../south", csr, start)
	must.As[*NameError](t, err)
	_, err = a.Issue(RoleSite, "south", csr, start)
	must.As[*CertificateError](t, err)
	for i := range csr {
		bent := slices.Clone(csr)
		bent[i] ^= 1
		if _, err := a.Issue(RoleSite, "north", bent, start); err == nil {
			t.Fatalf("a request with byte %d changed is accepted", i)
		}
	}
	for _, bad := range [][]byte{nil, {0x30}, csr[:len(csr)-1], append(slices.Clone(csr), 0)} {
		_, err := a.Issue(RoleSite, "north", bad, start)
		must.As[*CertificateError](t, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "north"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Issue(RoleSite, "north", other, start)
	must.As[*CertificateError](t, err)

	greedy, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "north", Organization: []string{"x"}}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{{127, 0, 0, 1}},
		// CA:TRUE
		ExtraExtensions: []pkix.Extension{{Id: []int{2, 5, 29, 19}, Critical: true, Value: []byte{0x30, 3, 1, 1, 0xff}}},
	}, s.key())
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Issue(RoleSite, "north", greedy, start)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := parseCertificate(got)
	if err != nil || cert.IsCA || len(cert.DNSNames)+len(cert.IPAddresses)+len(cert.Subject.Organization) != 0 {
		t.Fatalf("%+v, %v", cert, err)
	}
}

func TestSiteNameRefuses(t *testing.T) {
	a, s := newAuthority(t), newSite(t)
	good, err := parseCertificate(issue(t, a, s, "north", start))
	if err != nil {
		t.Fatal(err)
	}
	for name, bend := range map[string]func(c *x509.Certificate){
		"no URI":      func(c *x509.Certificate) { c.URIs = nil },
		"two URIs":    func(c *x509.Certificate) { c.URIs = append(slices.Clone(c.URIs), c.URIs[0]) },
		"other name":  func(c *x509.Certificate) { c.Subject.CommonName = "south" },
		"no name":     func(c *x509.Certificate) { c.Subject.CommonName = "" },
		"capital":     func(c *x509.Certificate) { c.Subject.CommonName = "North" },
		"with query":  func(c *x509.Certificate) { u := *c.URIs[0]; u.RawQuery = "a"; c.URIs[0] = &u },
		"other realm": func(c *x509.Certificate) { u := *c.URIs[0]; u.Host = "operator"; c.URIs[0] = &u },
	} {
		c := *good
		c.URIs = slices.Clone(good.URIs)
		bend(&c)
		if got, err := siteName(&c); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	_, err = siteName(a.ServerCertificate())
	must.As[*CertificateError](t, err)
}

func TestRenewServer(t *testing.T) {
	a := newAuthority(t, "one.example")
	old := a.ServerCertificate()
	end := old.NotAfter
	for _, c := range []struct {
		hosts []string
		now   time.Time
		want  bool
	}{
		{[]string{"one.example"}, start, false},
		{[]string{"one.example"}, end.Add(-30*days - time.Second), false},
		{[]string{"one.example"}, end.Add(-30 * days), true},
		{[]string{"one.example"}, end.Add(-30*days + time.Hour), false}, // just renewed
		{[]string{"two.example"}, end.Add(-29 * days), true},            // new host
		{[]string{"two.example"}, end.Add(400 * days), true},            // a clock that ran ahead
		{[]string{"two.example"}, end.Add(-29 * days), true},            // and was set right
		{[]string{"two.example"}, end.Add(-29*days - skew), false},
	} {
		got, err := a.RenewServer(c.hosts, c.now)
		if err != nil || got != c.want {
			t.Fatalf("%v at %v: %v, %v", c.hosts, c.now, got, err)
		}
	}
	if a.ServerCertificate().VerifyHostname("two.example") != nil || a.ServerCertificate().NotAfter.Equal(end) {
		t.Fatal("the certificate in use is the old one")
	}
	b, err := Load(a.dir)
	if err != nil || !b.ServerCertificate().Equal(a.ServerCertificate()) {
		t.Fatal("the certificate in the folder is not the one in use", err)
	}
	if got := len(folder(t, a.dir)); got != 5 {
		t.Fatalf("%d files", got)
	}
	// A new one would end with the CA as well: it is made once, not at every look until then.
	for i, left := range []time.Duration{20 * days, 10 * days, time.Second} {
		if got, err := b.RenewServer([]string{"two.example"}, a.CA().NotAfter.Add(-left)); err != nil || got != (i == 0) {
			t.Fatalf("%v before the CA's end: %v, %v", left, got, err)
		}
	}
	if got, err := b.RenewServer([]string{"two.example"}, start); err != nil || !got {
		t.Fatalf("a clock that ran ahead to the CA's last days: %v, %v", got, err)
	}
	if _, err := b.RenewServer([]string{"two.example"}, a.CA().NotAfter); err == nil {
		t.Fatal("renewed under a CA that has ended")
	}
	_, err = a.RenewServer([]string{"x:1"}, start)
	must.As[*HostError](t, err)
}

func TestExpiry(t *testing.T) {
	cert := &x509.Certificate{NotAfter: start}
	for before, want := range map[time.Duration]int{
		90 * days: 90, 30*days + time.Second: 30, 30 * days: 30, 30*days - 1: 29, days - 1: 0, 1: 0, 0: 0, -1: -1, -days: -1, -days - 1: -2,
	} {
		if got := Expiry(cert, start.Add(-before)); got != want {
			t.Errorf("%v before the end: %d, want %d", before, got, want)
		}
	}
}

func TestValidName(t *testing.T) {
	if err := ValidName("north-1"); err != nil {
		t.Error(err)
	}
	if e := must.As[*NameError](t, ValidName("North")); e.Name != "North" {
		t.Error(e)
	}
}

// The forms are pinned: people have them on paper.
func TestFingerprints(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	if got := Fingerprint(key.Public().(ed25519.PublicKey)); got != "czph-2ccb-zw4n-6i3d-2l3k-auhg" {
		t.Error(got)
	}
	a := newAuthority(t)
	if !validFingerprint(a.Fingerprint()) {
		t.Error(a.Fingerprint())
	}
	good := CAFingerprint(&x509.Certificate{Raw: []byte("x")})
	if good != "2d71-1642-b726-b044-0162-7ca9-fbac-32f5-c853-0fb1-903c-c4db-0225-8717-921a-4881" {
		t.Error(good)
	}
	for _, bad := range []string{"", good[1:], good + "-", good[:4] + good[5:], "2D71" + good[4:], "x" + good[1:], good + "-2d71"} {
		if validFingerprint(bad) {
			t.Error(bad)
		}
	}
}
