package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// keyLabel separates Key from every other hash and names the sampler's version:
// whatever changes the draws of a key changes the label.
const keyLabel = "covey one sum, one noise v1\x00"

// keyed is an endless generator: AES-256-CTR from a zero counter.
type keyed struct{ stream cipher.Stream }

// NewKeyed returns the generator of a key: equal keys give equal bytes. Each key
// is used for one sum, so a counter that begins at zero never repeats. It prints as
// [redacted]; it is not safe for concurrent use.
func NewKeyed(key [32]byte) io.Reader {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // only for keys of another length
	}
	return keyed{cipher.NewCTR(block, make([]byte, aes.BlockSize))}
}

func (k keyed) Read(p []byte) (int, error) {
	clear(p)
	k.stream.XORKeyStream(p, p)
	return len(p), nil
}

// Format keeps the generator's state out of logs, whatever the verb.
func (keyed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[redacted]") }

// Key is the key of a sum's one noise (docs/privacy.md): SHA-256 of a label, the opened
// noise lanes, reduced mod 2^bits (1 <= bits <= 64) and written in 8 bytes each, the
// query's ctx and H(U). Every part has a fixed width once the count is known, so
// different inputs are different bytes. The key is as secret as the lanes: whoever lacks one
// survivor's seed cannot tell it from random.
func Key(lanes []uint64, bits uint, ctx, survivors [32]byte) [32]byte {
	h := sha256.New()
	h.Write([]byte(keyLabel))
	var word [8]byte
	binary.BigEndian.PutUint64(word[:], uint64(len(lanes))<<8|uint64(bits))
	h.Write(word[:])
	mask := ^uint64(0) >> (64 - min(bits, 64))
	for _, lane := range lanes {
		binary.BigEndian.PutUint64(word[:], lane&mask)
		h.Write(word[:])
	}
	h.Write(ctx[:])
	h.Write(survivors[:])
	return [32]byte(h.Sum(nil))
}
