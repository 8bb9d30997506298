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

// parquetSink writes row, unit, the numbers (flags as booleans), all but row null where a row is
// left out, and a note. Pages are Snappy's but for float64, which it hardly makes smaller.
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
		if of.Kind() != reflect.Float64 {
			tag += ",snappy"
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", len(fields)), Type: of, Tag: reflect.StructTag(`parquet:"` + tag + `"`)})
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
	w := parquet.NewGenericWriter[any](to, schema, parquet.KeyValueMetadata("note", header))
	return &parquetSink{w: w, columns: w.ColumnWriters(), flag: flag, t: t}
}

func (s *parquetSink) encode(out []byte, _ *part) []byte { return out }

// take writes a column after the other: one call for each costs less than one for each part.
func (s *parquetSink) take(parts []*part, _ []byte) error {
	at, rows := 0, 0
	// put writes the next column, of the values that fill appends for each part.
	put := func(fill func(to []parquet.Value, p *part) []parquet.Value) error {
		s.values = s.values[:0]
		for _, p := range parts {
			s.values = fill(s.values, p)
		}
		at++
		rows = len(s.values)
		_, err := s.columns[at-1].WriteRowValues(s.values)
		return err
	}
	err := put(func(to []parquet.Value, p *part) []parquet.Value {
		for i := range p.rows() {
			to = append(to, parquet.Int64Value(int64(p.first+i+1)))
		}
		return to
	})
	if err == nil && s.t.units {
		err = put(func(to []parquet.Value, p *part) []parquet.Value {
			for _, unit := range p.units {
				to = append(to, parquet.ByteArrayValue([]byte(unit)).Level(0, 1, at))
			}
			return to
		})
	}
	for j, flag := range s.flag {
		if err != nil {
			return err
		}
		null := parquet.NullValue().Level(0, 0, at)
		known := [2]parquet.Value{parquet.BooleanValue(false).Level(0, 1, at), parquet.BooleanValue(true).Level(0, 1, at)}
		err = put(func(to []parquet.Value, p *part) []parquet.Value {
			for i := j; i < len(p.numbers); i += p.width {
				switch v := p.numbers[i]; {
				case math.IsNaN(v):
					to = append(to, null)
				case flag:
					to = append(to, known[int(v)])
				default:
					to = append(to, parquet.DoubleValue(v).Level(0, 1, at))
				}
			}
			return to
		})
	}
	if err == nil {
		null, note := parquet.NullValue().Level(0, 0, at), parquet.ByteArrayValue([]byte(note)).Level(0, 1, at)
		err = put(func(to []parquet.Value, p *part) []parquet.Value {
			for i := 0; i < len(p.numbers); i += p.width {
				if math.IsNaN(p.numbers[i]) {
					to = append(to, note)
				} else {
					to = append(to, null)
				}
			}
			return to
		})
	}
	if s.rows += rows; err == nil && s.rows >= groupRows {
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
