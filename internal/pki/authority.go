package pki

import (
	"crypto"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Files of a coordinator's folder.
const (
	caKeyFile     = "ca.key"
	caFile        = "ca.crt"
	serverKeyFile = "server.key"
	serverFile    = "server.crt"
	signingFile   = "signing.key"
)

// RenewBefore is how long before its end a certificate is renewed and its end is
// shown to people.
const RenewBefore = 30 * 24 * time.Hour

// Authority is a coordinator's CA, its server certificate and the key that signs
// released results. It is safe for use by several goroutines. It prints as its
// fingerprint.
type Authority struct {
	dir       string
	changing  sync.Mutex // one change of the CAs at a time
	cas       atomic.Pointer[authorities]
	serverKey secret[ed25519.PrivateKey]
	server    atomic.Pointer[x509.Certificate]
	signing   secret[ed25519.PrivateKey]
}

// Init makes a coordinator's keys and certificates in dir, which it makes too if
// need be: a CA good for ten years, a server certificate for hosts, localhost,
// 127.0.0.1 and ::1, and the signing key. It returns a [*HostError] for a bad host and
// an [*ExistsError] if any of the files is there; nothing is written then.
//
// A crash inside leaves some of the files. Load then names the first that is
// missing and Init the first that is there. No certificate can have been issued
// from them, so they can be deleted.
func Init(dir string, hosts []string, now time.Time) error {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	ca, err := newCA(key, CAName, now)
	if err != nil {
		return err
	}
	own, err := NewNodeKey()
	if err != nil {
		return err
	}
	return initWith(dir, pair{ca, hide[crypto.Signer](key)}, own, nil, hosts, now)
}

// initWith writes the folder of a CA for a coordinator whose own key is own; a signing key is made
// if there is none.
func initWith(dir string, ca pair, own NodeKey, signing ed25519.PrivateKey, hosts []string, now time.Time) error {
	hosts, err := serverHosts(hosts)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := Vacant(dir); err != nil {
		return err
	}
	// The key first: of two Inits at once only one gets past it.
	raw, err := keyPEM(ca.key())
	if err != nil {
		return err
	}
	if err := createFile(path(caKeyFile), raw, secretMode); err != nil {
		return err
	}
	if err := writeKey(path(serverKeyFile), own.secret()); err != nil {
		return err
	}
	server, err := issueServer(ca.cert, ca.key(), own.secret(), hosts, now)
	if err != nil {
		return err
	}
	if signing == nil {
		if _, signing, err = ed25519.GenerateKey(nil); err != nil {
			return err
		}
	}
	if err := writeKey(path(signingFile), signing); err != nil {
		return err
	}
	if err := createFile(path(serverFile), certificatePEM(server.Raw), publicMode); err != nil {
		return err
	}
	return createFile(path(caFile), certificatePEM(ca.cert.Raw), publicMode)
}

// Load reads what [Init] made. The error is a [*FileError] or a [*ModeError].
// Certificates past their end load: see [Authority.RenewServer].
func Load(dir string) (*Authority, error) {
	path := func(name string) string { return filepath.Join(dir, name) }
	a := &Authority{dir: dir}
	var err error
	cas := &authorities{}
	if cas.key, err = readKey(path(caKeyFile)); err != nil {
		return nil, err
	}
	if cas.cert, err = readCertificate(path(caFile)); err != nil {
		return nil, err
	}
	if a.serverKey, err = readEd25519(path(serverKeyFile)); err != nil {
		return nil, err
	}
	server, err := readCertificate(path(serverFile))
	if err != nil {
		return nil, err
	}
	if a.signing, err = readEd25519(path(signingFile)); err != nil {
		return nil, err
	}
	if err := loadRotation(dir, cas); err != nil {
		return nil, err
	}
	// Files of two folders mixed up would fail at some site's handshake, later. A CA need not have
	// signed itself: a site pins the certificate, whoever issued it.
	if !matches(cas.cert, cas.key()) || !cas.cert.IsCA {
		return nil, &FileError{Path: path(caFile), Reason: "is not the CA of " + caKeyFile}
	}
	// Of the CA before where a crash came between its promotion and the server's new certificate.
	ours := func(ca *x509.Certificate) bool { return server.CheckSignatureFrom(ca) == nil }
	if !matches(server, a.serverKey()) || !slices.ContainsFunc(cas.trusted(), ours) {
		return nil, &FileError{Path: path(serverFile), Reason: "does not match " + caFile + " and " + serverKeyFile}
	}
	a.cas.Store(cas)
	a.server.Store(server)
	return a, nil
}

// Format prints the fingerprint whatever the verb: a struct of keys must not
// reach a log.
func (a *Authority) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "covey CA %s", a.Fingerprint())
}

// Fingerprint of the CA certificate, as in join files: SHA-256 of its DER in
// sixteen groups of four hexadecimal digits.
func (a *Authority) Fingerprint() string { return CAFingerprint(a.CA()) }

// CertificatePEM returns the CA certificate, which is public.
func (a *Authority) CertificatePEM() []byte { return certificatePEM(a.CA().Raw) }

// CA returns the CA certificate in force; it must not be changed.
func (a *Authority) CA() *x509.Certificate { return a.cas.Load().cert }

// ServerCertificate returns the server certificate in use; it must not be changed.
func (a *Authority) ServerCertificate() *x509.Certificate { return a.server.Load() }

// caPool returns a new pool of the CA and, while a federation changes it, of the other one.
func (a *Authority) caPool() *x509.CertPool { return pool(a.cas.Load().trusted()...) }

