package secagg

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/sha256"
	"errors"
	"slices"
)

// A site that refuses a box shows the keys that open it: from then on everybody can judge. The
// caller first puts on record that it never confirms this setup. Nothing was or will be uploaded
// under it, so that what its boxes tell is worth nothing.

const accusationSize = 32 + 64

// Accusation is the proof that a box does not hold: the recipient's transport secrets of the
// setup, and the box.
func (s *Setup) Accusation(sec Secrets, box []byte) []byte {
	return slices.Concat(sec.Transport[:], sec.Seal[:], box)
}

// Judge returns who is guilty where site `to` accuses site `from` of a bad box. It is from, if the
// signed box fails a check when opened with the secrets of to's announcement, or if its body has a
// number that is not below ℓ. Otherwise it is to, of a false accusation. body is from's on the
// sparse graph, nil on the complete one; an error means that it is not.
func (s *Setup) Judge(from, to int, accusation, body []byte) (guilty int, err error) {
	if from < 0 || from >= s.cfg.sites() || to < 0 || to >= s.cfg.sites() || from == to {
		return 0, configError("an accusation of %d by %d of %d sites", from, to, s.cfg.sites())
	}
	way := s.passage(from, to)
	if way.shares() {
		err := s.CheckBody(from, body)
		if at, ok := errors.AsType[*SiteError](err); ok && at.Site == from {
			return from, nil
		} else if err != nil {
			return 0, err
		}
	}
	if len(accusation) < accusationSize {
		return to, nil
	}
	private, err := ecdh.X25519().NewPrivateKey(accusation[:32])
	if err != nil || !bytes.Equal(private.PublicKey().Bytes(), s.sites[to].transport.Bytes()) {
		return to, nil
	}
	seal, err := mlkem.NewDecapsulationKey768(accusation[32:accusationSize])
	if err != nil || sha256.Sum256(seal.EncapsulationKey().Bytes()) != s.sites[to].sealHash {
		return to, nil
	}
	p, err := way.unwrap(accusation[accusationSize:])
	if err != nil {
		return to, nil
	}
	_, err = way.receive(private, seal, p, body)
	if at, ok := errors.AsType[*SiteError](err); ok && at.Site == from {
		return from, nil
	}
	return to, nil
}

const recordSize = 32 + ed25519.SignatureSize // and the tags

// record returns what Public has of an owner: the hash of its sealed box, its signature, its tags.
func (s *Setup) record(self, owner int, public []byte) []byte {
	at := len(public)
	owners := s.graph.Owners(self)
	for k := len(owners) - 1; k >= 0; k-- {
		at -= recordSize + s.passage(owners[k], self).tagsSize()
		if at < 0 {
			return nil
		}
		if owners[k] == owner {
			return public[at : at+recordSize+s.passage(owner, self).tagsSize()]
		}
	}
	return nil
}

// Contradiction compares boxes for site self, in the order of Graph.Senders, with those that it
// confirmed. It returns the first owner that signed other tags now, and the evidence: what it
// signed before. Boxes that are not their senders' are no contradiction.
func (s *Setup) Contradiction(self int, public []byte, boxes [][]byte) (owner int, evidence []byte, ok bool) {
	senders := s.graph.Senders(self)
	if len(boxes) != len(senders) {
		return 0, nil, false
	}
	for i, from := range senders {
		if !s.passage(from, self).keys() {
			continue
		}
		record := s.record(self, from, public)
		if record != nil && s.Convicts(from, self, boxes[i], record) {
			return from, record, true
		}
	}
	return 0, nil, false
}

// Convicts reports whether an owner signed two boxes for one recipient with different tags: the
// box, and the one that evidence is of.
func (s *Setup) Convicts(owner, to int, box, evidence []byte) bool {
	way := s.passage(owner, to)
	p, err := way.unwrap(box)
	if err != nil || len(evidence) != recordSize+way.tagsSize() {
		return false
	}
	tags := evidence[recordSize:]
	signed := signature{owner, way.signed([32]byte(evidence), tags), evidence[32:recordSize]}
	return !bytes.Equal(tags, p.tags) && s.holding([]signature{signed}) == 1
}
