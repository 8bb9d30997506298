package npy

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"covey/internal/dataset"
)

// dtype is a NumPy type of fixed width.
type dtype struct {
	kind  byte // f, i, u; S, U of text; b of booleans
	size  int  // bytes
	order binary.ByteOrder
}

// parseDtype reads a type such as <f8.
func parseDtype(descr string) (t dtype, ok bool) {
	if len(descr) < 3 {
		return t, false
	}
	size, err := strconv.ParseUint(descr[2:], 10, 16)
	if err != nil {
		return t, false
	}
	t = dtype{kind: descr[1], size: int(size), order: binary.LittleEndian}
	switch descr[0] {
	case '<', '|':
	case '>':
		t.order = binary.BigEndian
	default:
		return t, false
	}
	switch t.kind {
	case 'f':
		return t, size == 4 || size == 8
	case 'i', 'u':
		return t, size == 1 || size == 2 || size == 4 || size == 8
	case 'b':
		return t, size == 1
	case 'U':
		t.size *= 4
		return t, size > 0 && size < 1<<12
	case 'S':
		return t, size > 0
	}
	return t, false
}

// text reports whether values are read as text alone.
func (t dtype) text() bool { return t.kind == 'S' || t.kind == 'U' || t.kind == 'b' }

// number returns a value as float64: exact but for integers beyond 2^53, which become the
// nearest.
func (t dtype) number(raw []byte) float64 {
	switch {
	case t.kind == 'f' && t.size == 8:
		return math.Float64frombits(t.order.Uint64(raw))
	case t.kind == 'f':
		return float64(math.Float32frombits(t.order.Uint32(raw)))
	case t.kind == 'i':
		return float64(t.signed(raw))
	}
	return float64(t.unsigned(raw))
}

func (t dtype) signed(raw []byte) int64 {
	shift := 64 - 8*t.size
	return int64(t.unsigned(raw)) << shift >> shift
}

func (t dtype) unsigned(raw []byte) uint64 {
	switch t.size {
	case 1:
		return uint64(raw[0])
	case 2:
		return uint64(t.order.Uint16(raw))
	case 4:
		return uint64(t.order.Uint32(raw))
	}
	return t.order.Uint64(raw)
}

// name appends a value as a unit's name.
func (t dtype) name(out, raw []byte) []byte {
	if t.kind == 'S' { // which holds bytes of any kind
		return dataset.AppendID(out, bytes.TrimRight(raw, "\x00"), false)
	}
	return t.append(out, raw)
}

// append writes a value as text: text without the zeros that fill it up, an integer's digits, the
// shortest digits of another number.
func (t dtype) append(out, raw []byte) []byte {
	switch t.kind {
	case 'b':
		return strconv.AppendBool(out, raw[0] != 0)
	case 'S':
		return append(out, bytes.TrimRight(raw, "\x00")...)
	case 'U':
		last := len(out)
		for ; len(raw) > 0; raw = raw[4:] {
			r := t.order.Uint32(raw)
			if out = utf8.AppendRune(out, rune(r)); r != 0 {
				last = len(out)
			}
		}
		return out[:last]
	case 'i':
		return strconv.AppendInt(out, t.signed(raw), 10)
	case 'u':
		return strconv.AppendUint(out, t.unsigned(raw), 10)
	}
	return dataset.AppendNumber(out, t.number(raw), 8*t.size)
}

// numbers puts every stride-th value of raw, from the first on, into out.
func (t dtype) numbers(out []float64, raw []byte, stride int) {
	step := stride * t.size
	at := 0
	switch {
	case t.kind == 'f' && t.size == 8 && t.order == binary.LittleEndian:
		for i := range out {
			out[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[at:]))
			at += step
		}
	case t.kind == 'f' && t.size == 4 && t.order == binary.LittleEndian:
		for i := range out {
			out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[at:])))
			at += step
		}
	default:
		for i := range out {
			out[i] = t.number(raw[at : at+t.size])
			at += step
		}
	}
}
