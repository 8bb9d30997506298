package secagg

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"slices"

	"filippo.io/edwards25519"
)

// Kept is what the coordinator keeps of a setup that is not whole, to open sums without some sites:
// by owner its tags (Setup.Tags), by site its deposits, each nil where it is not at hand; and by
// owner the hashes that its tags must have (Setup.TagHashes), which are always there.
type Kept struct{ Tags, TagHashes, Deposits [][]byte }

// deposits are a site's keys of the pairs that others own, under pads of its own e. A pad is for
// one key of one pair: the key is a function of its owner's secrets and of the transcript.
func (s *Setup) deposits(self int, sec Secrets, owners []int, held Held) []byte {
	secrets := make([]*edwards25519.Scalar, s.cfg.Slots)
	for slot := range secrets {
		secrets[slot] = sec.Slots[slot].secret(ofE, slot, self)
	}
	defer erase(secrets)
	out := make([]byte, 0, s.depositsSize(self))
	for at, o := range owners {
		for slot := range held {
			d := xor(held[slot].keys[at], s.edge(slot, self, o).pad(secrets[slot]))
			out = append(out, d[:]...)
		}
	}
	return out
}

// depositsSize is the length of a site's deposits, tagsSize that of an owner's tags; 0 where the
// setup is whole.
func (s *Setup) depositsSize(site int) int {
	if s.cfg.Whole() {
		return 0
	}
	return pairKeySize * s.cfg.Slots * len(s.graph.Owners(site))
}

// tagsSize is depositsSize of an owner's tags.
func (s *Setup) tagsSize(owner int) int {
	if s.cfg.Whole() {
		return 0
	}
	return tagSize * s.cfg.Slots * len(s.graph.Owned(owner))
}

// statement is what a site signs about its deposits: that they hold the keys that yield these tags,
// by owner in the order of Graph.Owners.
func (s *Setup) statement(site int, deposits []byte, tags [][]byte) []byte {
	all, of := sha256.New(), sha256.Sum256(deposits)
	for _, t := range tags {
		h := sha256.Sum256(t)
		all.Write(h[:])
	}
	return slices.Concat([]byte("covey secagg deposits v2\x00"), s.transcript[:], u16(site), all.Sum(nil), of[:])
}

// CheckStatement checks a site's deposits, and that their keys have the tags in the boxes that the
// coordinator relayed to it: boxes, in the order of Graph.Senders. It has checked their signatures
// (CheckBoxes), which are not checked again.
func (s *Setup) CheckStatement(site int, deposits, signature []byte, boxes [][]byte) error {
	if site < 0 || site >= s.cfg.sites() {
		return configError("site %d of %d", site, s.cfg.sites())
	}
	if len(deposits) != s.depositsSize(site) {
		return siteError(site, "deposits of the wrong length")
	}
	if s.cfg.Whole() {
		return nil
	}
	senders := s.graph.Senders(site)
	if len(boxes) != len(senders) {
		return configError("%d boxes of %d senders", len(boxes), len(senders))
	}
	var tags [][]byte
	for i, from := range senders {
		way := s.passage(from, site)
		if !way.keys() {
			continue
		}
		p, err := way.split(boxes[i])
		if err != nil {
			return err
		}
		tags = append(tags, p.tags)
	}
	if !ed25519.Verify(s.cfg.Identity[site], s.statement(site, deposits, tags), signature) {
		return siteError(site, "the statement of its deposits is wrong")
	}
	return nil
}

// DepositHash is what the log keeps of a site's deposits on the sparse graph.
func (s *Setup) DepositHash(site int, deposits []byte) [32]byte {
	return hash("deposit hash", s.transcript[:], u16(site), deposits)
}

// Tags are an owner's, of its boxes in the order of Graph.Recipients: by the other end of each pair
// that it owns in the order of Graph.Owned, then by slot. Nil where the setup is whole, or a box is
// of another length.
func (s *Setup) Tags(owner int, boxes [][]byte) []byte {
	to := s.graph.Recipients(owner)
	if len(boxes) != len(to) || s.cfg.Whole() {
		return nil
	}
	out := make([]byte, 0, s.tagsSize(owner))
	for i, j := range to {
		way := s.passage(owner, j)
		if len(boxes[i]) != way.size() {
			return nil
		}
		end := len(boxes[i]) - ed25519.SignatureSize
		out = append(out, boxes[i][end-way.tagsSize():end]...)
	}
	return out
}

// TagHashes hashes an owner's tags, 32 bytes a slot: its e of a slot alone makes all of them again.
// Nil for tags of another length.
func (s *Setup) TagHashes(owner int, tags []byte) []byte {
	if s.cfg.Whole() || len(tags) != s.tagsSize(owner) {
		return nil
	}
	out := make([]byte, 0, 32*s.cfg.Slots)
	n := len(s.graph.Owned(owner))
	for slot := range s.cfg.Slots {
		of := make([]byte, 0, tagSize*n)
		for k := range n {
			of = append(of, tags[tagSize*(k*s.cfg.Slots+slot):][:tagSize]...)
		}
		h := s.tagHash(owner, slot, of)
		out = append(out, h[:]...)
	}
	return out
}

// tagHash hashes an owner's tags of one slot, by the pairs' other ends ascending.
func (s *Setup) tagHash(owner, slot int, tags []byte) [32]byte {
	return hash("tags", s.transcript[:], u32(slot), u16(owner), tags)
}

// CheckTags reports whether tags are those of these hashes.
func (s *Setup) CheckTags(owner int, tags, hashes []byte) bool {
	got := s.TagHashes(owner, tags)
	return got != nil && bytes.Equal(got, hashes)
}
