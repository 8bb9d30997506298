package secagg

import (
	"crypto/ed25519"
	"encoding/binary"

	"covey/internal/graph"
)

// Witness is the part of a setup that follows from its transcript alone: it checks confirmations
// and certificates, and can mask and open nothing. It is immutable and safe for concurrent use.
type Witness struct {
	cfg        Config
	graph      *graph.Graph
	transcript [32]byte
}

// NewWitness returns the witness of a transcript, for a party that was not in the setup. That the
// sites made this transcript, and no other, is for CheckConfirmations: without all N of them
// anybody may have chosen it, and with it the committee of the sparse graph.
func NewWitness(cfg Config, transcript [32]byte) (*Witness, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	w := &Witness{cfg: cfg, transcript: transcript}
	if !cfg.sparse() {
		w.graph = completeGraph(cfg)
		return w, nil
	}
	return w, w.draw()
}

// Graph returns who holds whose shares, masks with whom and signs.
func (w *Witness) Graph() *graph.Graph { return w.graph }

// Config returns what the setup was made for.
func (w *Witness) Config() Config { return w.cfg }

// Transcript is the hash of all announcements in roster order: what sites confirm
// and everything later is bound to.
func (w *Witness) Transcript() [32]byte { return w.transcript }

// draw draws the sparse graph from the transcript.
func (w *Witness) draw() (err error) {
	w.graph, err = graph.New(w.cfg.Sparse, [32]byte(derive(w.transcript[:], nil, "graph", 32)))
	return ofGraph(err)
}

// confirmation is what a site signs once it holds all shares and keys.
func (w *Witness) confirmation(site int) []byte {
	return append(append([]byte("covey secagg confirmation v2\x00"), w.transcript[:]...), u16(site)...)
}

// Confirm signs the transcript. A site confirms what it has received and checked, and stored
// (Receive).
func (w *Witness) Confirm(self int, key ed25519.PrivateKey) []byte {
	return ed25519.Sign(key, w.confirmation(self))
}

// CheckConfirmation checks one site's.
func (w *Witness) CheckConfirmation(site int, signature []byte) error {
	if site < 0 || site >= w.cfg.sites() || !ed25519.Verify(w.cfg.Identity[site], w.confirmation(site), signature) {
		return siteError(site, "the confirmation is wrong")
	}
	return nil
}

// CheckConfirmations checks all N. No upload may leave before.
func (w *Witness) CheckConfirmations(signatures [][]byte) error {
	if len(signatures) != w.cfg.sites() {
		return configError("%d confirmations of %d sites", len(signatures), w.cfg.sites())
	}
	list := make([]signature, len(signatures))
	for i, signed := range signatures {
		list[i] = signature{i, w.confirmation(i), signed}
	}
	if wrong := w.holding(list); wrong < len(list) {
		return siteError(wrong, "the confirmation is wrong")
	}
	return nil
}

// packedSize is one signature of a packed list: the site (2 bytes, big-endian), the signature.
const packedSize = 2 + ed25519.SignatureSize

// Pack returns a certificate in its stored form: of the signatures there are, by site, the first of
// the committee's that are enough, ascending. Fewer are all of them.
func (w *Witness) Pack(signatures [][]byte) []byte {
	out := make([]byte, 0, packedSize*w.cfg.threshold())
	for _, i := range w.graph.Committee() {
		if i < len(signatures) && len(signatures[i]) == ed25519.SignatureSize && len(out) < packedSize*w.cfg.threshold() {
			out = append(binary.BigEndian.AppendUint16(out, uint16(i)), signatures[i]...)
		}
	}
	return out
}

// Unpacked is the inverse of Pack, by site, of a list that CheckPacked found good.
func (w *Witness) Unpacked(packed []byte) [][]byte {
	out := make([][]byte, w.cfg.sites())
	for ; len(packed) >= packedSize; packed = packed[packedSize:] {
		if i := int(binary.BigEndian.Uint16(packed)); i < len(out) {
			out[i] = packed[2:packedSize:packedSize]
		}
	}
	return out
}

// CheckPacked checks that a packed list has exactly as many signatures on a message as are enough,
// by different sites of the committee, ascending: a list has no second form.
func (w *Witness) CheckPacked(message, packed []byte) error {
	need, last := w.cfg.threshold(), -1
	list := make([]signature, 0, need)
	for rest := packed; len(rest) >= packedSize && len(list) < need; rest = rest[packedSize:] {
		i := int(binary.BigEndian.Uint16(rest))
		if i <= last || !w.graph.Signs(i) {
			break
		}
		list, last = append(list, signature{i, message, rest[2:packedSize]}), i
	}
	if valid := w.holding(list); valid != need || len(packed) != need*packedSize {
		return &CertificateError{valid, need}
	}
	return nil
}

// CheckReleased checks the packed certificate of a query whose sum over U was opened.
func (w *Witness) CheckReleased(q Query, u Survivors, packed []byte) error {
	if err := w.lawful(q, u); err != nil {
		return err
	}
	return w.CheckPacked(w.releaseBytes(q, u), packed)
}
