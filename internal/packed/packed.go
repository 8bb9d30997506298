package packed

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
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

// decode reads the base64 of numbers of w bytes, a piece of them at a time. count gets how many
// there are and may refuse them; each then gets the bytes of those from number at on.
func decode(text []byte, w int, count func(n int) error, each func(at int, raw []byte)) error {
	padding := len(text) - len(bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("=")), []byte("=")))
	if len(text)%4 != 0 {
		return errBase64
	}
	size := base64.StdEncoding.DecodedLen(len(text)) - padding
	if size%w != 0 {
		return errForm
	}
	if err := count(size / w); err != nil {
		return err
	}
	raw := make([]byte, 0, min(size+padding, piece*w))
	at := 0
	for part := range slices.Chunk(text, base64.StdEncoding.EncodedLen(piece*w)) {
		var err error
		if raw, err = DecodeBase64(raw[:0], part); err != nil {
			return err
		}
		if at*w+len(raw) != min(size, (at+piece)*w) { // padded before the end
			return errBase64
		}
		each(at, raw)
		at += piece
	}
	return nil
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

// piece is how many numbers become text at a time: a multiple of three, so that each piece but the
// last is whole base64 whatever the width.
const piece = 3 << 7

// pieces yields the text of v, one piece after another, each in the place of the one before.
func (v Ints) pieces(w int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield([]byte{'i', '0' + byte(w)}) {
			return
		}
		raw, text := make([]byte, 0, piece*w+8), make([]byte, 0, base64.StdEncoding.EncodedLen(piece*w))
		var rest []byte
		at := 0
		for part := range slices.Chunk(v, piece) {
			raw = raw[:0]
			for i, x := range part {
				if width(x) > w {
					rest = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(rest, uint32(at+i)), uint64(x))
					x = 0
				}
				raw = binary.LittleEndian.AppendUint64(raw, uint64(x))[:len(raw)+w]
			}
			at += len(part)
			if !yield(base64.StdEncoding.AppendEncode(text[:0], raw)) {
				return
			}
		}
		if len(rest) > 0 {
			yield(base64.StdEncoding.AppendEncode([]byte{','}, rest))
		}
	}
}

// MarshalText writes v.
func (v Ints) MarshalText() ([]byte, error) {
	if len(v) == 0 {
		return []byte{}, nil
	}
	w, more := v.width()
	size := 2 + base64.StdEncoding.EncodedLen(w*len(v))
	if more > 0 {
		size += 1 + base64.StdEncoding.EncodedLen(exception*more)
	}
	return joined(v.pieces(w), size), nil
}

// IsText reports whether text is what MarshalText writes, without a copy of it.
func (v Ints) IsText(text []byte) bool {
	if len(v) == 0 {
		return len(text) == 0
	}
	w, _ := v.width()
	rest, ok := cut(v.pieces(w), text)
	return ok && len(rest) == 0
}

func joined(pieces iter.Seq[[]byte], size int) []byte {
	out := make([]byte, 0, size)
	for p := range pieces {
		out = append(out, p...)
	}
	return out
}

// cut returns what text has behind the pieces.
func cut(pieces iter.Seq[[]byte], text []byte) (rest []byte, ok bool) {
	for p := range pieces {
		if text, ok = bytes.CutPrefix(text, p); !ok {
			return nil, false
		}
	}
	return text, true
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
	var out Ints
	err := decode(first, w, func(n int) error {
		if n > maxInts {
			return fmt.Errorf("packed numbers must be at most %d, got %d", maxInts, n)
		}
		out = make(Ints, n)
		return nil
	}, func(at int, raw []byte) {
		for i := range len(raw) / w {
			var b [8]byte
			copy(b[8-w:], raw[i*w:(i+1)*w])
			out[at+i] = int64(binary.LittleEndian.Uint64(b[:])) >> (64 - 8*w)
		}
	})
	if err != nil {
		return err
	}
	rest, err := DecodeBase64(nil, second)
	if err != nil {
		return err
	}
	if len(rest)%exception != 0 || any != (len(rest) > 0) {
		return errForm
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
	return joined(v.pieces, 2+base64.StdEncoding.EncodedLen(8*len(v))), nil
}

// StandIn returns what stands for v in a text that [Behind] compares: nil if v is empty.
func (v Floats) StandIn() Floats { return make(Floats, min(1, len(v))) }

var standIn = []byte("\"f8AAAAAAAAAAA=\"") // in JSON

// Behind returns what a text has behind head, a beginning of JSON in which stand-ins are for those
// of vectors that are not empty, without a copy of theirs. It returns false if the text begins in
// another way, or if head has another string that is as long as a stand-in and reads like one.
func Behind(text, head []byte, vectors ...Floats) (rest []byte, ok bool) {
	vectors = slices.DeleteFunc(vectors, func(v Floats) bool { return len(v) == 0 })
	between := bytes.Split(head, standIn)
	if len(between) != len(vectors)+1 {
		return nil, false
	}
	for i, v := range vectors {
		if text, ok = bytes.CutPrefix(text, append(slices.Clip(between[i]), '"')); !ok || !v.finite() {
			return nil, false
		}
		if text, ok = cut(v.pieces, text); !ok {
			return nil, false
		}
		if text, ok = bytes.CutPrefix(text, []byte{'"'}); !ok {
			return nil, false
		}
	}
	return bytes.CutPrefix(text, between[len(vectors)])
}

// pieces yields the text of v, one piece after another, each in the place of the one before.
func (v Floats) pieces(yield func([]byte) bool) {
	if !yield([]byte("f8")) {
		return
	}
	raw, text := make([]byte, 0, 8*piece), make([]byte, 0, base64.StdEncoding.EncodedLen(8*piece))
	for part := range slices.Chunk(v, piece) {
		raw = raw[:0]
		for _, x := range part {
			raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(x))
		}
		if !yield(base64.StdEncoding.AppendEncode(text[:0], raw)) {
			return
		}
	}
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
	var out Floats
	err := decode(text[2:], 8, func(n int) error {
		out = make(Floats, n)
		return nil
	}, func(at int, raw []byte) {
		for i := range len(raw) / 8 {
			out[at+i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
	})
	if err != nil {
		return err
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
