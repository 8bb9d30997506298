package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"

	"filippo.io/edwards25519"
)

// An announcement is header ‖ transport key (32) ‖ for each slot the q points of m and the q
// points of b (64q) ‖ Ed25519 signature of all before it (64).

func (c Config) announcementSize() int {
	return c.headerSize() + 32 + c.Slots*64*c.Quorum + ed25519.SignatureSize
}

// Announce returns site self's signed announcement, on the sparse graph head and body: a
// function of its arguments, so that a resend is the same bytes.
func Announce(cfg Config, self int, sec Secrets, key ed25519.PrivateKey) ([]byte, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if self < 0 || self >= cfg.sites() || len(sec.Slots) != cfg.Slots {
		return nil, configError("site %d with %d slots does not fit the setup", self, len(sec.Slots))
	}
	if cfg.sparse() {
		return cfg.announceSparse(self, sec, key)
	}
	return cfg.announce(self, sec, key)
}

func (c Config) announce(self int, sec Secrets, key ed25519.PrivateKey) ([]byte, error) {
	transport, err := ecdh.X25519().NewPrivateKey(sec.Transport[:])
	if err != nil {
		return nil, configError("transport key: %v", err)
	}
	out := append(c.header(self), transport.PublicKey().Bytes()...)
	for slot, secret := range sec.Slots {
		m, b := secret.polynomials(slot, self, c.Quorum)
		for _, p := range []polynomial{m, b} {
			for _, coefficient := range p {
				out = append(out, new(edwards25519.Point).ScalarBaseMult(coefficient).Bytes()...)
			}
		}
	}
	return append(out, ed25519.Sign(key, out)...), nil
}

// announced is one site's announcement, checked.
type announced struct {
	transport *ecdh.PublicKey
	// by slot; on the sparse graph nil once checked: N sites' are much, and few are used
	m, b []commitment
	keys []byte   // by slot, the encodings of M and B, 64 bytes: what keys are bound to
	body [32]byte // on the sparse graph: the hash of all but the constant terms
}

// Which of a slot's two secrets.
const (
	ofM = iota
	ofB
)

// key is the encoding of a slot's M or B.
func (a *announced) key(slot, which int) []byte {
	at := 64*slot + 32*which
	return a.keys[at : at+32 : at+32]
}

// point is a slot's M or B, for the caller to change.
func (a *announced) point(slot, which int) *edwards25519.Point {
	if a.m != nil {
		return new(edwards25519.Point).Set(&[2]commitment{a.m[slot], a.b[slot]}[which][0])
	}
	p, err := new(edwards25519.Point).SetBytes(a.key(slot, which))
	if err != nil {
		panic(err) // parseHead has read it before
	}
	return p
}

// points returns all of the commitments' points.
func (a announced) points() []*edwards25519.Point {
	var out []*edwards25519.Point
	for _, c := range slices.Concat(a.m, a.b) {
		for k := range c {
			out = append(out, &c[k])
		}
	}
	return out
}

// Setup is the public side of a finished exchange of announcements, all of them
// checked. It is immutable and safe for concurrent use.
type Setup struct {
	cfg        Config
	sites      []announced
	graph      *Graph
	transcript [32]byte
}

// Graph gives who holds whose shares, masks with whom and signs.
func (s *Setup) Graph() *Graph { return s.graph }

// Config returns what the setup was made for.
func (s *Setup) Config() Config { return s.cfg }

// Transcript is the hash of all announcements in roster order: what sites confirm
// and everything later is bound to.
func (s *Setup) Transcript() [32]byte { return s.transcript }

// Verify checks all N announcements of the complete graph: lengths, signatures by the roster's
// keys, canonical points of the prime-order subgroup, all in one batch (inSubgroup). A *SiteError
// names a site whose does not hold.
func Verify(cfg Config, announcements [][]byte) (*Setup, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s, err := newSetup(cfg, announcements)
	if err != nil {
		return nil, err
	}
	if err := s.checkSubgroup(); err != nil {
		return nil, err
	}
	return s, nil
}

