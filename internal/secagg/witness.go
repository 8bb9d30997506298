package secagg

import (
	"crypto/ed25519"
	"encoding/binary"

	"covey/internal/graph"
)

// Witness returns the part of a setup that follows from its transcript alone, for who was not part
// of it: it checks confirmations and certificates, and can mask and open nothing. That the sites
// made this transcript, and no other, is for CheckConfirmations: without all N of them anybody may
// have chosen it, and with it the committee of the sparse graph.
func Witness(cfg Config, transcript [32]byte) (*Setup, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Setup{cfg: cfg, transcript: transcript}
	if !cfg.sparse() {
		s.graph = completeGraph(cfg)
		return s, nil
	}
	return s, s.draw()
}

// draw draws the sparse graph from the transcript.
func (s *Setup) draw() (err error) {
	s.graph, err = graph.New(s.cfg.Sparse, [32]byte(derive(s.transcript[:], nil, "graph", 32)))
	return ofGraph(err)
}

// packedSize is one signature of a packed list: the site (2 bytes, big-endian), the signature.
const packedSize = 2 + ed25519.SignatureSize

// Pack returns a certificate in its stored form: of the signatures there are, by site, the first of
// the committee's that are enough, ascending. Fewer are all of them.
func (s *Setup) Pack(signatures [][]byte) []byte {
	out := make([]byte, 0, packedSize*s.cfg.threshold())
	for _, i := range s.graph.Committee() {
		if i < len(signatures) && len(signatures[i]) == ed25519.SignatureSize && len(out) < packedSize*s.cfg.threshold() {
			out = append(binary.BigEndian.AppendUint16(out, uint16(i)), signatures[i]...)
		}
	}
	return out
}

// Unpacked is the inverse of Pack, by site, of a list that CheckPacked found good.
func (s *Setup) Unpacked(packed []byte) [][]byte {
	out := make([][]byte, s.cfg.sites())
	for ; len(packed) >= packedSize; packed = packed[packedSize:] {
		if i := int(binary.BigEndian.Uint16(packed)); i < len(out) {
			out[i] = packed[2:packedSize:packedSize]
		}
	}
	return out
}

// CheckPacked checks that a packed list is of exactly as many signatures on a message as are
// enough, of different sites of the committee, ascending: a list has no second form.
func (s *Setup) CheckPacked(message, packed []byte) error {
	valid, last := 0, -1
	for rest := packed; len(rest) >= packedSize; rest = rest[packedSize:] {
		i := int(binary.BigEndian.Uint16(rest))
		if i <= last || !s.graph.Signs(i) || !ed25519.Verify(s.cfg.Identity[i], message, rest[2:packedSize]) {
			break
		}
		valid, last = valid+1, i
	}
	if need := s.cfg.threshold(); valid != need || len(packed) != need*packedSize {
		return &CertificateError{valid, need}
	}
	return nil
}

// CheckReleased checks the packed certificate of a query whose sum over U was opened.
func (s *Setup) CheckReleased(q Query, u Survivors, packed []byte) error {
	if err := s.lawful(q, u); err != nil {
		return err
	}
	return s.CheckPacked(s.releaseBytes(q, u), packed)
}
