package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"

	"filippo.io/edwards25519"
)

// On the sparse graph an announcement has a head that everybody sees and a body for the dealer's
// holders. The head is header ‖ transport key (32) ‖ commitment to the site's nonce (32) ‖ for each
// slot M and B (64) ‖ SHA-256 of the body (32) ‖ Ed25519 signature of all before it (64). The body
// is, for each slot, the other T-1 points of m and the T-1 of b.
//
// Nonces are shown when all heads are known, and the graph is drawn from heads and nonces: nobody
// could choose it, nor a key that suits it.

const nonceSize = 32

func (c Config) headSize() int {
	return c.headerSize() + 32 + nonceSize + c.Slots*64 + sha256.Size + ed25519.SignatureSize
}

func (c Config) bodySize() int { return c.Slots * 64 * (c.threshold() - 1) }

// Split returns the two parts of an announcement of the sparse graph; a *SiteError if it
// is of another length or its body is not the one that its head names.
func (c Config) Split(site int, announcement []byte) (head, body []byte, err error) {
	if n := c.headSize(); len(announcement) == n+c.bodySize() {
		head, body = announcement[:n:n], announcement[n:]
		if c.fits(head, body) {
			return head, body, nil
		}
	}
	return nil, nil, siteError(site, "announcement: of another length, or its body is another")
}

// fits reports whether body is the one that head names.
func (c Config) fits(head, body []byte) bool {
	hash := sha256.Sum256(body)
	return len(head) == c.headSize() && len(body) == c.bodySize() &&
		bytes.Equal(hash[:], head[len(head)-ed25519.SignatureSize-sha256.Size:len(head)-ed25519.SignatureSize])
}

// Nonce is site self's part of the graph's seed, to be shown only once all heads are on
// record. It says nothing about the transport key that it is derived from.
func (c Config) Nonce(self int, sec Secrets) []byte {
	return derive(sec.Transport[:], c.Study[:], "nonce", nonceSize, u16(self), u32(int(c.Attempt)))
}

func commitNonce(site int, nonce []byte) [32]byte {
	return sha256.Sum256(slices.Concat([]byte("covey secagg nonce v1\x00"), u16(site), nonce))
}

// announceSparse returns head ‖ body.
func (c Config) announceSparse(self int, sec Secrets, key ed25519.PrivateKey) ([]byte, error) {
	transport, err := ecdh.X25519().NewPrivateKey(sec.Transport[:])
	if err != nil {
		return nil, configError("transport key: %v", err)
	}
	commitment := commitNonce(self, c.Nonce(self, sec))
	head := append(append(c.header(self), transport.PublicKey().Bytes()...), commitment[:]...)
	body := make([]byte, 0, c.bodySize())
	for slot, secret := range sec.Slots {
		m, b := secret.polynomials(slot, self, c.threshold())
		for _, p := range []polynomial{m, b} {
			for k, coefficient := range p {
				raw := new(edwards25519.Point).ScalarBaseMult(coefficient).Bytes()
				if k == 0 {
					head = append(head, raw...)
				} else {
					body = append(body, raw...)
				}
			}
		}
	}
	hash := sha256.Sum256(body)
	head = append(head, hash[:]...)
	head = append(head, ed25519.Sign(key, head)...)
	return append(head, body...), nil
}

// Board is all heads of the sparse graph, checked; the graph is not drawn yet. It is
// immutable and safe for concurrent use.
type Board struct {
	setup  Setup // without graph and transcript
	nonces [][]byte
	hash   [32]byte // of all heads in roster order
}

// VerifyHeads checks all N heads: lengths, signatures by the roster's keys, canonical points
// of the prime-order subgroup in one batch. A *SiteError names a site whose does not hold.
func VerifyHeads(cfg Config, heads [][]byte) (*Board, error) {
	b, err := newBoard(cfg, heads)
	if err != nil {
		return nil, err
	}
	if err := b.setup.checkSubgroup(); err != nil {
		return nil, err
	}
	b.forgetPoints()
	return b, nil
}

// forgetPoints leaves the encodings, 64 bytes a slot and site in place of some 400.
func (b *Board) forgetPoints() {
	for i := range b.setup.sites {
		b.setup.sites[i].m, b.setup.sites[i].b = nil, nil
	}
}

