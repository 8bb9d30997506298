package secagg

import (
	"bytes"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"

	"filippo.io/edwards25519"
)

// On the sparse graph an announcement has a head that everybody sees, an ML-KEM key for the sites
// that seal boxes to this one, and a body for its holders. The head is header ‖ X25519 key (32) ‖
// SHA-256 of the ML-KEM key (32) ‖ commitment to the site's nonce (32) ‖ for each shared secret the
// hash that commits to it (32) ‖ SHA-256 of the body (32) ‖ Ed25519 signature of all before it
// (64). The body is c_1..c_K ‖ P, as at the end of the complete graph's announcement.
//
// Nonces are shown when all heads are known, and the graph is drawn from heads and nonces: nobody
// could choose it, nor a key that suits it.

const nonceSize = 32

func (c Config) headSize() int {
	return c.headerSize() + 32 + sha256.Size + nonceSize + 32*c.shared() + sha256.Size + ed25519.SignatureSize
}

// Split returns the three parts of an announcement of the sparse graph; a *SiteError if it is of
// another length or its key or body is not the one that its head names.
func (c Config) Split(site int, announcement []byte) (head, seal, body []byte, err error) {
	n, k := c.headSize(), mlkem.EncapsulationKeySize768
	if len(announcement) != n+k+c.bodySize() {
		return nil, nil, nil, siteError(site, "announcement: of another length")
	}
	head, seal, body = announcement[:n:n], announcement[n:n+k:n+k], announcement[n+k:]
	sealHash, bodyHash := sha256.Sum256(seal), sha256.Sum256(body)
	at := c.headerSize() + 32
	if !bytes.Equal(head[at:at+32], sealHash[:]) || !bytes.Equal(head[n-ed25519.SignatureSize-32:n-ed25519.SignatureSize], bodyHash[:]) {
		return nil, nil, nil, siteError(site, "announcement: its key or its commitments are not those that its head names")
	}
	return head, seal, body, nil
}

func commitNonce(site int, nonce []byte) [32]byte { return hash("nonce", u16(site), nonce) }

// head returns head ‖ ML-KEM key ‖ body. begun is header and X25519 key.
func (c Config) head(begun []byte, self int, sec Secrets, key ed25519.PrivateKey, seal []byte, d dealing) []byte {
	sealHash, bodyHash, nonce := sha256.Sum256(seal), sha256.Sum256(d.body), commitNonce(self, sec.Nonce[:])
	head := slices.Concat(begun, sealHash[:], nonce[:], d.secrets, bodyHash[:])
	head = append(head, ed25519.Sign(key, head)...)
	return slices.Concat(head, seal, d.body)
}

// Board is all heads of the sparse graph, checked; the graph is not drawn yet. It is
// immutable and safe for concurrent use.
type Board struct {
	setup  Setup // without graph and transcript
	nonces [][]byte
	hash   [32]byte // of all heads in roster order
}

// VerifyHeads checks all N heads: lengths, signatures by the roster's keys, transport keys. A
// *SiteError names a site whose head fails a check.
func VerifyHeads(cfg Config, heads [][]byte) (*Board, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if !cfg.sparse() || len(heads) != cfg.sites() {
		return nil, configError("%d heads of %d sites, or not a sparse graph", len(heads), cfg.sites())
	}
	b := &Board{setup: Setup{Witness{cfg: cfg}, make([]announced, cfg.sites())}, nonces: make([][]byte, cfg.sites())}
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
	h.Write([]byte("covey secagg board v2\x00"))
	for _, raw := range heads {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(raw))))
		h.Write(raw)
	}
	h.Sum(b.hash[:0])
	return b, nil
}

// parseHead reads one head, and also returns the commitment to its nonce. header is the site's.
func (c Config) parseHead(site int, header, raw []byte) (announced, []byte, error) {
	if len(raw) != c.headSize() || !bytes.Equal(raw[:len(header)], header) {
		return announced{}, nil, errAnnouncement
	}
	if err := c.checkSigned(site, raw); err != nil {
		return announced{}, nil, err
	}
	rest := bytes.Clone(raw[len(header):])
	take := func(n int) (out []byte) {
		out, rest = rest[:n:n], rest[n:]
		return out
	}
	a := announced{header: sha256.Sum256(header)}
	var err error
	if a.transport, err = transportKey(take(32)); err != nil {
		return announced{}, nil, err
	}
	a.sealHash = [32]byte(take(32))
	nonce := take(nonceSize)
	a.secrets = take(32 * c.shared())
	a.bodyHash = [32]byte(take(32))
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
	h.Write([]byte("covey secagg transcript v2\x00sparse\x00"))
	h.Write(b.hash[:])
	for _, nonce := range nonces {
		h.Write(nonce)
	}
	s := &Setup{Witness{cfg: b.setup.cfg}, b.setup.sites}
	h.Sum(s.transcript[:0])
	return s, s.draw()
}

// CheckKey checks that seal is the ML-KEM key that the site's head names, and is a key. It is for
// the leader and for the sites that seal to it; nobody else sees it. On the complete graph the
// announcement has it.
func (s *Setup) CheckKey(site int, seal []byte) error {
	_, err := s.sealTo(site, seal)
	return err
}

// sealTo reads the ML-KEM key of a site: nil on the complete graph.
func (s *Setup) sealTo(site int, seal []byte) (*mlkem.EncapsulationKey768, error) {
	if site < 0 || site >= s.cfg.sites() {
		return nil, configError("site %d of %d", site, s.cfg.sites())
	}
	if !s.cfg.sparse() {
		return s.sites[site].seal, nil
	}
	if sha256.Sum256(seal) != s.sites[site].sealHash {
		return nil, &RelayError{site, "the ML-KEM key is not the one that the head names"}
	}
	key, err := mlkem.NewEncapsulationKey768(seal)
	if err != nil {
		return nil, &SiteError{site, errSeal}
	}
	return key, nil
}

// CheckBody checks that body is the one that the site's head names, and that its numbers are below
// ℓ. The leader and the site's holders call it.
func (s *Setup) CheckBody(site int, body []byte) error {
	_, err := s.body(site, body)
	return err
}

// body reads a dealer's commitments: of its announcement on the complete graph, where raw is nil.
func (s *Setup) body(site int, raw []byte) (body, error) {
	if site < 0 || site >= s.cfg.sites() {
		return body{}, configError("site %d of %d", site, s.cfg.sites())
	}
	if !s.cfg.sparse() {
		raw = s.sites[site].body
	} else if sha256.Sum256(raw) != s.sites[site].bodyHash {
		return body{}, &RelayError{site, "the commitments are not those that the head names"}
	}
	b, err := s.cfg.parseBody(raw)
	if err != nil {
		return body{}, &SiteError{site, errors.New("announcement: commitments that are no numbers below ℓ")}
	}
	return b, nil
}

// challenge is the dealer's g.
func (a *announced) challenge(b body) *edwards25519.Scalar {
	return committer{a.header}.challenge(a.transport.Bytes(), a.sealHash[:], a.secrets, b.places)
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
