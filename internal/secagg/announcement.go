package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
)

// An announcement is header ‖ X25519 key (32) ‖ ML-KEM-768 key (1184) ‖ for each shared secret the
// hash that commits to it (32) ‖ for each of K places the hash that commits to the shares there
// (32) ‖ T coefficients of the masked combination (32 each) ‖ Ed25519 signature of all before (64).

func (c Config) announcementSize() int {
	return c.headerSize() + 32 + mlkem.EncapsulationKeySize768 + 32*c.shared() + c.bodySize() + ed25519.SignatureSize
}

// headerHash stands for the header in every hash of the site.
func (c Config) headerHash(site int) [32]byte { return sha256.Sum256(c.header(site)) }

// Announce returns site self's signed announcement; on the sparse graph head, ML-KEM key and body.
// It draws the polynomial that masks the combination, and forgets it: each call returns other
// bytes. The caller stores them with the secrets, before they leave, and only ever sends those.
func Announce(cfg Config, self int, sec Secrets, key ed25519.PrivateKey) ([]byte, error) {
	var mask [32]byte
	rand.Read(mask[:]) // never fails: the process ends instead
	return announce(cfg, self, sec, &mask, key)
}

// announce is Announce with the key of the mask polynomial, which it overwrites.
func announce(cfg Config, self int, sec Secrets, mask *[32]byte, key ed25519.PrivateKey) ([]byte, error) {
	defer clear(mask[:])
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if self < 0 || self >= cfg.sites() || len(sec.Slots) != cfg.Slots {
		return nil, configError("site %d with %d slots does not fit the setup", self, len(sec.Slots))
	}
	transport, err := sec.transport()
	if err != nil {
		return nil, err
	}
	seal, err := mlkem.NewDecapsulationKey768(sec.Seal[:])
	if err != nil {
		return nil, configError("ML-KEM seed: %v", err)
	}
	public, sealKey := transport.PublicKey().Bytes(), seal.EncapsulationKey().Bytes()
	sealHash := sha256.Sum256(sealKey)
	d := cfg.deal(self, &sec, mask, public, sealHash[:])
	out := append(cfg.header(self), public...)
	if cfg.sparse() {
		return cfg.head(out, self, sec, key, sealKey, d), nil
	}
	out = append(append(append(out, sealKey...), d.secrets...), d.body...)
	return append(out, ed25519.Sign(key, out)...), nil
}

// announced is one site's announcement, checked.
type announced struct {
	header    [32]byte // hash of it
	transport *ecdh.PublicKey
	sealHash  [32]byte // of the ML-KEM key
	secrets   []byte   // 32 a shared secret: the commitments, by slot, b before e
	// on the complete graph
	seal *mlkem.EncapsulationKey768
	body []byte
	// on the sparse one, the body's hash
	bodyHash [32]byte
}

// committed is the commitment to a slot's secret.
func (s *Setup) committed(site, slot, which int) []byte {
	at := 32 * s.cfg.nth(slot, which)
	return s.sites[site].secrets[at : at+32 : at+32]
}

// opens reports whether a value is the slot's secret that the site committed to.
func (s *Setup) opens(site, slot, which int, value []byte) bool {
	v, err := decodeScalar(value)
	if err != nil {
		return false
	}
	h := committer{s.sites[site].header}.secret(slot, which, v)
	return bytes.Equal(h[:], s.committed(site, slot, which))
}

// Setup is the public side of a finished exchange of announcements, all of them
// checked. It is immutable and safe for concurrent use.
type Setup struct {
	Witness
	sites []announced
}

// Verify checks all N announcements of the complete graph: lengths, signatures by the roster's
// keys, transport keys, canonical scalars. A *SiteError names a site whose announcement fails.
func Verify(cfg Config, announcements [][]byte) (*Setup, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if len(announcements) != cfg.sites() || cfg.sparse() {
		return nil, configError("%d announcements of %d sites, or not the complete graph", len(announcements), cfg.sites())
	}
	s := &Setup{Witness{cfg: cfg, graph: completeGraph(cfg)}, make([]announced, cfg.sites())}
	errs := make([]error, cfg.sites())
	atOnce(cfg.sites(), func(i int) { s.sites[i], errs[i] = cfg.parse(i, announcements[i]) })
	for i, err := range errs {
		if err != nil {
			return nil, &SiteError{i, err}
		}
	}
	h := sha256.New()
	h.Write([]byte("covey secagg transcript v2\x00"))
	for _, raw := range announcements {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(raw))))
		h.Write(raw)
	}
	h.Sum(s.transcript[:0])
	return s, nil
}

