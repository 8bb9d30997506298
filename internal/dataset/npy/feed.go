package npy

import (
	"bufio"
	"io"
)

// feed gives the values of one column, or of all columns of a matrix in C order, n rows at a
// time.
type feed struct {
	part  *part
	width int // columns that raw holds
	from  io.ReadCloser
	in    io.Reader
	raw   []byte
}

// feed opens the one that has a column's values.
func (t *table) feed(at place) (f *feed, err error) {
	p := at.part
	f = &feed{part: p, width: 1}
	switch {
	case !p.fortran || p.d == 1:
		f.width = p.d
		if f.from, err = p.open(); err != nil {
			return nil, t.bad(p.name, err)
		}
		f.in = f.from
	case p.at != nil:
		column := int64(p.n) * int64(p.dtype.size)
		f.in = io.NewSectionReader(p.at, int64(at.column)*column, column)
	default:
		return nil, t.bad(p.name, arrayFault("is compressed and in Fortran order, so that rows are all over it; save it in C order (numpy.ascontiguousarray), or with numpy.savez"))
	}
	if f.width == 1 {
		f.in = bufio.NewReaderSize(f.in, 64<<10)
	}
	return f, nil
}

func (f *feed) close() {
	if f.from != nil {
		f.from.Close() // only read from
	}
}

// next reads n rows.
func (f *feed) next(n int) error {
	size := n * f.width * f.part.dtype.size
	if cap(f.raw) < size {
		f.raw = make([]byte, size)
	}
	f.raw = f.raw[:size]
	_, err := io.ReadFull(f.in, f.raw)
	return err
}
