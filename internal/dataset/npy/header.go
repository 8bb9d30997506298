package npy

import (
	"encoding/binary"
	"io"
	"strings"

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
	unread  arrayFault // why its dtype is not read
}

// arrayFault is a fault in words that hold nothing of the file.
type arrayFault string

func (f arrayFault) Error() string { return string(f) }

const (
	errNotNPY = arrayFault("not NPY, cut off, or of a version that is not known here")
	errHeader = arrayFault("its header is not one that NumPy writes")
	errShape  = arrayFault("must be an array of one or two dimensions")
	errEmpty  = arrayFault("it has no columns")
	errLarge  = arrayFault("it has more than 2^31-1 rows or 2^48 values")
	errWide   = arrayFault("it has more than 2^20 columns")
	errDtype  = arrayFault("its dtype is not supported; integers, float32, float64, booleans and fixed-length text are (a.astype(float) converts other numbers)")
	errFields = arrayFault("is a structured array (numpy.savez(FILE, **{name: a[name] for name in a.dtype.names}) saves its fields as vectors)")
	errObject = arrayFault("its dtype is object, which is Python code and is not opened (a.astype(float) converts numbers, a.astype(str) text)")
	errDates  = arrayFault("its dtype is a date's (a.astype('datetime64[D]').astype(str) is text that a study can read as days)")
	errPairs  = arrayFault("its dtype is complex (save a.real, a.imag or abs(a))")
	errLength = arrayFault("it has fewer or more bytes than its shape says")
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
		return nil, errHeader
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
	if !p.take("{") {
		return nil, errHeader
	}
	for !p.take("}") {
		key, ok := p.quoted()
		if !ok || seen[key] || !p.take(":") {
			return nil, errHeader
		}
		seen[key] = true
		if key == "descr" && strings.HasPrefix(p.rest(), "[") {
			return nil, errFields // its keys do not matter any more
		}
		if !a.entry(p, key) || !p.take(",") && !strings.HasPrefix(p.rest(), "}") {
			return nil, errHeader
		}
	}
	switch {
	case p.rest() != "" || len(seen) != 3:
		return nil, errHeader
	case a.unread != "":
		return nil, a.unread
	case a.d < 0: // of a shape of no or several dimensions
		return nil, errShape
	case a.d == 0:
		return nil, errEmpty
	case a.n > dataset.MaxRows || a.n > 0 && a.d > dataset.MaxValues/a.n || a.d > dataset.MaxValues:
		return nil, errLarge
	case a.d > maxColumns: // each is given a name, of however few rows
		return nil, errWide
	}
	return a, nil
}

// entry reads the value of a key of the dictionary, and reports whether it is of the key's form. A
// dtype that is not read is said in unread, and of a shape that is no vector's or matrix's d is -1.
func (a *array) entry(p *literal, key string) (ok bool) {
	switch key {
	case "descr":
		var descr string
		descr, ok = p.quoted()
		if t, known := parseDtype(descr); known {
			a.dtype = t
		} else {
			a.unread = unread(descr)
		}
	case "fortran_order":
		a.fortran = p.take("True")
		ok = a.fortran || p.take("False")
	case "shape":
		var shape []int
		shape, ok = p.tuple()
		a.d = -1
		switch len(shape) {
		case 1:
			a.n, a.d, a.vector = shape[0], 1, true
		case 2:
			a.n, a.d = shape[0], shape[1]
		}
	}
	return ok
}

// unread says why a dtype is not read.
func unread(descr string) arrayFault {
	if len(descr) > 1 {
		switch descr[1] {
		case 'O':
			return errObject
		case 'M':
			return errDates
		case 'c':
			return errPairs
		}
	}
	return errDtype
}

// length is how many bytes the values take.
func (a *array) length() int64 { return int64(a.n) * int64(a.d) * int64(a.dtype.size) }