// Restore is Verify for announcements that all N sites have confirmed: after a restart, or on a new
// leader. It checks the confirmations too. On the sparse graph announcements are heads, and nonces
// are required; nil on the complete one. Errors as Verify's, Board.Draw's and CheckConfirmations'.
func Restore(cfg Config, announcements, nonces, confirmations [][]byte) (*Setup, error) {
	s, err := restored(cfg, announcements, nonces)
	if err != nil {
		return nil, err
	}
	if err := s.CheckConfirmations(confirmations); err != nil {
		return nil, err
	}
	return s, nil
}

func restored(cfg Config, announcements, nonces [][]byte) (*Setup, error) {
	if !cfg.sparse() {
		return Verify(cfg, announcements)
	}
	b, err := VerifyHeads(cfg, announcements)
	if err != nil {
		return nil, err
	}
	return b.Draw(nonces)
}

var errAnnouncement = errors.New("announcement of another study, roster, graph or version")

func (c Config) parse(site int, raw []byte) (announced, error) {
	header := c.header(site)
	if len(raw) != c.announcementSize() || !bytes.Equal(raw[:len(header)], header) {
		return announced{}, errAnnouncement
	}
	if err := c.checkSigned(site, raw); err != nil {
		return announced{}, err
	}
	rest := raw[len(header) : len(raw)-ed25519.SignatureSize]
	take := func(n int) (out []byte) {
		out, rest = bytes.Clone(rest[:n]), rest[n:]
		return out
	}
	a := announced{header: sha256.Sum256(header)}
	var err error
	if a.transport, err = transportKey(take(32)); err != nil {
		return announced{}, err
	}
	seal := take(mlkem.EncapsulationKeySize768)
	a.sealHash = sha256.Sum256(seal)
	if a.seal, err = mlkem.NewEncapsulationKey768(seal); err != nil {
		return announced{}, errSeal
	}
	a.secrets, a.body = take(32*c.shared()), take(c.bodySize())
	if _, err := c.parseBody(a.body); err != nil {
		return announced{}, err
	}
	return a, nil
}

// CheckAnnounced checks that raw is an announcement of the site for this setup, or its head on
// the sparse graph, with the site's signature. It looks at nothing else: a site that signed two of
// them is convicted by any two.
func (c Config) CheckAnnounced(site int, raw []byte) error {
	if site < 0 || site >= c.sites() {
		return configError("site %d of %d", site, c.sites())
	}
	size, header := c.announcementSize(), c.header(site)
	if c.sparse() {
		size = c.headSize()
	}
	if len(raw) != size || !bytes.Equal(raw[:len(header)], header) {
		return &SiteError{site, errAnnouncement}
	}
	return c.checkSigned(site, raw)
}

// checkSigned checks the signature that ends raw.
func (c Config) checkSigned(site int, raw []byte) error {
	n := len(raw) - ed25519.SignatureSize
	if !ed25519.Verify(c.Identity[site], raw[:n], raw[n:]) {
		return errors.New("announcement: the signature is wrong")
	}
	return nil
}

var errSeal = errors.New("announcement: not an ML-KEM-768 key")

// probe is a private key that is no secret.
var probe = sync.OnceValues(func() (*ecdh.PrivateKey, error) {
	return ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{1}, 32))
})

// transportKey reads an X25519 key. One of low order agrees on zero with every private key;
// ECDH refuses it.
func transportKey(raw []byte) (*ecdh.PublicKey, error) {
	key, err := ecdh.X25519().NewPublicKey(raw)
	if err != nil {
		return nil, errors.New("announcement: not a transport key")
	}
	own, err := probe()
	if err != nil {
		return nil, err
	}
	if _, err := own.ECDH(key); err != nil {
		return nil, errors.New("announcement: a transport key of low order")
	}
	return key, nil
}
