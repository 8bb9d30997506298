package parquet

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/bitpack"
)

// runs are numbers of width bits each, as runs of one value and runs of packed ones: a page's
// levels, and indices into its dictionary. They are unpacked as they are needed, since a run may
// claim any length; one that has more than the page has rows is cut off.
type runs struct {
	b     []byte // after the run
	width uint
	left  uint64 // of the run
	value uint32 // of a run of one value
	bits  []byte // of a run of packed values; nil for one of one value
	at    uint64 // next of the bits
}

// start goes to the next run that has values.
func (r *runs) start() error {
	for r.left == 0 {
		head, used := binary.Uvarint(r.b)
		count := head >> 1
		if used <= 0 || count > math.MaxInt32 {
			return errPage
		}
		if r.b = r.b[used:]; count == 0 {
			continue
		}
		if head&1 == 1 { // groups of eight values, the last of which may be cut off
			n := min(count*uint64(r.width), uint64(len(r.b)))
			r.bits, r.b, r.at = r.b[:n], r.b[n:], 0
			if r.left = 8 * count; r.width > 0 {
				r.left = min(r.left, 8*n/uint64(r.width))
				continue
			}
			r.value, r.bits = 0, nil
			continue
		}
		n := int(r.width+7) / 8
		if n > len(r.b) {
			return errPage
		}
		var value [4]byte
		copy(value[:], r.b[:n])
		r.value, r.bits, r.b, r.left = binary.LittleEndian.Uint32(value[:]), nil, r.b[n:], count
		if uint64(r.value)>>r.width > 0 {
			return errPage
		}
	}
	return nil
}

// ones goes over ones that are next, up to n of them, where the run is of nothing else.
func (r *runs) ones(n int) (int, error) {
	if err := r.start(); err != nil {
		return 0, err
	}
	if r.bits != nil || r.value != 1 {
		return 0, nil
	}
	n = int(min(r.left, uint64(n)))
	r.left -= uint64(n)
	return n, nil
}

// unpackRuns fills out with the next values.
func unpackRuns[T byte | int32](r *runs, out []T) error {
	for len(out) > 0 {
		if err := r.start(); err != nil {
			return err
		}
		n := int(min(r.left, uint64(len(out))))
		if r.bits == nil {
			for i := range out[:n] {
				out[i] = T(r.value)
			}
		} else {
			unpackBits(out[:n], r.bits, r.at, uint64(r.width))
			r.at += uint64(n) * uint64(r.width)
		}
		r.left -= uint64(n)
		out = out[n:]
	}
	return nil
}

// unpackBits fills out with the numbers of so many bits at a bit, the lowest first: 32 bits at
// most, and one for bytes.
func unpackBits[T byte | int32](out []T, b []byte, at, bits uint64) {
	if many, ok := any(out).([]int32); ok && at%8 == 0 && at/8+(uint64(len(out))*bits+7)/8+bitpack.PaddingInt32 <= uint64(len(b)) {
		bitpack.Unpack(many, b[at/8:], uint(bits))
		return
	}
	if few, ok := any(out).([]byte); ok && at%8 == 0 {
		for ; len(few) >= 8; few, at = few[8:], at+8 { // each bit in a byte of its own
			eight := uint64(b[at/8]) * 0x0101010101010101 & 0x8040201008040201
			binary.LittleEndian.PutUint64(few, (eight+0x7f7f7f7f7f7f7f7f)>>7&0x0101010101010101)
		}
		out = out[len(out)-len(few):]
	}
	mask := uint64(1)<<bits - 1
	i := 0
	for ; i < len(out) && at/8+8 <= uint64(len(b)); i++ {
		out[i] = T(binary.LittleEndian.Uint64(b[at/8:]) >> (at % 8) & mask)
		at += bits
	}
	var last [16]byte
	if i < len(out) { // fewer than eight bytes are left, and so many are copied
		copy(last[:], b[at/8:])
		at %= 8
	}
	for ; i < len(out); i++ {
		out[i] = T(binary.LittleEndian.Uint64(last[at/8:]) >> (at % 8) & mask)
		at += bits
	}
}
