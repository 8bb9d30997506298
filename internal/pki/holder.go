package pki

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Files of a holder's folder; ca.crt is the coordinator's.
const (
	identityFile = "identity.key"
	tlsKeyFile   = "tls.key"
	tlsFile      = "tls.crt"
)

// Holder is the keys of a site or an analyst and, once it has joined, its certificate. It is safe
// for use by several goroutines. It prints as its identity's fingerprint.
type Holder struct {
	role     Role
	dir      string
	identity secret[ed25519.PrivateKey]
	key      secret[ed25519.PrivateKey]
	saving   sync.Mutex // one SaveCertificate at a time
	joined   atomic.Pointer[membership]
}

// membership does not change once it is stored.
type membership struct {
	name string
	leaf *x509.Certificate
	cas  []*x509.Certificate // trusted; one of them issued leaf
}

// NewKeys makes the keys that are not there in dir, which it makes too if need
// be. Keys that are there stay: losing identity.key is leaving every study, since
// rosters pin it.
func NewKeys(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{identityFile, tlsKeyFile} {
		path := filepath.Join(dir, name)
		err := absent(path)
		if err == nil {
			_, err = createKey(path)
		}
		if _, there := errors.AsType[*ExistsError](err); err != nil && !there {
			return err
		}
	}
	return nil
}

// LoadHolder reads the keys of a site or an analyst and its certificate if it has one. A
// certificate past its end loads: [Expiry] tells. The error is a [*FileError] or a [*ModeError].
func LoadHolder(role Role, dir string) (*Holder, error) {
	path := func(name string) string { return filepath.Join(dir, name) }
	s := &Holder{role: role, dir: dir}
	var err error
	if s.identity, err = readEd25519(path(identityFile)); err != nil {
		return nil, err
	}
	if s.key, err = readEd25519(path(tlsKeyFile)); err != nil {
		return nil, err
	}
	m, err := s.read()
	if err != nil {
		return nil, err
	}
	s.joined.Store(m) // nil before a join
	return s, nil
}

// read reads the certificate in the folder; nil where there is none.
func (s *Holder) read() (*membership, error) {
	path := func(name string) string { return filepath.Join(s.dir, name) }
	leaf, err := readCertificate(path(tlsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // ca.crt may be there, of a join that did not get to its end
	}
	if err != nil {
		return nil, err
	}
	cas, err := readBundle(path(caFile))
	if err != nil {
		return nil, err
	}
	var name string
	for _, ca := range cas {
		// At the first moment of both: whether it has ended is not asked here.
		at := leaf.NotBefore
		if ca.NotBefore.After(at) {
			at = ca.NotBefore
		}
		if name, err = s.checkLeaf(leaf, ca, at); err == nil {
			break
		}
	}
	if err != nil {
		return nil, &FileError{path(tlsFile), "does not match " + caFile + " and " + tlsKeyFile, err}
	}
	return &membership{name, leaf, cas}, nil
}

// Reload takes into use the certificate in the folder, and reports whether it is another one than
// before: one who joins again does it in another process. A certificate that does not load, or has
// another name, changes nothing.
func (s *Holder) Reload() bool {
	s.saving.Lock()
	defer s.saving.Unlock()
	m, err := s.read()
	old := s.joined.Load()
	if err != nil || m == nil || old == nil || m.name != old.name {
		return false
	}
	s.joined.Store(m)
	return !m.leaf.Equal(old.leaf)
}

// Ended is the error of a certificate that is past its end, nil of one that is not.
func (s *Holder) Ended(now time.Time) error {
	m := s.joined.Load()
	if m == nil || now.Before(m.leaf.NotAfter) {
		return nil
	}
	return &CertificateError{Reason: fmt.Sprintf("the certificate ended %s by this machine's clock: the %[2]s must join again (`coordinator %[2]s invite %[3]s --again`)", m.leaf.NotAfter.Format(time.DateOnly), s.role, m.name)}
}

// checkLeaf verifies a certificate at a moment and returns its name.
func (s *Holder) checkLeaf(leaf, ca *x509.Certificate, at time.Time) (name string, err error) {
	// Without this a certificate could vouch for itself: Verify takes a leaf that
	// is among its roots.
	if !ca.IsCA {
		return "", &CertificateError{"the CA certificate is not one for a CA", nil}
	}
	if !matches(leaf, s.key()) {
		return "", &CertificateError{"the certificate is not for the key in " + tlsKeyFile, nil}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool(ca), CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return "", &CertificateError{"the certificate does not verify", err}
	}
	role, name, err := RoleOf(leaf)
	if err == nil && role != s.role {
		err = &CertificateError{"the certificate names no " + string(s.role), nil}
	}
	return name, err
}

// Format prints the fingerprint whatever the verb: a struct of keys must not
// reach a log.
func (s *Holder) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "covey %s %s", s.role, Fingerprint(s.identity().Public().(ed25519.PublicKey)))
}