// Issued reports whether one of the CAs signed a certificate, whenever that ends.
func (a *Authority) Issued(leaf *x509.Certificate) bool {
	return slices.ContainsFunc(a.cas.Load().trusted(), func(ca *x509.Certificate) bool { return leaf.CheckSignatureFrom(ca) == nil })
}

// SigningKey returns the key that signs released results. The caller must not
// change or store it.
func (a *Authority) SigningKey() ed25519.PrivateKey { return a.signing() }

// ServerTLS returns a new configuration of the sites' port: TLS 1.3 with the
// certificate in use at each handshake. It lets a caller without a certificate in,
// since a site that joins has none; every service but enrolment must ask for
// VerifiedChains, and for the role that it is for ([RoleOf]). A certificate that is shown must be a
// site's or an analyst's under this CA.
func (a *Authority) ServerTLS() *tls.Config {
	c := a.serverTLS()
	// At each handshake, since CAs change.
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		now := a.serverTLS()
		now.Time, now.NextProtos = c.Time, c.NextProtos
		return now, nil
	}
	return c
}

func (a *Authority) serverTLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			leaf := a.server.Load()
			// The CA goes with it so that a site that knows only the
			// fingerprint can check it (JoinTLS).
			return &tls.Certificate{Certificate: [][]byte{leaf.Raw, a.CA().Raw}, PrivateKey: a.serverKey(), Leaf: leaf}, nil
		},
		ClientAuth: tls.VerifyClientCertIfGiven,
		ClientCAs:  a.caPool(),
		// Runs after the chain is verified.
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 {
				return nil
			}
			_, _, err := RoleOf(s.PeerCertificates[0])
			return err
		},
		// A ticket would let a session outlive its certificate.
		SessionTicketsDisabled: true,
	}
}

// RenewServer replaces the server certificate if it ends within [RenewBefore] of now, lacks one of
// hosts or was issued by a CA that was replaced, and reports whether it did. So it does with one
// that is not good yet: it was made by a clock that ran ahead, and no site would take it until
// then. The key stays, so a crash leaves the old certificate or the new one, and configurations of
// [Authority.ServerTLS] that are in use take the new one at the next handshake.
func (a *Authority) RenewServer(hosts []string, now time.Time) (renewed bool, err error) {
	hosts, err = serverHosts(hosts)
	if err != nil {
		return false, err
	}
	old := a.server.Load()
	lacks := func(host string) bool { return old.VerifyHostname(host) != nil }
	cas := a.cas.Load()
	due := old.NotAfter.Sub(now) <= RenewBefore
	if old.NotAfter.Equal(cas.cert.NotAfter) { // a new one would not last longer
		due = !now.Before(old.NotAfter)
	}
	due = due || now.Before(old.NotBefore)
	if !due && !slices.ContainsFunc(hosts, lacks) && old.CheckSignatureFrom(cas.cert) == nil {
		return false, nil
	}
	server, err := issueServer(cas.cert, cas.key(), a.serverKey(), hosts, now)
	if err != nil {
		return false, err
	}
	if err := ReplaceFile(filepath.Join(a.dir, serverFile), certificatePEM(server.Raw), publicMode); err != nil {
		return false, err
	}
	a.server.Store(server)
	return true, nil
}

// Issue makes the client certificate of a site or an analyst, good for 90 days: CN the name, URI
// covey://ROLE/NAME, client authentication only. Of the request it takes the Ed25519 key and
// nothing else; the request must be signed by that key and have the same name. The caller has
// decided that this is the holder, and of which role. Errors: [*NameError], [*CertificateError].
func (a *Authority) Issue(role Role, name string, csrDER []byte, now time.Time) (certPEM []byte, err error) {
	return issueRequest(a.cas.Load().pair, role, name, csrDER, now)
}

// RequestKey returns the key that a certificate request asks for; nothing of a request that is not
// in order: Issue refuses it.
func RequestKey(csr []byte) ed25519.PublicKey {
	if r, err := x509.ParseCertificateRequest(csr); err == nil {
		if key, ok := r.PublicKey.(ed25519.PublicKey); ok {
			return key
		}
	}
	return nil
}

func issueRequest(ca pair, role Role, name string, csrDER []byte, now time.Time) (certPEM []byte, err error) {
	if err := ValidName(name); err != nil {
		return nil, err
	}
	csr, err := x509.ParseCertificateRequest(csrDER)
	if err != nil {
		return nil, &CertificateError{"the certificate request does not parse", nil}
	}
	if err := csr.CheckSignature(); err != nil {
		return nil, &CertificateError{"the certificate request is not signed by its key", err}
	}
	pub, ok := csr.PublicKey.(ed25519.PublicKey)
	if !ok {
		return nil, &CertificateError{"the certificate request's key is not Ed25519", nil}
	}
	if csr.Subject.CommonName != name {
		return nil, &CertificateError{"the certificate request has another name", nil}
	}
	cert, err := issueClient(ca.cert, ca.key(), role, name, pub, now)
	if err != nil {
		return nil, err
	}
	return certificatePEM(cert.Raw), nil
}

// serverHosts adds the loopback ones, checks all and removes doubles.
func serverHosts(hosts []string) ([]string, error) {
	var all []string
	for _, h := range append(slices.Clone(hosts), "localhost", "127.0.0.1", "::1") {
		if err := validHost(h); err != nil {
			return nil, err
		}
		if ip := net.ParseIP(h); ip != nil {
			h = ip.String()
		}
		if !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	return all, nil
}

func pool(cas ...*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, ca := range cas {
		p.AddCert(ca)
	}
	return p
}

// matches reports whether a certificate is for a key.
func matches(cert *x509.Certificate, key crypto.Signer) bool {
	pub, ok := cert.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	return ok && pub.Equal(key.Public())
}
