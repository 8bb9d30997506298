package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"io"
)

// keyed is an endless generator: AES-256-CTR from a zero counter.
type keyed struct{ stream cipher.Stream }

// NewKeyed gives the generator of a key: equal keys give equal bytes. Each key
// is used for one sum, so a counter that begins at zero never repeats.
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

// String keeps the generator's state out of logs.
func (keyed) String() string   { return "[redacted]" }
func (keyed) GoString() string { return "[redacted]" }

// Key is the key of a sum's one noise (design section 6): a hash of the opened
// noise lanes, each below 2^bits, of the query's ctx and of H(U). It is as secret as
// the lanes: whoever lacks one survivor's seed cannot tell it from random.
func Key(lanes []uint64, bits uint, ctx, survivors [32]byte) [32]byte {
	h := sha256.New()
	h.Write([]byte("covey one sum, one noise v1\x00"))
	var word [8]byte
	binary.BigEndian.PutUint64(word[:], uint64(len(lanes))<<8|uint64(bits))
	h.Write(word[:])
	for _, lane := range lanes {
		binary.BigEndian.PutUint64(word[:], lane)
		h.Write(word[:])
	}
	h.Write(ctx[:])
	h.Write(survivors[:])
	return [32]byte(h.Sum(nil))
}
