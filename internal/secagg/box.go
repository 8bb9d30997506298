package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/sha256"
	"errors"
	"slices"

	"filippo.io/edwards25519"

	"covey/internal/graph"
)

// A box from i to j is ct (1088) ‖ sealed ‖ tags ‖ Ed25519 signature (64). sealed is AES-256-GCM
// of, if j holds i's shares, these by slot, b before e (32 each), and, if i owns their pair, its
// key by slot (32 each). Tags are those of the keys, by slot, unless the setup is whole: a tag is a
// public function of its key, so that nobody can pass another key for it later. The signature is
// over the label, transcript, i, j, the hash of ct and sealed, and the hash of the tags.
//
// The box's key comes from both an X25519 agreement and an ML-KEM-768 encapsulation: to open a box,
// both must be broken.

// passage is one direction between two sites, in which one box goes.
type passage struct {
	s        *Setup
	from, to int
}

func (s *Setup) passage(from, to int) passage { return passage{s, from, to} }

// shares reports whether its box has shares.
func (w passage) shares() bool {
	_, _, ok := w.s.graph.Find(w.to, w.from)
	return ok
}

// keys reports whether its box has keys of the pair.
func (w passage) keys() bool { return graph.Owns(w.from, w.to) && w.s.graph.Linked(w.from, w.to) }

func (w passage) plainSize() int {
	n := 0
	if w.shares() {
		n += scalarSize * w.s.cfg.shared()
	}
	if w.keys() {
		n += pairKeySize * w.s.cfg.Slots
	}
	return n
}

func (w passage) tagsSize() int {
	if w.s.cfg.Whole() || !w.keys() {
		return 0
	}
	return tagSize * w.s.cfg.Slots
}

const gcmOverhead = 16

// size is the length of a box.
func (w passage) size() int {
	return mlkem.CiphertextSize768 + w.plainSize() + gcmOverhead + w.tagsSize() + ed25519.SignatureSize
}

// parcel is a box in its parts.
type parcel struct{ ct, sealed, tags, signature []byte }

// unwrap splits a box and checks its signature. A *RelayError is a box of another length, or not of
// its sender: nobody can be named for it.
func (w passage) unwrap(box []byte) (parcel, error) {
	p, err := w.s.unwrap([]passage{w}, [][]byte{box})
	if err != nil {
		return parcel{}, err
	}
	return p[0], nil
}

// unwrap unwraps boxes, each of its passage, with their signatures checked together. With an error
// it returns those before the first box that does not hold.
func (s *Setup) unwrap(ways []passage, boxes [][]byte) (out []parcel, err error) {
	list := make([]signature, 0, len(ways))
	for i, w := range ways {
		var p parcel
		if p, err = w.split(boxes[i]); err != nil {
			break
		}
		out = append(out, p)
		list = append(list, signature{w.from, w.signed(p.sealedHash(), p.tags), p.signature})
	}
	if good := s.holding(list); good < len(list) {
		return out[:good], &RelayError{ways[good].from, "a box without the sender's signature"}
	}
	return out, err
}

// split is unwrap of a box whose signature was checked before.
func (w passage) split(box []byte) (parcel, error) {
	from, to, sites := w.from, w.to, w.s.cfg.sites()
	if from < 0 || from >= sites || to < 0 || to >= sites || from == to {
		return parcel{}, configError("a box from %d to %d of %d sites", from, to, sites)
	}
	if len(box) != w.size() {
		return parcel{}, &RelayError{from, "a box of the wrong length"}
	}
	var p parcel
	p.ct, box = box[:mlkem.CiphertextSize768], box[mlkem.CiphertextSize768:]
	n := w.plainSize() + gcmOverhead
	p.sealed, box = box[:n], box[n:]
	n = w.tagsSize()
	p.tags, p.signature = box[:n], box[n:]
	return p, nil
}

func (p parcel) sealedHash() [32]byte {
	h := sha256.New()
	h.Write(p.ct)
	h.Write(p.sealed)
	return [32]byte(h.Sum(nil))
}

