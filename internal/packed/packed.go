package packed

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// MaxInts is the most numbers of an Ints that is read: in memory one can take eight times its bytes
// in the text.
const MaxInts = 1 << 22

// Ints are written as "i" and the fewest bytes, 1 to 8, in which each of them is a number in two's
// complement; none as the empty text.
type Ints []int64

// Floats are written as "f8", each in its 8 bytes (IEEE 754); none as the empty text. Each is finite.
type Floats []float64

var (
	errBase64 = errors.New("base64 must be padded, without line breaks, its unused bits zero")
	errForm   = errors.New("packed numbers must be i1 to i8 or f8 and base64 of whole numbers")
)

// DecodeBase64 appends what a text in base64 stands for to out. It takes one text of each value:
// padded, without line breaks, unused bits zero.
func DecodeBase64(out, text []byte) ([]byte, error) {
	before := len(out)
	out, err := base64.StdEncoding.Strict().AppendDecode(out, text)
	// a decoder skips line breaks
	if err != nil || base64.StdEncoding.EncodedLen(len(out)-before) != len(text) {
		return nil, errBase64
	}
	return out, nil
}

// width is in how many bytes a number is one of two's complement.
func width(v int64) int {
	w := 1
	for v < -128 || v > 127 {
		v >>= 8
		w++
	}
	return w
}

func (v Ints) width() int {
	w := 1
	for _, x := range v {
		w = max(w, width(x))
	}
	return w
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
	w := v.width()
	raw := make([]byte, 0, len(v)*w+8)
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))[:len(raw)+w]
	}
	return encode('i', w, raw), nil
}

// UnmarshalText reads what MarshalText writes and nothing else. It fails before it allocates more
// than MaxInts numbers.
func (v *Ints) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = nil
		return nil
	}
	if len(text) < 3 || text[0] != 'i' || text[1] < '1' || text[1] > '8' {
		return errForm
	}
	w := int(text[1] - '0')
	raw, err := DecodeBase64(nil, text[2:])
	if err != nil {
		return err
	}
	if len(raw)%w != 0 {
		return errForm
	}
	if len(raw) > MaxInts*w {
		return fmt.Errorf("packed numbers must be at most %d, got %d", MaxInts, len(raw)/w)
	}
	out := make(Ints, len(raw)/w)
	for i := range out {
		var b [8]byte
		copy(b[8-w:], raw[i*w:])
		out[i] = int64(binary.LittleEndian.Uint64(b[:])) >> (64 - 8*w)
	}
	if out.width() != w {
		return fmt.Errorf("packed numbers must be of as few bytes as hold them, %d, got %d", out.width(), w)
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
