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

	"covey/internal/graph"

	"filippo.io/edwards25519"
)

// A box from i to j is ct (1088) ‖ sealed ‖ tags ‖ Ed25519 signature (64). sealed is AES-256-GCM
// of, if j holds i's shares, these by slot, b before e (32 each), and, if i owns their pair, its
// key by slot (32 each). Tags are those of the keys, by slot, unless the setup is whole: a tag is a
// public function of its key, so that nobody can pass another key for it later. The signature is
// over the label, transcript, i, j, the hash of ct and sealed, and the hash of the tags.
//
// The box's key is of an X25519 agreement and of an ML-KEM-768 encapsulation: it takes both broken
// to open a box.

// sealsShares and sealsKeys are what a box of one direction has.
func (s *Setup) sealsShares(from, to int) bool {
	_, _, ok := s.graph.Find(to, from)
	return ok
}
func (s *Setup) sealsKeys(from, to int) bool { return graph.Owns(from, to) && s.graph.Linked(from, to) }

func (s *Setup) plainSize(from, to int) int {
	n := 0
	if s.sealsShares(from, to) {
		n += scalarSize * s.cfg.shared()
	}
	if s.sealsKeys(from, to) {
		n += pairKeySize * s.cfg.Slots
	}
	return n
}

func (s *Setup) tagsSize(from, to int) int {
	if s.cfg.Whole() || !s.sealsKeys(from, to) {
		return 0
	}
	return tagSize * s.cfg.Slots
}

const gcmOverhead = 16

// BoxSize is the length of a box.
func (s *Setup) BoxSize(from, to int) int {
	return mlkem.CiphertextSize768 + s.plainSize(from, to) + gcmOverhead + s.tagsSize(from, to) + ed25519.SignatureSize
}

// parcel is a box in its parts.
type parcel struct{ ct, sealed, tags, signature []byte }

// unwrap splits a box and checks its signature. A *RelayError is a box of another length, or not of
// its sender: nobody can be named for it.
func (s *Setup) unwrap(from, to int, box []byte) (parcel, error) {
	p, err := s.split(from, to, box)
	if err != nil {
		return parcel{}, err
	}
	if !ed25519.Verify(s.cfg.Identity[from], s.boxBytes(from, to, p.sealedHash(), p.tags), p.signature) {
		return parcel{}, &RelayError{from, "a box without the sender's signature"}
	}
	return p, nil
}

// split is unwrap of a box whose signature was checked before.
func (s *Setup) split(from, to int, box []byte) (parcel, error) {
	if from < 0 || from >= s.cfg.sites() || to < 0 || to >= s.cfg.sites() || from == to {
		return parcel{}, configError("a box from %d to %d of %d sites", from, to, s.cfg.sites())
	}
	if len(box) != s.BoxSize(from, to) {
		return parcel{}, &RelayError{from, "a box of the wrong length"}
	}
	var p parcel
	p.ct, box = box[:mlkem.CiphertextSize768], box[mlkem.CiphertextSize768:]
	n := s.plainSize(from, to) + gcmOverhead
	p.sealed, box = box[:n], box[n:]
	n = s.tagsSize(from, to)
	p.tags, p.signature = box[:n], box[n:]
	return p, nil
}

func (p parcel) sealedHash() [32]byte {
	h := sha256.New()
	h.Write(p.ct)
	h.Write(p.sealed)
	return [32]byte(h.Sum(nil))
}

// boxBytes is what a box's signature signs.
func (s *Setup) boxBytes(from, to int, sealedHash [32]byte, tags []byte) []byte {
	tagsHash := sha256.Sum256(tags)
	return slices.Concat([]byte("covey secagg box v2\x00"), s.transcript[:], u16(from), u16(to), sealedHash[:], tagsHash[:])
}

// CheckBox checks a box's length and its sender's signature.
func (s *Setup) CheckBox(from, to int, box []byte) error {
	_, err := s.unwrap(from, to, box)
	return err
}

// CheckBoxes checks all boxes of a sender in the order of Graph.Recipients, as the coordinator does
// before it relays one.
func (s *Setup) CheckBoxes(from int, boxes [][]byte) error {
	to := s.graph.Recipients(from)
	if len(boxes) != len(to) {
		return &RelayError{from, "boxes of another number"}
	}
	for i, j := range to {
		if err := s.CheckBox(from, j, boxes[i]); err != nil {
			return err
		}
	}
	return nil
}

// aead is the box's cipher. Its key binds the transcript, both sites in this order, their keys and
// the ciphertext, so that it seals one plaintext and the nonce is constant: even if an
// encapsulation repeated, the plaintext is a function of the sender's secrets and of what the key
// binds.
func (s *Setup) aead(from, to int, secret, ct, agreed []byte) (cipher.AEAD, []byte, error) {
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

// agree is the X25519 agreement of a site's key with another's.
func (s *Setup) agree(own *[32]byte, other int) ([]byte, error) {
	private, err := ecdh.X25519().NewPrivateKey(own[:])
	if err != nil {
		return nil, configError("transport key: %v", err)
	}
	agreed, err := private.ECDH(s.sites[other].transport)
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
	plain, tags := s.plaintexts(self, sec, to)
	boxes := make([][]byte, len(to))
	errs := make([]error, len(to))
	atOnce(len(to), func(i int) {
		defer clear(plain[i])
		boxes[i], errs[i] = s.box(self, to[i], sec, key, keys[i], enc, plain[i], tags[i])
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
		plain[i] = make([]byte, 0, s.plainSize(self, j))
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
			if !s.sealsKeys(self, j) {
				continue
			}
			k := s.pairKey(e, slot, self, j)
			plain[i] = append(plain[i], k[:]...)
			if !s.cfg.Whole() {
				t := s.tag(k, slot, self, j)
				tags[i] = append(tags[i], t[:]...)
			}
		}
		e.Set(zero)
	}
	return plain, tags
}

// box seals one recipient's.
func (s *Setup) box(self, to int, sec Secrets, key ed25519.PrivateKey, seal *mlkem.EncapsulationKey768, enc encapsulate, plain, tags []byte) ([]byte, error) {
	agreed, err := s.agree(&sec.Transport, to)
	if err != nil {
		return nil, err
	}
	secret, ct := enc(seal)
	defer clear(secret)
	aead, bound, err := s.aead(self, to, secret, ct, agreed)
	if err != nil {
		return nil, err
	}
	p := parcel{ct: ct, sealed: aead.Seal(nil, make([]byte, aead.NonceSize()), plain, bound), tags: tags}
	signature := ed25519.Sign(key, s.boxBytes(self, to, p.sealedHash(), tags))
	return slices.Concat(p.ct, p.sealed, p.tags, signature), nil
}

// open decrypts a parcel with the recipient's transport secrets.
func (s *Setup) open(from, to int, transport *[32]byte, seal *mlkem.DecapsulationKey768, p parcel) ([]byte, error) {
	agreed, err := s.agree(transport, from)
	if err != nil {
		return nil, err
	}
	secret, err := seal.Decapsulate(p.ct)
	if err != nil {
		return nil, errors.New("a box of the wrong length")
	}
	defer clear(secret)
	aead, bound, err := s.aead(from, to, secret, p.ct, agreed)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), p.sealed, bound)
	if err != nil {
		return nil, errors.New("a box that does not open")
	}
	return plain, nil
}
