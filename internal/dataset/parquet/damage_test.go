package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/test/cost"
)

// allColumns are one column in every encoding that a type has.
var allColumns = []struct {
	name  string
	node  parquet.Node
	value func(i int) parquet.Value
}{
	{"double", double, aDouble},
	{"double by index", indexed, aDouble},
	{"double by streams", parquet.Encoded(double, &parquet.ByteStreamSplit), aDouble},
	{"float", parquet.Encoded(parquet.Leaf(parquet.FloatType), &parquet.Plain), aFloat},
	{"float by index", parquet.Encoded(parquet.Leaf(parquet.FloatType), &parquet.RLEDictionary), aFloat},
	{"float by streams", parquet.Encoded(parquet.Leaf(parquet.FloatType), &parquet.ByteStreamSplit), aFloat},
	{"int32", parquet.Encoded(parquet.Int(32), &parquet.Plain), anInt32},
	{"int32 by index", parquet.Encoded(parquet.Int(32), &parquet.RLEDictionary), anInt32},
	{"int32 by deltas", parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked), anInt32},
	{"int64", parquet.Encoded(parquet.Int(64), &parquet.Plain), anInt64},
	{"int64 by index", parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary), anInt64},
	{"int64 by deltas", parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked), anInt64},
	{"text", parquet.Encoded(parquet.String(), &parquet.Plain), aText},
	{"text by index", parquet.Encoded(parquet.String(), &parquet.RLEDictionary), aText},
	{"text by lengths", parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray), aText},
	{"text by fronts", parquet.Encoded(parquet.String(), &parquet.DeltaByteArray), aText},
	{"fixed", parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(5)), &parquet.Plain), aFixed},
	{"fixed by index", parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(5)), &parquet.RLEDictionary), aFixed},
	{"fixed by fronts", parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(5)), &parquet.DeltaByteArray), aFixed},
	{"boolean", parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.Plain), aBoolean},
	{"boolean by runs", parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.RLE), aBoolean},
}

func aFloat(i int) parquet.Value   { return parquet.FloatValue(float32(i)) }
func anInt32(i int) parquet.Value  { return parquet.Int32Value(int32(i * i)) }
func anInt64(i int) parquet.Value  { return parquet.Int64Value(int64(i) << 20) }
func aBoolean(i int) parquet.Value { return parquet.BooleanValue(i%3 == 0) }
func aFixed(i int) parquet.Value {
	return parquet.FixedLenByteArrayValue([]byte{'a', 'b', 'c', byte('a' + i/20), byte('a' + i%20)})
}

var allCodecs = []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd}

// read reads column a as a number, or as the unit.
func read(t testing.TB, raw []byte, unit bool) (rows, units int, values []float64, err error) {
	s := dataset.Source{Path: cost.File(t, "x.parquet", raw)}
	if unit {
		info, err := dataset.Inspect(s, "a", dataset.ReadOptions{})
		return info.Rows, info.Units, nil, err
	}
	r, err := dataset.Read(s, dataset.Request{Columns: []dataset.Column{{Name: "a", Offset: 0, Scale: 1}}, Missing: dataset.MissingDropRow}, dataset.ReadOptions{})
	if err != nil {
		return 0, 0, nil, err
	}
	return r.Rows, r.Units, r.Values, nil
}

func isNumber(k parquet.Kind) bool {
	return k == parquet.Double || k == parquet.Float || k == parquet.Int32 || k == parquet.Int64
}

// Every type in every encoding, codec and version of pages, with and without levels, is read as it
// was written: numbers as numbers, and all as units. Under -short every fifth of them.
func TestParquetEncodings(t *testing.T) {
	count, turn := 0, 0
	for _, c := range allColumns {
		for _, codec := range allCodecs {
			for _, o := range [][]parquet.WriterOption{first, second} {
				for _, node := range []parquet.Node{c.node, parquet.Optional(c.node)} {
					if turn++; testing.Short() && turn%5 != 0 {
						continue
					}
					raw := oneColumn(t, node, c.value, as(o, codec)...).together(t)
					distinct := map[string]bool{}
					for i := range 40 {
						distinct[c.value(i).String()] = true
					}
					rows, units, _, err := read(t, raw, true)
					if err != nil || rows != 40 || units != len(distinct) {
						t.Fatalf("%s, %v, %v: %d rows, %d units, want %d, %v", c.name, codec, o, rows, units, len(distinct), err)
					}
					count++
					if !isNumber(node.Type().Kind()) {
						continue
					}
					rows, _, values, err := read(t, raw, false)
					if err != nil || rows != 40 {
						t.Fatalf("%s, %v: %d rows, %v", c.name, codec, rows, err)
					}
					for i, v := range values {
						if want := c.value(i); v != map[parquet.Kind]float64{parquet.Double: want.Double(), parquet.Float: float64(want.Float()), parquet.Int32: float64(want.Int32()), parquet.Int64: float64(want.Int64())}[want.Kind()] {
							t.Fatalf("%s, %v: row %d is %v", c.name, codec, i, v)
						}
					}
				}
			}
		}
	}
	t.Logf("figure: %d kinds of Parquet files are read", count)
}

