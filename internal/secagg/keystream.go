package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// A keystream is PRG(key), to be added to a vector in Z_2^b or subtracted: AES-256-CTR from a
// zero counter, b/8 bytes a coordinate. Every key is for one vector.
type keystream struct {
	stream   cipher.Stream
	subtract bool
}

func newKeystream(key []byte, subtract bool) keystream {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // keys are 32 bytes of HKDF
	}
	return keystream{cipher.NewCTR(block, zeros[:aes.BlockSize]), subtract}
}

// chunkLanes are worked on at a time: 8 kB of the vector and as much of the stream stay in a
// core's first cache while all keys pass over them. Whole blocks of AES in every ring.
const chunkLanes = 1024

// zeros is what streams are laid over.
var zeros [8 * chunkLanes]byte

// addKeystreams adds all streams to v in Z_2^b. Only the ring's bytes are expanded, a chunk at
// a time, and nothing is allocated by chunk or stream. Coordinates may be over 2^b before,
// and are below it after.
func addKeystreams(v []uint64, bits uint, streams []keystream) {
	width := int(bits / 8)
	buffer := make([]byte, min(chunkLanes, len(v))*width+8) // room for the last whole-word load
	mask := ringMask(bits)
	for len(v) > 0 {
		part := v[:min(chunkLanes, len(v))]
		raw := buffer[:len(part)*width]
		for _, s := range streams {
			s.stream.XORKeyStream(raw, zeros[:len(raw)])
			if s.subtract {
				subtractLanes(part, buffer, width)
			} else {
				addLanes(part, buffer, width)
			}
		}
		for i := range part {
			part[i] &= mask
		}
		v = v[len(part):]
	}
	clear(buffer)
}

// addLanes adds to each of v the whole word that begins at its coordinate in raw, which has
// 8 bytes to spare. What of the word is the next coordinate's lies above b bits, where it
// changes nothing below: the caller reduces once at the end.
func addLanes(v []uint64, raw []byte, width int) {
	for i := range v {
		v[i] += binary.LittleEndian.Uint64(raw)
		raw = raw[width:]
	}
}

// subtractLanes is addLanes with the other sign: a borrow too goes only upwards.
func subtractLanes(v []uint64, raw []byte, width int) {
	for i := range v {
		v[i] -= binary.LittleEndian.Uint64(raw)
		raw = raw[width:]
	}
}
