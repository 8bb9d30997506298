package packed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// maxInts is the most numbers that an Ints read from a text may have: a number can take eight times
// as many bytes in memory as in the text.
const maxInts = 1 << 22

// Ints are written as "i", a width of 1 to 8 bytes, and each number in so many bytes, in two's
// complement. A number that needs more bytes is 0 there and follows after a comma, also in base64:
// its index in 4 bytes, ascending, and the number in 8. The width is that of the shortest text, the
// smaller one of two. No numbers are the empty text.
type Ints []int64

// exception is how many bytes a number takes that does not fit the width.
const exception = 12

// Floats are written as "f8" and the 8 bytes of each (IEEE 754), which is finite. No numbers are
// the empty text.
type Floats []float64

var (
	errBase64 = errors.New("base64 must be padded, without line breaks, its unused bits zero")
	errForm   = errors.New("packed numbers are not in their form")
)

// DecodeBase64 appends the bytes of a text in base64 to out. It accepts only one text of each
// value: padded, without line breaks, unused bits zero.
func DecodeBase64(out, text []byte) ([]byte, error) {
	before := len(out)
	out, err := base64.StdEncoding.Strict().AppendDecode(out, text)
	// a decoder skips line breaks
	if err != nil || base64.StdEncoding.EncodedLen(len(out)-before) != len(text) {
		return nil, errBase64
	}
	return out, nil
}

// width returns how many bytes a number takes in two's complement.
func width(v int64) int {
	w := 1
	for v < -128 || v > 127 {
		v >>= 8
		w++
	}
	return w
}

// width is the one that v is written in, and how many numbers of v need more.
func (v Ints) width() (w, more int) {
	var of [9]int // numbers by what they need
	for _, x := range v {
		of[width(x)]++
	}
	least, beyond := -1, len(v)
	for at := 1; at <= 8; at++ {
		beyond -= of[at]
		if size := at*len(v) + exception*beyond; least < 0 || size < least {
			least, w, more = size, at, beyond
		}
	}
	return w, more
}

// encode writes base64 of raw bytes behind kind and width.
func encode(kind byte, width int, raw []byte) []byte {
	out := make([]byte, 0, 2+base64.StdEncoding.EncodedLen(len(raw)))
	return base64.StdEncoding.AppendEncode(append(out, kind, '0'+byte(width)), raw)
}

// MarshalText writes v.
func (v Ints) MarshalText() ([]byte, error) {
	if len(v) == 0 {
		return []byte{}, nil
	}
	w, more := v.width()
	raw, rest := make([]byte, 0, len(v)*w+8), make([]byte, 0, more*exception)
	for i, x := range v {
		if width(x) > w {
			rest = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(rest, uint32(i)), uint64(x))
			x = 0
		}
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))[:len(raw)+w]
	}
	out := encode('i', w, raw)
	if more > 0 {
		out = base64.StdEncoding.AppendEncode(append(out, ','), rest)
	}
	return out, nil
}

// UnmarshalText reads what MarshalText writes and nothing else. It fails before it allocates more
// than maxInts numbers.
func (v *Ints) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = nil
		return nil
	}
	if len(text) < 3 || text[0] != 'i' || text[1] < '1' || text[1] > '8' {
		return errForm
	}
	w := int(text[1] - '0')
	first, second, any := bytes.Cut(text[2:], []byte(","))
	raw, err := DecodeBase64(nil, first)
	if err != nil {
		return err
	}
	rest, err := DecodeBase64(nil, second)
	if err != nil {
		return err
	}
	if len(raw)%w != 0 || len(rest)%exception != 0 || any != (len(rest) > 0) {
		return errForm
	}
	if len(raw) > maxInts*w {
		return fmt.Errorf("packed numbers must be at most %d, got %d", maxInts, len(raw)/w)
	}
	out := make(Ints, len(raw)/w)
	for i := range out {
		var b [8]byte
		copy(b[8-w:], raw[i*w:])
		out[i] = int64(binary.LittleEndian.Uint64(b[:])) >> (64 - 8*w)
	}
	last := -1
	for ; len(rest) > 0; rest = rest[exception:] {
		i, x := int(binary.LittleEndian.Uint32(rest)), int64(binary.LittleEndian.Uint64(rest[4:]))
		if i <= last || i >= len(out) || out[i] != 0 || width(x) <= w {
			return errForm
		}
		out[i], last = x, i
	}
	if best, _ := out.width(); best != w {
		return fmt.Errorf("packed numbers of width %d are shortest in width %d", w, best)
	}
	*v = out
	return nil
}

// MarshalText writes v; an error is for a number that is not finite.
func (v Floats) MarshalText() ([]byte, error) {
	if len(v) == 0 {
		return []byte{}, nil
	}
	if !v.finite() {
		return nil, errors.New("packed numbers must be finite")
	}
	raw := make([]byte, 0, 8*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
	}
	return encode('f', 8, raw), nil
}

// UnmarshalText reads what MarshalText writes and nothing else.
func (v *Floats) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = nil
		return nil
	}
	if len(text) < 3 || text[0] != 'f' || text[1] != '8' {
		return errForm
	}
	raw, err := DecodeBase64(nil, text[2:])
	if err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return errForm
	}
	out := make(Floats, len(raw)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	if !out.finite() {
		return errors.New("packed numbers must be finite")
	}
	*v = out
	return nil
}

func (v Floats) finite() bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
