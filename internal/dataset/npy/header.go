package npy

import (
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"covey/internal/dataset"
)

// The header of an NPY array (NumPy enhancement proposal 1): a magic word, a version, a length and
// a Python dictionary of three keys. Read here and not by npyio, whose reader panics at some
// headers and takes an array into memory whole.

// maxHeader bounds a header. NumPy's are below 200 bytes for arrays that are read here.
const maxHeader = 64 << 10

// maxColumns bounds those of a matrix, ten times above any study's.
const maxColumns = 1 << 20

// array is what a header says, and where values begin.
type array struct {
	dtype   dtype
	fortran bool
	n, d    int  // rows and columns; d is 1 of a vector
	vector  bool // of one dimension
	begin   int64
}

// dtype is a NumPy type of fixed width.
type dtype struct {
	kind  byte // f, i, u; S, U of text
	size  int  // bytes
	order binary.ByteOrder
}

// arrayFault is a fault in words that hold nothing of the file.
type arrayFault string

func (f arrayFault) Error() string { return string(f) }

const (
	errNotNPY    = arrayFault("not NPY, cut off, or of a version that is not known here")
	errNPYHeader = arrayFault("its header is not one that NumPy writes")
	errShape     = arrayFault("must be an array of one or two dimensions")
	errDtype     = arrayFault("its dtype is not supported; numbers and fixed-length text are")
	errWide      = arrayFault("it has more than 2^20 columns")
	errLength    = arrayFault("it has fewer or more bytes than its shape says")
)

// readArray reads a header.
func readArray(r io.Reader) (*array, error) {
	var fixed [12]byte
	if _, err := io.ReadFull(r, fixed[:10]); err != nil || string(fixed[:6]) != "\x93NUMPY" {
		return nil, errNotNPY
	}
	length, begin := int(binary.LittleEndian.Uint16(fixed[8:])), 10
	switch fixed[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(r, fixed[10:]); err != nil {
			return nil, errNotNPY
		}
		length, begin = int(min(binary.LittleEndian.Uint32(fixed[8:]), maxHeader+1)), 12
	default:
		return nil, errNotNPY
	}
	if length > maxHeader {
		return nil, errNPYHeader
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, errNotNPY
	}
	a, err := parseArray(string(text))
	if err != nil {
		return nil, err
	}
	a.begin = int64(begin + length)
	return a, nil
}

// parseArray reads the dictionary, its keys in any order.
func parseArray(text string) (*array, error) {
	p := &literal{strings.TrimRight(text, " \n")}
	a, seen := &array{}, map[string]bool{}
	var plain, shaped bool
	if !p.take("{") {
		return nil, errNPYHeader
	}
	for !p.take("}") {
		key, ok := p.word()
		if !ok || seen[key] || !p.take(":") {
			return nil, errNPYHeader
		}
		seen[key] = true
		switch key {
		case "descr":
			// a structured array: its keys do not matter any more
			if strings.HasPrefix(p.rest(), "[") {
				return nil, errDtype
			}
			var descr string
			if descr, ok = p.word(); ok {
				a.dtype, plain = parseDtype(descr)
			}
		case "fortran_order":
			if a.fortran = p.take("True"); !a.fortran {
				ok = p.take("False")
			}
		case "shape":
			var shape []int
			if shape, ok = p.tuple(); ok {
				a.n, a.d, shaped = 0, 1, len(shape) == 1 || len(shape) == 2
				if a.vector = len(shape) == 1; shaped {
					a.n = shape[0]
				}
				if len(shape) == 2 {
					a.d = shape[1]
				}
			}
		default:
			ok = false
		}
		if !ok || !p.take(",") && !strings.HasPrefix(p.rest(), "}") {
			return nil, errNPYHeader
		}
	}
	switch {
	case p.rest() != "" || len(seen) != 3:
		return nil, errNPYHeader
	case !plain:
		return nil, errDtype
	case !shaped || a.d < 1:
		return nil, errShape
	case a.n > dataset.MaxRows || a.n > 0 && a.d > dataset.MaxValues/a.n || a.d > dataset.MaxValues:
		return nil, errShape
	case a.d > maxColumns: // each is given a name, of however few rows
		return nil, errWide
	}
	return a, nil
}

// length is how many bytes the values take.
func (a *array) length() int64 { return int64(a.n) * int64(a.d) * int64(a.dtype.size) }

// literal is what is left of a Python literal.
type literal struct{ text string }

func (p *literal) rest() string {
	p.text = strings.TrimLeft(p.text, " \n\t")
	return p.text
}

func (p *literal) take(token string) bool {
	after, ok := strings.CutPrefix(p.rest(), token)
	if ok {
		p.text = after
	}
	return ok
}

// word takes a string without escapes.
func (p *literal) word() (string, bool) {
	text := p.rest()
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", false
	}
	word, after, ok := strings.Cut(text[1:], text[:1])
	if ok = ok && !strings.Contains(word, `\`); ok {
		p.text = after
	}
	return word, ok
}

// tuple takes a tuple of sizes. Python 2 wrote an L behind a large one.
func (p *literal) tuple() ([]int, bool) {
	inside, after, ok := strings.Cut(p.rest(), ")")
	inside, open := strings.CutPrefix(inside, "(")
	if !ok || !open {
		return nil, false
	}
	p.text = after
	var out []int
	parts := strings.Split(inside, ",")
	for i, part := range parts {
		part = strings.TrimSuffix(strings.TrimSpace(part), "L")
		if part == "" && i == len(parts)-1 {
			break
		}
		n, err := strconv.ParseUint(part, 10, 63)
		if err != nil {
			return nil, false
		}
		out = append(out, int(n))
	}
	return out, true
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
	case 'U':
		t.size *= 4
		return t, size > 0 && size < 1<<12
	case 'S':
		return t, size > 0
	}
	return t, false
}

func (t dtype) text() bool { return t.kind == 'S' || t.kind == 'U' }

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

// append writes a value that is a unit's name: text without the zeros that fill it up, an integer's
// digits, the shortest digits of another number.
func (t dtype) append(out, raw []byte) []byte {
	switch t.kind {
	case 'S':
		return append(out, strings.TrimRight(string(raw), "\x00")...)
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
	return dataset.AppendNumber(out, t.number(raw))
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