// TestParquetLargePages: pages of any length that hardly get shorter are read as they were written.
func TestParquetLargePages(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, codec := range allCodecs {
		for i, rows := range []int{300, 520, 5000, 70_000} {
			for _, node := range []parquet.Node{double, parquet.Optional(double), parquet.Encoded(double, &parquet.ByteStreamSplit)} {
				var out bytes.Buffer
				options := as([][]parquet.WriterOption{first, second}[i%2], codec)
				w := parquet.NewWriter(&out, append(options, parquet.NewSchema("t", parquet.Group{"a": node}), parquet.PageBufferSize(1<<(12+2*i)))...)
				level, want := 0, make([]float64, rows)
				if node.Optional() {
					level = 1
				}
				for row := range want {
					want[row] = rng.Float64()
					if _, err := w.WriteRows([]parquet.Row{{parquet.DoubleValue(want[row]).Level(0, level, 0)}}); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if _, _, values, err := read(t, out.Bytes(), false); err != nil || !slices.Equal(values, want) {
					t.Errorf("%v: %d rows: other values, %v", codec, rows, err)
				}
			}
		}
	}
}

// LZ4 is refused, and row groups that are compressed in different ways are read.
func TestParquetCompressions(t *testing.T) {
	for _, o := range [][]parquet.WriterOption{first, second} {
		b := oneColumn(t, double, aDouble, as(o, &parquet.Lz4Raw)...)
		_, _, _, err := read(t, b.together(t), false)
		if e, ok := errors.AsType[*dataset.Error](err); !ok || e.Schema != dataset.SchemaFormat || !strings.Contains(e.Reason, "LZ4") {
			t.Errorf("LZ4: %v", err)
		}
		one, other := oneColumn(t, indexed, aDouble, as(o, &parquet.Zstd)...), oneColumn(t, indexed, aDouble, as(o, &parquet.Snappy)...)
		raw, more := one.together(t), other.together(t)
		n := one.meta.RowGroups[0].Columns[0].MetaData.TotalCompressedSize
		group := other.meta.RowGroups[0]
		group.Ordinal = 1
		group.Columns[0].MetaData.DictionaryPageOffset += n
		group.Columns[0].MetaData.DataPageOffset += n
		one.meta.NumRows, one.meta.RowGroups = 80, append(one.meta.RowGroups, group)
		footer := encodeThrift(t, &one.meta)
		raw = slices.Concat(raw[:4+n], more[4:4+group.Columns[0].MetaData.TotalCompressedSize], footer)
		_, _, values, err := read(t, append(binary.LittleEndian.AppendUint32(raw, uint32(len(footer))), "PAR1"...), false)
		if err != nil || len(values) != 80 || !slices.Equal(values[:40], values[40:]) {
			t.Errorf("two codecs: %v, %v", values, err)
		}
	}
}

// unpacked returns pages' bytes, of which the first front are not packed.
func (b *broken) unpacked(t testing.TB, codec compress.Codec) (out []struct {
	bytes []byte
	front int
}) {
	for _, p := range b.pages {
		front := int(p.head.DataPageHeaderV2.V.DefinitionLevelsByteLength)
		body := p.body[front:]
		if len(body) > 0 {
			var err error
			if body, err = codec.Decode(nil, body); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, struct {
			bytes []byte
			front int
		}{slices.Concat(p.body[:front], body), front})
	}
	return out
}

// Whatever number of a header is another, and whatever was packed: a typed error or rows, and never
// a panic. What row groups claim is such that the machine has the memory.
func TestParquetDamagedNumbers(t *testing.T) {
	refused, whole := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		c := rapid.SampledFrom(allColumns).Draw(r, "column")
		codec := rapid.SampledFrom(allCodecs).Draw(r, "codec")
		node := c.node
		if rapid.Bool().Draw(r, "optional") {
			node = parquet.Optional(node)
		}
		b := oneColumn(t, node, c.value, as(rapid.SampledFrom([][]parquet.WriterOption{first, second}).Draw(r, "version"), codec)...)
		bodies := b.unpacked(t, codec)
		some := rapid.SampledFrom([]int32{-1, 0, 1, 7, 8, 39, 41, 48, 600, 1 << 12, 1 << 16, 1 << 20})
		if rapid.Bool().Draw(r, "rows") {
			b.rows(int64(some.Draw(r, "row group")))
		}
		for range rapid.IntRange(1, 3).Draw(r, "harms") {
			k := rapid.IntRange(0, len(b.pages)-1).Draw(r, "page")
			p, h := &b.pages[k], &b.pages[k].head
			if rapid.Bool().Draw(r, "header") {
				v := rapid.OneOf(some, rapid.Just[int32](math.MaxInt32)).Draw(r, "number")
				numbers := []*int32{&h.CompressedPageSize, &h.UncompressedPageSize, &h.DictionaryPageHeader.V.NumValues, &h.DataPageHeader.V.NumValues, &h.DataPageHeaderV2.V.NumValues,
					&h.DataPageHeaderV2.V.NumNulls, &h.DataPageHeaderV2.V.NumRows, &h.DataPageHeaderV2.V.DefinitionLevelsByteLength, &h.DataPageHeaderV2.V.RepetitionLevelsByteLength}
				*rapid.SampledFrom(numbers).Draw(r, "field") = v
				if rapid.IntRange(0, 3).Draw(r, "encoding") == 0 {
					e := format.Encoding(rapid.IntRange(0, 9).Draw(r, "to"))
					h.DataPageHeader.V.Encoding, h.DataPageHeaderV2.V.Encoding = e, e
				}
				if rapid.IntRange(0, 7).Draw(r, "all headers") == 0 {
					h.DataPageHeader.Valid, h.DataPageHeaderV2.Valid, h.DictionaryPageHeader.Valid = true, true, true
				}
				continue
			}
			body, front := bodies[k].bytes, bodies[k].front
			if len(body) == 0 {
				continue
			}
			at := rapid.IntRange(0, len(body)-1).Draw(r, "at")
			if rapid.Bool().Draw(r, "varint") {
				body = append(binary.AppendUvarint(body[:at:at], rapid.SampledFrom([]uint64{1 << 8, 1 << 12, 1 << 16, 1 << 20, 1 << 31}).Draw(r, "length")), body[at:]...)
			} else {
				body[at] = rapid.Byte().Draw(r, "byte")
			}
			bodies[k].bytes = body
			again, err := codec.Encode(nil, body[front:])
			if err != nil {
				r.Fatal(err)
			}
			size := int32(len(body))
			p.body = append(body[:front:front], again...)
			h.CompressedPageSize, h.UncompressedPageSize = int32(len(p.body)), size
		}
		raw := b.together(t)
		_, _, _, err := read(t, raw, !isNumber(node.Type().Kind()) || rapid.Bool().Draw(r, "unit"))
		if _, ok := errors.AsType[*dataset.Error](err); err != nil && !ok {
			r.Fatal(err)
		}
		if err != nil {
			refused++
		} else {
			whole++
		}
	})
	// the few checks of -short may all be refused
	if !testing.Short() && (refused == 0 || whole == 0) {
		t.Errorf("%d refused, %d read", refused, whole)
	}
}

// Whatever the bytes: what skim takes for a structure the library decodes within them.
func FuzzSkim(f *testing.F) {
	b := oneColumn(f, indexed, aDouble)
	f.Add(encodeThrift(f, &b.meta))
	f.Add(encodeThrift(f, &format.SchemaElement{Name: "a", NumChildren: thrift.New[int32](3)}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		n, _, err := skim(raw)
		if err != nil {
			return
		}
		if n < 1 || n > len(raw) {
			t.Fatalf("%d of %d bytes", n, len(raw))
		}
		cost.Bounded(t, 64<<20+uint64(len(raw))<<13, func() {
			decodeThrift(raw[:n], new(format.FileMetaData))
		})
	})
}
