package pki

import (
	"crypto"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"net/url"
	"path/filepath"
	"sync"
	"time"
)

// nodeURI begins the URI of a coordinator's certificate among coordinators.
const nodeURI = "covey://node/"

// nodeHost is the one name in every coordinator's certificate among coordinators. Each holds the
// CA's key and can make a certificate in any name, so that they are told from one that was removed
// by their keys ([PeerTLS.Pin]).
const nodeHost = "node.covey.internal"

// PeerTLS is what coordinators of one study show each other: certificates that each issues itself,
// with the CA's key that all of them hold, for the key of its server certificate, which stays. They
// live in memory, for a day, and are made anew at half of that.
type PeerTLS struct {
	authority *Authority
	id        string
	now       func() time.Time
	known     func(ed25519.PublicKey) bool // nil for any key
	safe      bool                         // quantum-safe links alone

	mu   sync.Mutex
	cert *tls.Certificate
	of   *x509.Certificate // its CA
}

// PeerTLS returns node id's; ValidName says what an id may be.
func (a *Authority) PeerTLS(id string, now func() time.Time) (*PeerTLS, error) {
	if err := ValidName(id); err != nil {
		return nil, err
	}
	p := &PeerTLS{authority: a, id: id, now: now}
	_, err := p.certificate()
	return p, err
}

// Pin lets in, on both sides, certificates of keys alone that known accepts; without it every
// coordinator's certificate of the CA is let in. It is called before the first connection.
func (p *PeerTLS) Pin(known func(ed25519.PublicKey) bool) { p.known = known }

// QuantumSafe refuses, on both sides, links whose key exchange is not quantum-safe. It is called
// before the first connection.
func (p *PeerTLS) QuantumSafe() { p.safe = true }

// Check returns a [*CertificateError] unless the other side of a connection is a coordinator that
// is let in: its certificate, whose chain is verified, names a coordinator, and its key is a known
// one.
func (p *PeerTLS) Check(s tls.ConnectionState) error {
	leaf := s.PeerCertificates[0] // there is one on either side of every protocol but joining
	if _, err := NodeName(leaf); err != nil {
		return err
	}
	if key, ok := leaf.PublicKey.(ed25519.PublicKey); p.known != nil && (!ok || !p.known(key)) {
		return &CertificateError{Reason: "the certificate's key is not that of a coordinator of this federation: it was removed, or joined since this one was last in touch with the others"}
	}
	return nil
}

func (p *PeerTLS) certificate() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.cert != nil && now.Before(p.cert.Leaf.NotAfter.Add(-nodeValidity/2)) && now.After(p.cert.Leaf.NotBefore) && p.of.Equal(p.authority.CA()) {
		return p.cert, nil
	}
	key := p.authority.serverKey()
	cas := p.authority.cas.Load()
	t, err := leaf(cas.cert, now, nodeValidity)
	if err != nil {
		return nil, err
	}
	t.Subject = pkix.Name{CommonName: p.id}
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	t.DNSNames = []string{nodeHost}
	t.URIs = []*url.URL{{Scheme: "covey", Host: "node", Path: "/" + p.id}}
	cert, err := create(t, cas.cert, p.authority.NodeKey(), cas.key())
	if err != nil {
		return nil, err
	}
	p.cert = &tls.Certificate{Certificate: [][]byte{cert.Raw, cas.cert.Raw}, PrivateKey: key, Leaf: cert}
	p.of = cas.cert
	return p.cert, nil
}

// Server returns the configuration of the peers' port: TLS 1.3, a coordinator's
// certificate from all that connect for one of protocols, but none from a
// new coordinator, which connects for joining and has none yet.
func (p *PeerTLS) Server(joining string, protocols ...string) *tls.Config {
	base := func() *tls.Config {
		return &tls.Config{
			MinVersion: tls.VersionTLS13, Time: p.now, SessionTicketsDisabled: true,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return p.certificate() },
		}
	}
	member := base()
	member.NextProtos = protocols
	member.ClientAuth, member.ClientCAs = tls.RequireAndVerifyClientCert, p.authority.caPool()
	member.VerifyConnection = p.Check
	stranger := base()
	stranger.NextProtos = []string{joining}
	ServeQuantumSafe(stranger, nil) // the CA's key is in the answer
	member.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		if len(h.SupportedProtos) == 1 && h.SupportedProtos[0] == joining {
			return stranger, nil
		}
		now := member.Clone()
		now.GetConfigForClient, now.ClientCAs = nil, p.authority.caPool() // CAs change
		return now, nil
	}
	if p.safe {
		ServeQuantumSafe(member, nil)
	}
	return member
}

// Client returns the configuration for dialling another coordinator for a protocol.
func (p *PeerTLS) Client(protocol string) *tls.Config {
	c := &tls.Config{
		MinVersion: tls.VersionTLS13, Time: p.now, ServerName: nodeHost, RootCAs: p.authority.caPool(), NextProtos: []string{protocol},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return p.certificate() },
		VerifyConnection:     p.Check,
	}
	if p.safe {
		DemandQuantumSafe(c)
	}
	return c
}

// NodeKey is the public key of this coordinator's certificates: of its server's, and of those among
// coordinators.
func (a *Authority) NodeKey() ed25519.PublicKey { return a.serverKey().Public().(ed25519.PublicKey) }