// signed is what a box's signature signs.
func (w passage) signed(sealedHash [32]byte, tags []byte) []byte {
	tagsHash := sha256.Sum256(tags)
	return slices.Concat([]byte("covey secagg box v2\x00"), w.s.transcript[:], u16(w.from), u16(w.to), sealedHash[:], tagsHash[:])
}

// BoxSize is the length of a box.
func (s *Setup) BoxSize(from, to int) int { return s.passage(from, to).size() }

// CheckBox checks a box's length and its sender's signature.
func (s *Setup) CheckBox(from, to int, box []byte) error {
	_, err := s.passage(from, to).unwrap(box)
	return err
}

// CheckBoxes checks all boxes of a sender in the order of Graph.Recipients, as the coordinator does
// before it relays one.
func (s *Setup) CheckBoxes(from int, boxes [][]byte) error {
	to := s.graph.Recipients(from)
	if len(boxes) != len(to) {
		return &RelayError{from, "boxes of another number"}
	}
	ways := make([]passage, len(to))
	for i, j := range to {
		ways[i] = s.passage(from, j)
	}
	_, err := s.unwrap(ways, boxes)
	return err
}

// aead is the box's cipher. Its key binds the transcript, both sites in this order, their keys and
// the ciphertext, so that it seals one plaintext and the nonce is constant: even if an
// encapsulation repeated, the plaintext is a function of the sender's secrets and of what the key
// binds.
func (w passage) aead(secret, ct, agreed []byte) (cipher.AEAD, []byte, error) {
	s, from, to := w.s, w.from, w.to
	defer clear(agreed)
	a, b := &s.sites[from], &s.sites[to]
	both := slices.Concat(secret, agreed)
	defer clear(both)
	key := derive(both, s.transcript[:], "box", 32, u16(from), u16(to), a.transport.Bytes(), b.transport.Bytes(), b.sealHash[:], ct)
	defer clear(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, nil, err
	}
	aead, err := cipher.NewGCM(block)
	return aead, slices.Concat(s.transcript[:], u16(from), u16(to)), err
}

// transport returns a site's X25519 key, once for all boxes: it takes as long as an agreement.
func (s Secrets) transport() (*ecdh.PrivateKey, error) {
	own, err := ecdh.X25519().NewPrivateKey(s.Transport[:])
	if err != nil {
		return nil, configError("transport key: %v", err)
	}
	return own, nil
}

// agree is the X25519 agreement of a site's key with another's.
func (s *Setup) agree(own *ecdh.PrivateKey, other int) ([]byte, error) {
	agreed, err := own.ECDH(s.sites[other].transport)
	if err != nil {
		return nil, &SiteError{other, errors.New("a transport key of low order")}
	}
	return agreed, nil
}

func (s *Setup) fits(self int, sec Secrets) error {
	if self < 0 || self >= s.cfg.sites() || len(sec.Slots) != s.cfg.Slots {
		return configError("site %d with %d slots does not fit the setup", self, len(sec.Slots))
	}
	return nil
}

// encapsulate makes a fresh secret and its ciphertext for a key.
type encapsulate func(key *mlkem.EncapsulationKey768) (secret, ct []byte)

// Deal returns site self's boxes in the order of Graph.Recipients. seals are the recipients' ML-KEM
// keys in the same order on the sparse graph, nil on the complete one. Encapsulation is random:
// each call returns other boxes, so the caller stores all of them before the first leaves, and only
// ever sends those. A *RelayError or *SiteError is a key that does not hold (CheckKey).
func (s *Setup) Deal(self int, sec Secrets, key ed25519.PrivateKey, seals [][]byte) ([][]byte, error) {
	return s.deal(self, sec, key, seals, (*mlkem.EncapsulationKey768).Encapsulate)
}