// newBoard reads all heads and checks all but that their points are of the subgroup.
func newBoard(cfg Config, heads [][]byte) (*Board, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if !cfg.sparse() || len(heads) != cfg.sites() {
		return nil, configError("%d heads of %d sites, or not a sparse graph", len(heads), cfg.sites())
	}
	b := &Board{setup: Setup{cfg: cfg, sites: make([]announced, cfg.sites())}, nonces: make([][]byte, cfg.sites())}
	errs := make([]error, cfg.sites())
	header := cfg.header(0) // hashes the roster, and ends with the site
	header = header[: len(header)-2 : len(header)-2]
	atOnce(cfg.sites(), func(i int) {
		b.setup.sites[i], b.nonces[i], errs[i] = cfg.parseHead(i, append(header, u16(i)...), heads[i])
	})
	for i, err := range errs {
		if err != nil {
			return nil, &SiteError{i, err}
		}
	}
	h := sha256.New()
	h.Write([]byte("covey secagg board v1\x00"))
	for _, raw := range heads {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(raw))))
		h.Write(raw)
	}
	h.Sum(b.hash[:0])
	return b, nil
}

// parseHead reads one head, its body's hash aside, and gives the commitment to its nonce. header is
// the site's.
func (c Config) parseHead(site int, header, raw []byte) (announced, []byte, error) {
	if len(raw) != c.headSize() || !bytes.Equal(raw[:len(header)], header) {
		return announced{}, nil, errors.New("announcement of another study, roster, graph, attempt or version")
	}
	if err := c.checkSigned(site, raw); err != nil {
		return announced{}, nil, err
	}
	body := raw[len(header):]
	var a announced
	var err error
	if a.transport, err = transportKey(body[:32]); err != nil {
		return announced{}, nil, err
	}
	nonce := bytes.Clone(body[32 : 32+nonceSize])
	body = body[32+nonceSize:]
	a.keys = bytes.Clone(body[:64*c.Slots])
	for range c.Slots {
		var both [2]commitment
		for i := range both {
			both[i] = make(commitment, 1)
			if err := setPoint(&both[i][0], body[:32]); err != nil {
				return announced{}, nil, err
			}
			body = body[32:]
		}
		a.m, a.b = append(a.m, both[ofM]), append(a.b, both[ofB])
	}
	a.body = [32]byte(body[:sha256.Size])
	return a, nonce, nil
}

// CheckNonce checks a site's nonce against what its head commits to.
func (b *Board) CheckNonce(site int, nonce []byte) error {
	if site < 0 || site >= len(b.nonces) || len(nonce) != nonceSize {
		return siteError(site, "a nonce of the wrong length")
	}
	if hash := commitNonce(site, nonce); subtle.ConstantTimeCompare(hash[:], b.nonces[site]) != 1 {
		return siteError(site, "the nonce is not the one committed to")
	}
	return nil
}

// Draw checks all nonces and draws the graph: from them and the heads, under the random oracle
// uniformly, since one honest nonce is unknown to whoever made the other heads. The setup's
// transcript holds both. A *SiteError names a site whose nonce is wrong; a *ConfigError is a graph
// that happens to be unfit (NewGraph).
func (b *Board) Draw(nonces [][]byte) (*Setup, error) {
	if len(nonces) != len(b.nonces) {
		return nil, configError("%d nonces of %d sites", len(nonces), len(b.nonces))
	}
	for i, nonce := range nonces {
		if err := b.CheckNonce(i, nonce); err != nil {
			return nil, err
		}
	}
	h := sha256.New()
	h.Write([]byte("covey secagg transcript v1\x00sparse\x00"))
	h.Write(b.hash[:])
	for _, nonce := range nonces {
		h.Write(nonce)
	}
	s := &Setup{cfg: b.setup.cfg, sites: b.setup.sites}
	h.Sum(s.transcript[:0])
	seed := [32]byte(derive(s.transcript[:], nil, "graph", 32))
	var err error
	s.graph, err = NewGraph(s.cfg.Sparse, seed)
	return s, err
}

// commitments reads site's body: its polynomials' whole commitments, constant terms first. The
// points' order is for the caller to check.
func (s *Setup) commitments(site int, body []byte) (announced, error) {
	hash := sha256.Sum256(body)
	if len(body) != s.cfg.bodySize() || hash != s.sites[site].body {
		return announced{}, errors.New("the commitments are not those of the announcement's head")
	}
	a := announced{m: make([]commitment, s.cfg.Slots), b: make([]commitment, s.cfg.Slots)}
	for slot := range s.cfg.Slots {
		for which, to := range []*commitment{&a.m[slot], &a.b[slot]} {
			*to = make(commitment, s.cfg.threshold())
			(*to)[0].Set(s.sites[site].point(slot, which))
			for k := 1; k < len(*to); k++ {
				if err := setPoint(&(*to)[k], body[:32]); err != nil {
					return announced{}, err
				}
				body = body[32:]
			}
		}
	}
	return a, nil
}

// atOnce calls work with 0..n-1, as many at a time as there are processors.
func atOnce(n int, work func(i int)) {
	var wait sync.WaitGroup
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		tokens <- struct{}{}
		wait.Go(func() {
			work(i)
			<-tokens
		})
	}
	wait.Wait()
}