// Identity returns the long-term key that rosters pin. The caller must not change or
// store it.
func (s *Holder) Identity() ed25519.PrivateKey { return s.identity() }

// Role is what the keys were loaded for.
func (s *Holder) Role() Role { return s.role }

// Name is the holder's name by its certificate, empty before it has joined.
func (s *Holder) Name() string {
	if m := s.joined.Load(); m != nil {
		return m.name
	}
	return ""
}

// Certificate is the one in use, nil before the site has joined. It must not be
// changed.
func (s *Holder) Certificate() *x509.Certificate {
	if m := s.joined.Load(); m != nil {
		return m.leaf
	}
	return nil
}

// CSR returns a request, in DER, for a certificate of tls.key under this name; for
// joining and for renewal alike.
func (s *Holder) CSR(name string) ([]byte, error) {
	if err := ValidName(name); err != nil {
		return nil, err
	}
	return x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, s.key())
}

// ProveIdentity signs, with the identity key, that this site asks for a
// certificate of this request by the token of this hash; see [CheckIdentityProof].
func (s *Holder) ProveIdentity(name string, tokenHash [32]byte, csr []byte) []byte {
	return ed25519.Sign(s.identity(), joinMessage(name, tokenHash, csr))
}

// SaveCertificate takes a certificate into use and stores it. It must be for
// tls.key, good at now, for dialling, name a site, and be signed by the CA of
// caPEM. A site that has joined keeps its name and its CA: caPEM must be the same
// or empty. A site that joins MUST have got both over [JoinTLS], and checks caPEM
// against the join file with [CheckCA].
//
// Errors, with nothing changed: [*CertificateError], [*WrongCAError],
// [ErrNotJoined] if caPEM is empty and no CA is known. A crash leaves the site joined
// with the old certificate or the new one, or not joined.
func (s *Holder) SaveCertificate(certPEM, caPEM []byte, now time.Time) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	leaf, err := parseCertificate(certPEM)
	if err != nil {
		return &CertificateError{"the certificate does not parse", err}
	}
	old := s.joined.Load()
	var cas []*x509.Certificate
	switch {
	case len(caPEM) > 0:
		ca, err := parseCertificate(caPEM)
		if err != nil {
			return &CertificateError{"the CA certificate does not parse", err}
		}
		cas = []*x509.Certificate{ca}
		if old != nil && !slices.ContainsFunc(old.cas, ca.Equal) {
			return &WrongCAError{CAFingerprint(old.cas[0]), CAFingerprint(ca)}
		}
	case old != nil:
		cas = old.cas
	default:
		return ErrNotJoined
	}
	var name string
	for _, ca := range cas {
		if name, err = s.checkLeaf(leaf, ca, now); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if old != nil && old.name != name {
		return &CertificateError{"the certificate names another holder", nil}
	}
	if old == nil {
		// First: tls.crt is what makes a site joined, and it needs ca.crt.
		if err := ReplaceFile(filepath.Join(s.dir, caFile), bundlePEM(cas), publicMode); err != nil {
			return err
		}
	} else {
		cas = old.cas
	}
	if err := ReplaceFile(filepath.Join(s.dir, tlsFile), certificatePEM(leaf.Raw), publicMode); err != nil {
		return err
	}
	s.joined.Store(&membership{name, leaf, cas})
	return nil
}

// ClientTLS returns a new configuration for connections to the coordinator at serverName, the host
// it is dialled by: TLS 1.3, the CA pinned at joining, one that it vouched for ([Holder.Trust]) and
// no other, and at each handshake the certificate in use. The error is [ErrNotJoined].
func (s *Holder) ClientTLS(serverName string) (*tls.Config, error) {
	m := s.joined.Load()
	if m == nil {
		return nil, ErrNotJoined
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		ServerName: serverName,
		RootCAs:    pool(m.cas...),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			leaf := s.joined.Load().leaf // joined never becomes nil again
			return &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: s.key(), Leaf: leaf}, nil
		},
	}, nil
}