// Restore is Verify for announcements that all N sites have confirmed: after a restart,
// or on a new leader. It checks the confirmations, which bind every byte of the
// announcements, and leaves out whether each point is of the subgroup, which takes most of
// Verify's time: every honest site has checked that before it confirmed. On the sparse graph
// announcements are heads, and nonces are wanted; nil on the complete one. Errors as
// Verify's, Board.Draw's and CheckConfirmations'.
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
	if cfg.sparse() {
		b, err := newBoard(cfg, announcements)
		if err != nil {
			return nil, err
		}
		b.forgetPoints()
		return b.Draw(nonces)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return newSetup(cfg, announcements)
}

// newSetup reads all announcements and checks all but that their points are of the subgroup.
func newSetup(cfg Config, announcements [][]byte) (*Setup, error) {
	if len(announcements) != cfg.sites() || cfg.sparse() {
		return nil, configError("%d announcements of %d sites, or not the complete graph", len(announcements), cfg.sites())
	}
	s := &Setup{cfg: cfg, sites: make([]announced, cfg.sites()), graph: completeGraph(cfg)}
	errs := make([]error, cfg.sites())
	atOnce(cfg.sites(), func(i int) { s.sites[i], errs[i] = cfg.parse(i, announcements[i]) })
	for i, err := range errs {
		if err != nil {
			return nil, &SiteError{i, err}
		}
	}
	h := sha256.New()
	h.Write([]byte("covey secagg transcript v1\x00"))
	for _, raw := range announcements {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(raw))))
		h.Write(raw)
	}
	h.Sum(s.transcript[:0])
	return s, nil
}

func (c Config) parse(site int, raw []byte) (announced, error) {
	header := c.header(site)
	if len(raw) != c.announcementSize() || !bytes.Equal(raw[:len(header)], header) {
		return announced{}, errors.New("announcement of another study, roster, attempt or version")
	}
	if err := c.checkSigned(site, raw); err != nil {
		return announced{}, err
	}
	body := raw[len(header) : len(raw)-ed25519.SignatureSize]
	var a announced
	var err error
	if a.transport, err = transportKey(body[:32]); err != nil {
		return announced{}, err
	}
	body = body[32:]
	a.keys = make([]byte, 0, 64*c.Slots)
	for range c.Slots {
		var both [2]commitment
		for i := range both {
			a.keys = append(a.keys, body[:32]...)
			both[i] = make(commitment, c.Quorum)
			for k := range both[i] {
				if err := setPoint(&both[i][k], body[:32]); err != nil {
					return announced{}, err
				}
				body = body[32:]
			}
		}
		a.m, a.b = append(a.m, both[ofM]), append(a.b, both[ofB])
	}
	return a, nil
}

// CheckAnnounced checks that raw is an announcement of the site for this attempt, or its head on
// the sparse graph, with the site's signature. It looks at no point: a site that signed two of them
// is convicted by any two.
func (c Config) CheckAnnounced(site int, raw []byte) error {
	size, header := c.announcementSize(), c.header(site)
	if c.sparse() {
		size = c.headSize()
	}
	if len(raw) != size || !bytes.Equal(raw[:len(header)], header) {
		return siteError(site, "announcement of another study, roster, attempt or version")
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

// transportKey reads an X25519 key. One of low order agrees on zero with every private key;
// ECDH refuses it.
func transportKey(raw []byte) (*ecdh.PublicKey, error) {
	key, err := ecdh.X25519().NewPublicKey(raw)
	if err != nil {
		return nil, errors.New("announcement: not a transport key")
	}
	probe, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		return nil, err
	}
	if _, err := probe.ECDH(key); err != nil {
		return nil, errors.New("announcement: a transport key of low order")
	}
	return key, nil
}