// NodeKey is the key of a coordinator that is about to join others: they note its public half, and
// InitNode stores it. It prints as [redacted].
type NodeKey struct{ secret secret[ed25519.PrivateKey] }

// NewNodeKey draws a key.
func NewNodeKey() (NodeKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	return NodeKey{hide(key)}, err
}

// Public returns the public half.
func (k NodeKey) Public() ed25519.PublicKey { return k.secret().Public().(ed25519.PublicKey) }

// String and GoString print [redacted] whatever the verb.
func (NodeKey) String() string   { return redacted }
func (NodeKey) GoString() string { return redacted }

// NodeName returns the coordinator of a certificate, as RoleOf gives a client. The
// error is a [*CertificateError].
func NodeName(cert *x509.Certificate) (string, error) {
	id := cert.Subject.CommonName
	if ValidName(id) != nil || len(cert.URIs) != 1 || cert.URIs[0].String() != nodeURI+id {
		return "", &CertificateError{Reason: "the certificate names no coordinator"}
	}
	return id, nil
}

// NodeJoinTLS is JoinTLS for a new coordinator: it knows the CA by fingerprint. The key exchange
// must be quantum-safe, since the CA's key is what it asks for ([*KeyExchangeError]).
func NodeJoinTLS(fingerprint, joining string) *tls.Config {
	c := JoinTLS(fingerprint, nodeHost)
	c.NextProtos = []string{joining}
	DemandQuantumSafe(c)
	return c
}

// Estate is what every coordinator of a federation holds: the CA's key, its
// certificate, and the key that signs released results. It prints as [redacted]; Bytes
// and the files that InitNode makes are the ways out.
type Estate struct {
	secret secret[estate]
	own    NodeKey // of the coordinator that it is for; the zero value if InitNode shall draw one
}

// For returns the estate for a new coordinator whose own key is there already.
func (e Estate) For(key NodeKey) Estate {
	e.own = key
	return e
}

type estate struct {
	CA      []byte `json:"ca"` // PEM
	CAKey   []byte `json:"ca_key"`
	Signing []byte `json:"signing_key"`
}

// Format prints [redacted] whatever the verb.
func (Estate) String() string   { return redacted }
func (Estate) GoString() string { return redacted }

// Bytes returns the estate for a new coordinator, over [NodeJoinTLS].
func (e Estate) Bytes() ([]byte, error) { return json.Marshal(e.secret()) }

// ParseEstate reads Bytes. The error is a [*CertificateError] and repeats nothing.
func ParseEstate(raw []byte) (Estate, error) {
	var e estate
	if json.Unmarshal(raw, &e) != nil || len(e.Signing) != ed25519.SeedSize {
		return Estate{}, &CertificateError{Reason: "the CA certificate or the keys that the coordinator sent do not parse"}
	}
	key, err := e.caKey()
	if err != nil {
		return Estate{}, &CertificateError{Reason: "the CA certificate or the keys that the coordinator sent do not parse"}
	}
	ca, err := parseCertificate(e.CA)
	if err != nil || !matches(ca, key()) {
		return Estate{}, &CertificateError{Reason: "the CA certificate that the coordinator sent does not match its key"}
	}
	return Estate{secret: hide(e)}, nil
}

// caKey reads the CA's key: a seed of Ed25519, or another kind in PEM.
func (e estate) caKey() (secret[crypto.Signer], error) {
	if len(e.CAKey) == ed25519.SeedSize {
		return hide[crypto.Signer](ed25519.NewKeyFromSeed(e.CAKey)), nil
	}
	return parseKey(e.CAKey)
}

// Estate returns this coordinator's estate.
func (a *Authority) Estate() Estate {
	cas := a.cas.Load()
	key, _ := keyPEM(cas.key()) // it was read as PKCS #8
	if own, ok := cas.key().(ed25519.PrivateKey); ok {
		key = own.Seed()
	}
	return Estate{secret: hide(estate{certificatePEM(cas.cert.Raw), key, a.signing().Seed()})}
}

// InitNode is [Init] for a coordinator that joins others: the CA and the signing key are theirs,
// the server's key and certificate its own. The CA's fingerprint must be the join file's
// ([*WrongCAError]). A crash inside leaves files that Load or the next InitNode names; they can be
// deleted, and the join file is then spent.
func InitNode(dir string, e Estate, fingerprint string, hosts []string, now time.Time) error {
	estate := e.secret()
	if err := CheckCA(estate.CA, fingerprint); err != nil {
		return err
	}
	ca, err := parseCertificate(estate.CA)
	if err != nil {
		return err
	}
	key, err := estate.caKey()
	if err != nil {
		return err
	}
	if e.own.secret == nil {
		if e.own, err = NewNodeKey(); err != nil {
			return err
		}
	}
	return initWith(dir, pair{ca, key}, e.own, ed25519.NewKeyFromSeed(estate.Signing), hosts, now)
}

// Vacant returns an [*ExistsError] if a folder holds one of a coordinator's files.
func Vacant(dir string) error {
	var paths []string
	for _, name := range []string{caKeyFile, caFile, serverKeyFile, serverFile, signingFile, nextKeyFile, nextFile, oldFile, membersFile} {
		paths = append(paths, filepath.Join(dir, name))
	}
	return absent(paths...)
}
