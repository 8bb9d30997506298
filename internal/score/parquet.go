package score

import (
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// groupRows are written at a time: what is kept of a file is in memory until then.
const groupRows = 1 << 16

// parquetSink writes Snappy pages: row, unit, the numbers (flags as booleans), all but row null
// where a row is left out, and a note.
type parquetSink struct {
	w       *parquet.GenericWriter[any]
	columns []*parquet.ColumnWriter
	flag    []bool
	t       *table
	values  []parquet.Value
	rows    int // of the group
}

func newParquet(to io.Writer, t *table) *parquetSink {
	names, flag := t.numbers()
	var fields []reflect.StructField
	add := func(of reflect.Type, tag string) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: of, Tag: reflect.StructTag(`parquet:"` + tag + `,snappy"`)})
	}
	add(reflect.TypeFor[int64](), "row")
	if t.units {
		add(reflect.TypeFor[string](), "unit,optional")
	}
	for i, name := range names {
		of := reflect.TypeFor[float64]()
		if flag[i] {
			of = reflect.TypeFor[bool]()
		}
		add(of, name+",optional")
	}
	add(reflect.TypeFor[string](), "note,optional")
	schema := parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
	w := parquet.NewGenericWriter[any](to, schema, parquet.KeyValueMetadata("note", Header))
	return &parquetSink{w: w, columns: w.ColumnWriters(), flag: flag, t: t}
}

func (s *parquetSink) encode(*part) []byte { return nil }

func (s *parquetSink) take(p *part, _ []byte) error {
	n, at := p.rows(), 0
	// put writes the next column.
	put := func(value func(i int) (v parquet.Value, known bool), optional int) error {
		s.values = s.values[:0]
		for i := range n {
			v, known := value(i)
			if known {
				v = v.Level(0, optional, at)
			} else {
				v = parquet.NullValue().Level(0, 0, at)
			}
			s.values = append(s.values, v)
		}
		at++
		_, err := s.columns[at-1].WriteRowValues(s.values)
		return err
	}
	err := put(func(i int) (parquet.Value, bool) { return parquet.Int64Value(int64(p.first + i + 1)), true }, 0)
	if err == nil && s.t.units {
		err = put(func(i int) (parquet.Value, bool) { return parquet.ByteArrayValue([]byte(p.units[i])), true }, 1)
	}
	for j := range p.width {
		if err != nil {
			return err
		}
		err = put(func(i int) (parquet.Value, bool) {
			v := p.numbers[i*p.width+j]
			if s.flag[j] {
				return parquet.BooleanValue(v == 1), !math.IsNaN(v)
			}
			return parquet.DoubleValue(v), !math.IsNaN(v)
		}, 1)
	}
	if err == nil {
		note := []byte(Note)
		err = put(func(i int) (parquet.Value, bool) {
			return parquet.ByteArrayValue(note), math.IsNaN(p.numbers[i*p.width])
		}, 1)
	}
	if s.rows += n; err == nil && s.rows >= groupRows {
		s.rows, err = 0, s.flush()
	}
	return err
}

func (s *parquetSink) flush() error {
	for _, c := range s.columns {
		if err := c.Flush(); err != nil {
			return err
		}
	}
	return s.w.Flush()
}

func (s *parquetSink) close(int) error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.w.Close()
}
