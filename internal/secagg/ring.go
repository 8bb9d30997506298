package secagg

import (
	"encoding/binary"
	"slices"
)

// Widths are the rings' b in bits: whole bytes on the wire.
var Widths = []uint{32, 40, 48, 56, 64}

// maxLanes bounds a vector.
const maxLanes = 1 << 26

func ringMask(bits uint) uint64 { return ^uint64(0) >> (64 - bits) }

// SumInto adds src to dst in Z_2^b.
func SumInto(dst, src []uint64, bits uint) {
	mask := ringMask(bits)
	for i, v := range src {
		dst[i] = (dst[i] + v) & mask
	}
}

// Pack returns the wire form: b/8 bytes a coordinate, little-endian. Higher bits
// of a coordinate are dropped, which is the reduction to Z_2^b.
func Pack(v []uint64, bits uint) []byte {
	width := int(bits / 8)
	out := make([]byte, len(v)*width+8) // room for the last whole-word store
	for i, x := range v {
		binary.LittleEndian.PutUint64(out[i*width:], x)
	}
	return out[:len(v)*width]
}

// SumPacked adds a vector in the wire form to a running sum in Z_2^b. The sum is as it was if raw
// does not fit it.
func SumPacked(sum []uint64, raw []byte, bits uint) error {
	if !slices.Contains(Widths, bits) {
		return configError("a ring of %d bits, must be one of %v", bits, Widths)
	}
	width, mask := int(bits/8), ringMask(bits)
	if len(raw) != len(sum)*width {
		return configError("a vector of %d bytes, must be %d numbers of %d bits", len(raw), len(sum), bits)
	}
	// All but the last coordinates have a whole word before the end of raw.
	i := 0
	for ; len(raw) >= 8; i++ {
		sum[i] = (sum[i] + binary.LittleEndian.Uint64(raw)) & mask
		raw = raw[width:]
	}
	for ; len(raw) > 0; i++ {
		sum[i] = (sum[i] + load(raw, bits)) & mask
		raw = raw[width:]
	}
	return nil
}

// load reads one coordinate.
func load(raw []byte, bits uint) uint64 {
	if len(raw) >= 8 {
		return binary.LittleEndian.Uint64(raw) & ringMask(bits)
	}
	var word [8]byte
	copy(word[:], raw[:bits/8])
	return binary.LittleEndian.Uint64(word[:])
}