func (s *Setup) deal(self int, sec Secrets, key ed25519.PrivateKey, seals [][]byte, enc encapsulate) ([][]byte, error) {
	if err := s.fits(self, sec); err != nil {
		return nil, err
	}
	to := s.graph.Recipients(self)
	if s.cfg.sparse() != (seals != nil) || seals != nil && len(seals) != len(to) {
		return nil, configError("%d ML-KEM keys of %d recipients, or on the complete graph", len(seals), len(to))
	}
	keys := make([]*mlkem.EncapsulationKey768, len(to))
	for i, j := range to {
		var seal []byte
		if seals != nil {
			seal = seals[i]
		}
		var err error
		if keys[i], err = s.sealTo(j, seal); err != nil {
			return nil, err
		}
	}
	transport, err := sec.transport()
	if err != nil {
		return nil, err
	}
	plain, tags := s.plaintexts(self, sec, to)
	boxes := make([][]byte, len(to))
	errs := make([]error, len(to))
	atOnce(len(to), func(i int) {
		defer clear(plain[i])
		boxes[i], errs[i] = s.passage(self, to[i]).seal(transport, key, keys[i], enc, plain[i], tags[i])
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return boxes, nil
}

// plaintexts is what each recipient's box holds, and its tags.
func (s *Setup) plaintexts(self int, sec Secrets, to []int) (plain, tags [][]byte) {
	plain, tags = make([][]byte, len(to)), make([][]byte, len(to))
	x := make([]*edwards25519.Scalar, len(to)) // nil: holds nothing
	for i, j := range to {
		plain[i] = make([]byte, 0, s.passage(self, j).plainSize())
		if _, at, ok := s.graph.Find(j, self); ok {
			x[i] = scalarOf(uint64(at))
		}
	}
	for slot := range sec.Slots {
		for which := range s.cfg.kinds() {
			p := sec.Slots[slot].polynomial(which, slot, self, s.cfg.threshold())
			for i := range to {
				if x[i] != nil {
					plain[i] = append(plain[i], p.at(x[i]).Bytes()...)
				}
			}
			p.erase()
		}
	}
	for slot := range sec.Slots {
		e := sec.Slots[slot].secret(ofE, slot, self)
		for i, j := range to {
			if !s.passage(self, j).keys() {
				continue
			}
			pair := s.edge(slot, self, j)
			k := pair.key(e)
			plain[i] = append(plain[i], k[:]...)
			if !s.cfg.Whole() {
				t := pair.tag(k)
				tags[i] = append(tags[i], t[:]...)
			}
		}
		e.Set(zero)
	}
	return plain, tags
}

// seal makes the box.
func (w passage) seal(transport *ecdh.PrivateKey, key ed25519.PrivateKey, seal *mlkem.EncapsulationKey768, enc encapsulate, plain, tags []byte) ([]byte, error) {
	agreed, err := w.s.agree(transport, w.to)
	if err != nil {
		return nil, err
	}
	secret, ct := enc(seal)
	defer clear(secret)
	aead, bound, err := w.aead(secret, ct, agreed)
	if err != nil {
		return nil, err
	}
	p := parcel{ct: ct, sealed: aead.Seal(nil, make([]byte, aead.NonceSize()), plain, bound), tags: tags}
	signature := ed25519.Sign(key, w.signed(p.sealedHash(), tags))
	return slices.Concat(p.ct, p.sealed, p.tags, signature), nil
}

// open decrypts a parcel with the recipient's transport secrets.
func (w passage) open(transport *ecdh.PrivateKey, seal *mlkem.DecapsulationKey768, p parcel) ([]byte, error) {
	agreed, err := w.s.agree(transport, w.from)
	if err != nil {
		return nil, err
	}
	secret, err := seal.Decapsulate(p.ct)
	if err != nil {
		return nil, errors.New("a box of the wrong length")
	}
	defer clear(secret)
	aead, bound, err := w.aead(secret, p.ct, agreed)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), p.sealed, bound)
	if err != nil {
		return nil, errors.New("a box that does not open")
	}
	return plain, nil
}
