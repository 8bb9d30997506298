package pki

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"covey/internal/fsync"
)

// A federation changes its CA in three steps, each of them an entry of the coordinators' log
// (docs/protocol.md): a next CA is made, and both are trusted by everyone; the next one takes the
// place of the present one, which is still trusted; the old one no longer is. Only public
// certificates are in the log. Keys are in the coordinators' folders alone: ca-next.key beside
// ca.key, which it replaces in the second step.

// Files of a folder while CAs change.
const (
	nextKeyFile = "ca-next.key"
	nextFile    = "ca-next.crt"
	oldFile     = "ca-old.crt"
)

// endorsementURI begins the URI of an endorsement; the SHA-256 of the endorsed certificate follows.
const endorsementURI = "covey://ca/"

// Voucher is a CA certificate and, where a federation changes from another CA to it, that one's
// word for it: a certificate that the other CA signed and that names this one's SHA-256. Both PEM.
type Voucher struct {
	Certificate []byte `json:"certificate"`
	Endorsement []byte `json:"endorsement,omitempty"`
}

// Fingerprint is the certificate's, or "" of what is no certificate.
func (v Voucher) Fingerprint() string {
	cert, err := parseCertificate(v.Certificate)
	if err != nil {
		return ""
	}
	return CAFingerprint(cert)
}

// pair is a CA with its key.
type pair struct {
	cert *x509.Certificate
	key  secret[crypto.Signer]
}

// authorities are the CAs of a coordinator; a value does not change once it is stored.
type authorities struct {
	pair                   // signs the server's and the coordinators' certificates
	next *pair             // nil, or the one that follows
	old  *x509.Certificate // nil, or the one before, trusted still
	more []*x509.Certificate
}

// trusted are all whose certificates are let in.
func (a *authorities) trusted() []*x509.Certificate {
	out := []*x509.Certificate{a.cert}
	if a.next != nil {
		out = append(out, a.next.cert)
	}
	if a.old != nil {
		out = append(out, a.old)
	}
	return append(out, a.more...)
}

