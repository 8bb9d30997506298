package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"

	"filippo.io/edwards25519"
)

// An announcement is header ‖ transport key (32) ‖ for each slot the q points of m and the q
// points of b (64q) ‖ Ed25519 signature of all before it (64).

func (c Config) announcementSize() int {
	return len(c.header(0)) + 32 + c.Slots*64*c.Quorum + ed25519.SignatureSize
}

// Announce gives site self's signed announcement: a function of its arguments,
// so that a resend is the same bytes.
func Announce(cfg Config, self int, sec Secrets, key ed25519.PrivateKey) ([]byte, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if self < 0 || self >= cfg.sites() || len(sec.Slots) != cfg.Slots {
		return nil, configError("site %d with %d slots does not fit the setup", self, len(sec.Slots))
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
	m, b      []commitment // by slot
	keys      [][2][]byte  // by slot, the encodings of M and B: what keys are bound to
}

// points gives all of the commitments' points.
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
	transcript [32]byte
}

// Config gives what the setup was made for.
func (s *Setup) Config() Config { return s.cfg }

// Transcript is the hash of all announcements in roster order: what sites confirm
// and everything later is bound to.
func (s *Setup) Transcript() [32]byte { return s.transcript }

// Verify checks all N announcements: lengths, signatures by the roster's keys,
// canonical points of the prime-order subgroup, all in one batch (inSubgroup). A *SiteError
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
// Verify's time: every honest site has checked that before it confirmed. Errors as
// Verify's and CheckConfirmations'.
func Restore(cfg Config, announcements, confirmations [][]byte) (*Setup, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s, err := newSetup(cfg, announcements)
	if err != nil {
		return nil, err
	}
	if err := s.CheckConfirmations(confirmations); err != nil {
		return nil, err
	}
	return s, nil
}

// newSetup reads all announcements and checks all but that their points are of the subgroup.
func newSetup(cfg Config, announcements [][]byte) (*Setup, error) {
	if len(announcements) != cfg.sites() {
		return nil, configError("%d announcements of %d sites", len(announcements), cfg.sites())
	}
	s := &Setup{cfg: cfg, sites: make([]announced, cfg.sites())}
	errs := make([]error, cfg.sites())
	var work sync.WaitGroup
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, raw := range announcements {
		work.Go(func() {
			tokens <- struct{}{}
			s.sites[i], errs[i] = cfg.parse(i, raw)
			<-tokens
		})
	}
	work.Wait()
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
	signed, signature := raw[:len(raw)-ed25519.SignatureSize], raw[len(raw)-ed25519.SignatureSize:]
	if !ed25519.Verify(c.Identity[site], signed, signature) {
		return announced{}, errors.New("announcement: the signature is wrong")
	}
	body := signed[len(header):]
	var a announced
	var err error
	if a.transport, err = ecdh.X25519().NewPublicKey(body[:32]); err != nil {
		return announced{}, errors.New("announcement: not a transport key")
	}
	// A low-order transport key agrees on zero with every private key; ECDH refuses it.
	probe, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		return announced{}, err
	}
	if _, err := probe.ECDH(a.transport); err != nil {
		return announced{}, errors.New("announcement: a transport key of low order")
	}
	body = body[32:]
	for range c.Slots {
		var both [2]commitment
		var keys [2][]byte
		for i := range both {
			keys[i] = bytes.Clone(body[:32])
			both[i] = make(commitment, c.Quorum)
			for k := range both[i] {
				if err := setPoint(&both[i][k], body[:32]); err != nil {
					return announced{}, err
				}
				body = body[32:]
			}
		}
		a.m, a.b, a.keys = append(a.m, both[0]), append(a.b, both[1]), append(a.keys, keys)
	}
	return a, nil
}
