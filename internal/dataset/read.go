package dataset

import (
	"errors"
	"math"
)

// ReadOptions are what a reader may be given besides the data's description.
type ReadOptions struct {
	// Progress is called about every 256 KiB with the bytes read so far and
	// the file's size, on one goroutine at a time. May be nil.
	Progress func(read, total int64)
	// Most bounds the bytes of the values that [Read] keeps; 0 is no bound.
	Most int
}

// ErrMost is a source whose values take more than [ReadOptions].Most.
var ErrMost = errors.New("dataset: more values than are to be kept")

// table is a source's rows in one of the formats.
type table interface {
	// header returns the names of the columns.
	header() []string
	// word says what a fault counts: "line" or "row".
	word() string
	// rows returns all rows to b, each once and in the source's order.
	rows(b *builder) error
}

// input is a source that is open.
type input interface {
	table
	// pin returns [Rows.SHA256] of all that rows read.
	pin() ([32]byte, error)
	close()
}

// Read reads the named columns into memory, in the order given. Every error is an
// [*Error], or [ErrMost] where Most is set. A fault is reported for the first row that has one.
func Read(s Source, q Request, o ReadOptions) (*Rows, error) {
	m := memory{most: o.Most}
	r, b, err := s.read(q, o, m.into)
	if m.over { // in whatever words a format's reader ended
		return nil, ErrMost
	}
	if err != nil {
		return nil, err
	}
	r.Values, r.Values32, r.Unit = m.values, m.values32, b.taken.unitColumn()
	return r, nil
}

// ReadTo is [Read] that hands the values on to take, block by block, in place of keeping them:
// whole rows, in order, offset and scaled, zeros for a row that is dropped. unit has the number of
// each row's unit; nil where every row is a unit. take must not keep block. What of a row is not a
// value is kept, unlike by [Stream].
func ReadTo(s Source, q Request, o ReadOptions, take func(block []float64) error) (r *Rows, unit []int32, err error) {
	r, b, err := s.read(q, o, func(b *builder) { b.sink = take })
	if err != nil {
		return nil, nil, err
	}
	return r, b.taken.units, nil
}

// Validate is [Read] for its errors and counts: it keeps no values.
func Validate(s Source, q Request, o ReadOptions) (*Rows, error) {
	r, _, err := ReadTo(s, q, o, func([]float64) error { return nil })
	return r, err
}

// Look is [Validate] that shows every row to visit, in order, offset and scaled: zeros where the
// row is dropped, NaN where a cell is a gap. visit must not keep or change row.
func Look(s Source, q Request, o ReadOptions, visit func(row []float64, dropped bool)) (*Rows, error) {
	r, _, err := s.read(q, o, func(b *builder) {
		at, gone, d := 0, 0, q.Width()
		shown := make([]float64, d)
		b.sink = func(block []float64) error {
			for ; len(block) > 0; block = block[d:] {
				dropped := gone < len(b.taken.absent) && b.taken.absent[gone] == at
				if dropped {
					gone++
				}
				row := block[:d]
				if bits := b.taken.gaps[min(at*GapStride(d), len(b.taken.gaps)):]; len(bits) > 0 {
					copy(shown, row)
					for j := range shown {
						if bits[j/8]>>(j%8)&1 != 0 {
							shown[j] = math.NaN()
						}
					}
					row = shown
				}
				visit(row, dropped)
				at++
			}
			return nil
		}
	})
	return r, err
}

// Inspect counts the rows and units, reads the header and takes the pin. It makes
// every check of [Read] but those of columns and values other than the unit
// column's, and counts the same units. Every error is an [*Error].
func Inspect(s Source, unit string, o ReadOptions) (Info, error) {
	if err := checkUnit(unit); err != nil {
		return Info{}, err
	}
	var header []string
	r, _, err := s.scan(Request{Unit: unit}, o, func(*builder) {}, &header)
	if err != nil {
		return Info{}, err
	}
	return Info{Rows: r.Rows, Units: r.Units, Header: header, SHA256: r.SHA256}, nil
}

// read reads rows into a sink, which prepare gives to the builder.
func (s Source) read(q Request, o ReadOptions, prepare func(*builder)) (*Rows, *builder, error) {
	if err := q.check(); err != nil {
		return nil, nil, err
	}
	return s.scan(q, o, prepare, nil)
}

func (s Source) scan(q Request, o ReadOptions, prepare func(*builder), header *[]string) (*Rows, *builder, error) {
	in, err := s.open(o)
	if err != nil {
		return nil, nil, err
	}
	defer in.close()
	if header != nil {
		*header = in.header()
	}
	b, err := newBuilder(s.name(), in.word(), q, s.Mapping)
	if err != nil {
		return nil, nil, err
	}
	prepare(b)
	if err := in.rows(b); err != nil {
		return nil, nil, s.Mapping.named(err, q.Columns, q.Unit)
	}
	r, err := b.finish()
	if err != nil {
		return nil, nil, err
	}
	if r.SHA256, err = in.pin(); err != nil {
		return nil, nil, err
	}
	return r, b, nil
}