// loadRotation reads what a change of CAs left in the folder, and ends a promotion that a crash
// cut off: ca.key is then the next one's already and ca.crt is not.
func loadRotation(dir string, a *authorities) error {
	path := func(name string) string { return filepath.Join(dir, name) }
	next, err := readCertificate(path(nextFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if next != nil && !matches(a.cert, a.key()) && matches(next, a.key()) {
		if err := os.Rename(path(nextFile), path(caFile)); err != nil {
			return err
		}
		a.cert, next = next, nil
	}
	if next != nil {
		key, err := readKey(path(nextKeyFile))
		switch {
		case errors.Is(err, fs.ErrNotExist): // a crash between the two files: it is fetched or made again
		case err != nil:
			return err
		case !matches(next, key()):
			return &FileError{Path: path(nextFile), Reason: "is not the CA of " + nextKeyFile}
		default:
			a.next = &pair{next, key}
		}
	}
	a.old, err = readCertificate(path(oldFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// NewNext makes the CA that is to follow, or gives the one that is there, and the present one's
// word for it. Nobody trusts it before the log has it.
func (a *Authority) NewNext(now time.Time) (Voucher, error) {
	a.changing.Lock()
	defer a.changing.Unlock()
	cas := *a.cas.Load()
	if cas.next == nil {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return Voucher{}, err
		}
		cert, err := newCA(key, CAName+" since "+now.UTC().Format(time.DateOnly), now)
		if err != nil {
			return Voucher{}, err
		}
		if err := a.putNext(cert, key); err != nil {
			return Voucher{}, err
		}
		cas = *a.cas.Load()
	}
	t, err := leaf(cas.cert, now, serverValidity)
	if err != nil {
		return Voucher{}, err
	}
	t.Subject = pkix.Name{CommonName: "covey endorsement"}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny}
	t.URIs = []*url.URL{{Scheme: "covey", Host: "ca", Path: "/" + hashOf(cas.next.cert)}}
	// For the next CA's own key, so that nobody else can use it for anything.
	word, err := create(t, cas.cert, cas.next.key().Public(), cas.key())
	if err != nil {
		return Voucher{}, err
	}
	return Voucher{certificatePEM(cas.next.cert.Raw), certificatePEM(word.Raw)}, nil
}

func hashOf(cert *x509.Certificate) string {
	h := sha256.Sum256(cert.Raw)
	return hex.EncodeToString(h[:])
}

// putNext stores a next CA, the key first: a certificate without its key is not looked at.
func (a *Authority) putNext(cert *x509.Certificate, key crypto.Signer) error {
	path := func(name string) string { return filepath.Join(a.dir, name) }
	raw, err := keyPEM(key)
	if err != nil {
		return err
	}
	if err := ReplaceFile(path(nextKeyFile), raw, secretMode); err != nil {
		return err
	}
	if err := ReplaceFile(path(nextFile), certificatePEM(cert.Raw), publicMode); err != nil {
		return err
	}
	cas := *a.cas.Load()
	cas.next = &pair{cert, hide(key)}
	a.cas.Store(&cas)
	return nil
}

// NextKey returns the key of the next CA in PEM, for another coordinator of the federation and
// nobody else; false if this one does not hold that CA.
func (a *Authority) NextKey(fingerprint string) ([]byte, bool) {
	next := a.cas.Load().next
	if next == nil || CAFingerprint(next.cert) != fingerprint {
		return nil, false
	}
	raw, err := keyPEM(next.key())
	return raw, err == nil
}

// SaveNext stores the next CA, whose certificate is in the log and whose key another coordinator
// gave. The error is a [*CertificateError] or of the disk.
func (a *Authority) SaveNext(v Voucher, key []byte) error {
	cert, err := parseCertificate(v.Certificate)
	if err != nil {
		return &CertificateError{"the certificate of the next CA does not parse", err}
	}
	parsed, err := parseKey(key)
	if err != nil || !matches(cert, parsed()) {
		return &CertificateError{Reason: "the key of the next CA does not match its certificate"}
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	return a.putNext(cert, parsed())
}

// Promote puts the next CA into the present one's place, which stays trusted. The server
// certificate is then to be renewed. A crash leaves the one or the other in place.
func (a *Authority) Promote() error {
	a.changing.Lock()
	defer a.changing.Unlock()
	cas := *a.cas.Load()
	if cas.next == nil {
		return &CertificateError{Reason: "there is no next CA to promote"}
	}
	path := func(name string) string { return filepath.Join(a.dir, name) }
	if err := ReplaceFile(path(oldFile), certificatePEM(cas.cert.Raw), publicMode); err != nil {
		return err
	}
	// loadRotation ends what a crash cuts off
	for _, f := range [][2]string{{nextKeyFile, caKeyFile}, {nextFile, caFile}} {
		if err := os.Rename(path(f[0]), path(f[1])); err != nil {
			return err
		}
	}
	a.cas.Store(&authorities{pair: *cas.next, old: cas.cert, more: cas.more})
	return fsync.Dir(a.dir)
}

// DropOld ends the trust in the CA before.
func (a *Authority) DropOld() error {
	a.changing.Lock()
	defer a.changing.Unlock()
	if err := os.Remove(filepath.Join(a.dir, oldFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	cas := *a.cas.Load()
	cas.old = nil
	a.cas.Store(&cas)
	return nil
}

// Trust lets certificates of these CAs in, too: those of the log whose keys are not here.
func (a *Authority) Trust(vouchers ...Voucher) {
	a.changing.Lock()
	defer a.changing.Unlock()
	cas := *a.cas.Load()
	cas.more = nil
	for _, v := range vouchers {
		cert, err := parseCertificate(v.Certificate)
		if err == nil && cert.IsCA && !slices.ContainsFunc(cas.trusted(), cert.Equal) {
			cas.more = append(cas.more, cert)
		}
	}
	a.cas.Store(&cas)
}

// Rotation returns the fingerprints of the CAs in this folder: the present, the next and the old
// one, the last two "" where there is none.
func (a *Authority) Rotation() (current, next, old string) {
	cas := a.cas.Load()
	current = CAFingerprint(cas.cert)
	if cas.next != nil {
		next = CAFingerprint(cas.next.cert)
	}
	if cas.old != nil {
		old = CAFingerprint(cas.old)
	}
	return current, next, old
}

// Renew is [Authority.Issue] under the next CA where there is one: for a holder that trusts it.
func (a *Authority) Renew(role Role, name string, csrDER []byte, now time.Time) (certPEM []byte, err error) {
	cas := a.cas.Load()
	if cas.next != nil {
		return issueRequest(*cas.next, role, name, csrDER, now)
	}
	return issueRequest(cas.pair, role, name, csrDER, now)
}

// IssuerOf names the CA, by fingerprint, whose key signed a certificate; "" if it is none of this
// coordinator's.
func (a *Authority) IssuerOf(cert *x509.Certificate) string {
	for _, ca := range a.cas.Load().trusted() {
		if cert.CheckSignatureFrom(ca) == nil {
			return CAFingerprint(ca)
		}
	}
	return ""
}

// Trust takes over the CAs that are in force, as the coordinator says over a connection under one
// that this site trusts: those it trusts already, and those that one of them endorses. Others are
// no longer trusted, except the one that issued this site's own certificate, until that is renewed.
// Trust reports whether anything changed. Errors, with nothing changed: [ErrNotJoined],
// [*CertificateError].
func (s *Holder) Trust(vouchers []Voucher, now time.Time) (changed bool, err error) {
	s.saving.Lock()
	defer s.saving.Unlock()
	m := s.joined.Load()
	if m == nil {
		return false, ErrNotJoined
	}
	if len(vouchers) == 0 || len(vouchers) > maxAuthorities {
		return false, &CertificateError{Reason: "the CA certificates must be 1 to 4"}
	}
	fresh := []*x509.Certificate{}
	for _, v := range vouchers {
		ca, err := parseCertificate(v.Certificate)
		if err != nil || !ca.IsCA {
			return false, &CertificateError{"a CA certificate does not parse, or is not one for a CA", err}
		}
		if !slices.ContainsFunc(m.cas, ca.Equal) {
			if err := endorsed(ca, v.Endorsement, m.cas, now); err != nil {
				return false, err
			}
		}
		if !slices.ContainsFunc(fresh, ca.Equal) {
			fresh = append(fresh, ca)
		}
	}
	if !slices.ContainsFunc(fresh, m.issuer().Equal) {
		fresh = append(fresh, m.issuer())
	}
	if slices.EqualFunc(fresh, m.cas, func(a, b *x509.Certificate) bool { return a.Equal(b) }) {
		return false, nil
	}
	if err := ReplaceFile(filepath.Join(s.dir, caFile), bundlePEM(fresh), publicMode); err != nil {
		return false, err
	}
	s.joined.Store(&membership{m.name, m.leaf, fresh})
	return true, nil
}

// maxAuthorities bounds the CAs in force at a time. maxBundle are those that a site's file may
// hold: its own certificate's may be beside them, and, while it joins again, the new one.
const (
	maxAuthorities = 4
	maxBundle      = maxAuthorities + 2
)

// endorsed returns an error unless one of trusted vouches for a CA.
func endorsed(ca *x509.Certificate, endorsement []byte, trusted []*x509.Certificate, now time.Time) error {
	word, err := parseCertificate(endorsement)
	if err != nil {
		return &CertificateError{"a new CA comes without an endorsement that parses", err}
	}
	roots := x509.NewCertPool()
	for _, t := range trusted {
		roots.AddCert(t)
	}
	if _, err := word.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
		return &CertificateError{"a new CA is not endorsed by a trusted one", err}
	}
	if len(word.URIs) != 1 || word.URIs[0].String() != endorsementURI+hashOf(ca) {
		return &CertificateError{Reason: "a new CA comes with the endorsement of another"}
	}
	return nil
}

// Rejoin takes over the certificate and the CA of a join by a site that had joined before, under
// the same name and with the keys that are here: after its certificate ended, or its CA did. caPEM
// was checked against the join file. A crash leaves the old certificate or the new one.
func (s *Holder) Rejoin(certPEM, caPEM []byte, now time.Time) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	old := s.joined.Load()
	if old == nil {
		return ErrNotJoined
	}
	leaf, err := parseCertificate(certPEM)
	if err != nil {
		return &CertificateError{"the certificate does not parse", err}
	}
	ca, err := parseCertificate(caPEM)
	if err != nil {
		return &CertificateError{"the CA certificate does not parse", err}
	}
	name, err := s.checkLeaf(leaf, ca, now)
	if err != nil {
		return err
	}
	if name != old.name {
		return &CertificateError{"the certificate belongs to another site", nil}
	}
	both := append([]*x509.Certificate{ca}, old.cas...)
	for _, f := range []struct {
		name string
		text []byte
	}{{caFile, bundlePEM(both)}, {tlsFile, certificatePEM(leaf.Raw)}, {caFile, certificatePEM(ca.Raw)}} {
		if err := ReplaceFile(filepath.Join(s.dir, f.name), f.text, publicMode); err != nil {
			return err
		}
	}
	s.joined.Store(&membership{name, leaf, []*x509.Certificate{ca}})
	return nil
}

// Authorities are the CAs that this site trusts, the first its certificate's or the one that
// follows it; nil before it has joined.
func (s *Holder) Authorities() []*x509.Certificate {
	if m := s.joined.Load(); m != nil {
		return slices.Clone(m.cas)
	}
	return nil
}

// Issuer is the CA that this site's certificate is of; nil before it has joined.
func (s *Holder) Issuer() *x509.Certificate {
	if m := s.joined.Load(); m != nil {
		return m.issuer()
	}
	return nil
}

// issuer is the one of cas that signed leaf: Load, SaveCertificate, Trust and Rejoin keep it
// there.
func (m *membership) issuer() *x509.Certificate {
	for _, ca := range m.cas {
		if m.leaf.CheckSignatureFrom(ca) == nil {
			return ca
		}
	}
	return m.cas[0]
}

// Hash is the SHA-256 of the certificate's DER in hex, or "" of what is no certificate.
func (v Voucher) Hash() string {
	cert, err := parseCertificate(v.Certificate)
	if err != nil {
		return ""
	}
	return hashOf(cert)
}
