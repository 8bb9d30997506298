package npy

import (
	"io"

	"covey/internal/dataset"
)

// maxRaw bounds what a feed reads at a time, if it is more than one row.
const maxRaw = 1 << 20

// scan is a table's rows being read: of some of its columns, from the first to the last.
type scan struct {
	table   *table
	feeds   []*feed
	shared  map[*part]*feed // a matrix in C order is read once for all its columns
	most    int             // rows that feeds read at a time
	columns []*view
	unit    *view // nil: every row is a unit
}

// view is a column among the values that its feed read.
type view struct {
	*feed
	start int // of its first value in raw
}

// view returns a column of the table.
func (s *scan) view(name string) (*view, error) {
	at, err := s.table.find(name)
	if err != nil {
		return nil, err
	}
	f := s.shared[at.part]
	if f == nil {
		if f, err = s.table.feed(at); err != nil {
			return nil, err
		}
		s.feeds = append(s.feeds, f)
		if f.width > 1 || at.part.d == 1 {
			s.shared[at.part] = f
		}
		s.most = min(s.most, max(1, maxRaw/(f.width*at.part.dtype.size)))
	}
	if f.width == 1 {
		return &view{f, 0}, nil
	}
	return &view{f, at.column * at.part.dtype.size}, nil
}

// value returns the bytes of row i's value.
func (v *view) value(i int) []byte {
	size := v.part.dtype.size
	at := v.start + i*v.width*size
	return v.raw[at : at+size]
}

// send hands all rows to b.
func (s *scan) send(b dataset.Builder) error {
	fields := make([][]float64, len(s.columns))
	var names [][]byte
	var text []byte
	for done := 0; done < s.table.n; {
		n := min(b.Room(), s.most, s.table.n-done)
		for _, f := range s.feeds {
			if err := f.next(n); err != nil {
				return s.table.bad(f.part.name, err)
			}
		}
		for j, v := range s.columns {
			if cap(fields[j]) < n {
				fields[j] = make([]float64, n)
			}
			fields[j] = fields[j][:n]
			if !b.Texts(j) {
				v.part.dtype.numbers(fields[j], v.raw[v.start:], v.width)
				continue
			}
			for i := range fields[j] {
				text = v.part.dtype.append(text[:0], v.value(i))
				fields[j][i] = b.Cell(j, text)
			}
		}
		if s.unit != nil {
			names, text = names[:0], text[:0]
			for i := range n {
				from := len(text)
				text = s.unit.part.dtype.name(text, s.unit.value(i))
				names = append(names, text[from:len(text):len(text)])
			}
		}
		if err := b.Columnar(n, fields, names); err != nil {
			return err
		}
		done += n
	}
	return s.end()
}

// end compares the checksums of an archive, which come last.
func (s *scan) end() error {
	for _, f := range s.feeds {
		if f.from == nil {
			continue
		}
		if _, err := io.ReadFull(f.in, make([]byte, 1)); err != io.EOF {
			return s.table.bad(f.part.name, errZip)
		}
	}
	return nil
}

func (s *scan) close() {
	for _, f := range s.feeds {
		f.close()
	}
}
