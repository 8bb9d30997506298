package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// broken is a file of one column, taken apart.
type broken struct {
	meta   format.FileMetaData
	pages  []brokenPage // of the first row group
	footer []byte       // instead of meta
	size   uint32       // of the footer, claimed; 0: the right one
}

type brokenPage struct {
	head format.PageHeader
	raw  []byte // instead of head
	body []byte
}

var compact thrift.CompactProtocol

func encodeThrift(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := thrift.Marshal(&compact, v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// takeApart gives the pages of a file's only column.
func takeApart(t testing.TB, raw []byte) *broken {
	t.Helper()
	var b broken
	n := int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
	if err := thrift.Unmarshal(&compact, raw[len(raw)-8-n:len(raw)-8], &b.meta); err != nil {
		t.Fatal(err)
	}
	at := 4
	for end := at + int(b.meta.RowGroups[0].Columns[0].MetaData.TotalCompressedSize); at < end; {
		var p brokenPage
		r := compact.NewReaderFromBytes(raw[at:end])
		if err := thrift.NewDecoder(r).Decode(&p.head); err != nil {
			t.Fatal(err)
		}
		at += r.BytesRead()
		p.body = raw[at : at+int(p.head.CompressedPageSize)]
		at += len(p.body)
		p.head.CRC = 0 // optional, and of what is broken it would be wrong
		b.pages = append(b.pages, p)
	}
	return &b
}

// together puts the file together again: every row group has the same bytes for its column.
func (b *broken) together(t testing.TB) []byte {
	t.Helper()
	raw := []byte("PAR1")
	var dictionary, data int64
	for _, p := range b.pages {
		if p.head.Type == format.DictionaryPage && dictionary == 0 {
			dictionary = int64(len(raw))
		} else if data == 0 {
			data = int64(len(raw))
		}
		if p.raw == nil {
			p.raw = encodeThrift(t, &p.head)
		}
		raw = append(append(raw, p.raw...), p.body...)
	}
	for i := range b.meta.RowGroups {
		b.meta.RowGroups[i].Ordinal = int16(i)
		for j := range b.meta.RowGroups[i].Columns {
			m := &b.meta.RowGroups[i].Columns[j].MetaData
			m.DictionaryPageOffset, m.DataPageOffset, m.TotalCompressedSize = dictionary, data, int64(len(raw))-4
		}
	}
	if b.footer == nil {
		b.footer = encodeThrift(t, &b.meta)
	}
	if b.size == 0 {
		b.size = uint32(len(b.footer))
	}
	return append(binary.LittleEndian.AppendUint32(append(raw, b.footer...), b.size), "PAR1"...)
}

// last is the last page, set a page's bytes as its header says them.
func (b *broken) last() *brokenPage { return &b.pages[len(b.pages)-1] }

func (p *brokenPage) set(body ...[]byte) {
	p.body = slices.Concat(body...)
	p.head.CompressedPageSize, p.head.UncompressedPageSize = int32(len(p.body)), int32(len(p.body))
}

// pack is set for a codec, and a size that the header says.
func (p *brokenPage) pack(t testing.TB, c compress.Codec, size int32, body ...[]byte) {
	t.Helper()
	raw, err := c.Encode(nil, slices.Concat(body...))
	if err != nil {
		t.Fatal(err)
	}
	p.body = raw
	p.head.CompressedPageSize, p.head.UncompressedPageSize = int32(len(raw)), size
}

// oneColumn writes 40 rows of a column a.
func oneColumn(t testing.TB, node parquet.Node, value func(i int) parquet.Value, options ...parquet.WriterOption) *broken {
	t.Helper()
	var out bytes.Buffer
	options = append([]parquet.WriterOption{parquet.NewSchema("t", parquet.Group{"a": node}), parquet.Compression(&parquet.Uncompressed)}, options...)
	w := parquet.NewWriter(&out, options...)
	level := 0
	if node.Optional() {
		level = 1
	}
	for i := range 40 {
		if _, err := w.WriteRows([]parquet.Row{{value(i).Level(0, level, 0)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return takeApart(t, out.Bytes())
}

func lengths(data ...[]byte) []byte {
	all := slices.Concat(data...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(all))), all...)
}

// run is a run of so many of one value; groups, of bit-packed eights without their bytes.
func run(n uint64, value ...byte) []byte { return append(binary.AppendUvarint(nil, n<<1), value...) }
func groups(n uint64) []byte             { return binary.AppendUvarint(nil, n<<1|1) }

// deltaHead claims n values, of which the first is 0.
func deltaHead(n uint64) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4)
	return append(binary.AppendUvarint(out, n), 0)
}

// deltaRun is n values of DELTA_BINARY_PACKED, each by step more than the one before, from first on.
func deltaRun(n int, first, step int64) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4)
	out = binary.AppendVarint(binary.AppendUvarint(out, uint64(n)), first)
	for left := n - 1; left > 0; left -= 128 {
		out = append(binary.AppendVarint(out, step), 0, 0, 0, 0)
	}
	return out
}

// rows claims so many rows everywhere but in the pages.
func (b *broken) rows(n int64) {
	b.meta.NumRows = n
	for i := range b.meta.RowGroups {
		b.meta.RowGroups[i].NumRows = n
		b.meta.RowGroups[i].Columns[0].MetaData.NumValues = n
	}
}

var (
	double  = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain)
	indexed = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.RLEDictionary)
	aDouble = func(i int) parquet.Value { return parquet.DoubleValue(float64(i)) }
	aText   = func(i int) parquet.Value { return parquet.ByteArrayValue([]byte{'a' + byte(i%20)}) }
	second  = []parquet.WriterOption{parquet.DataPageVersion(2)}
	first   = []parquet.WriterOption{parquet.DataPageVersion(1)}
	as      = func(o []parquet.WriterOption, c compress.Codec) []parquet.WriterOption {
		return append(slices.Clip(o), parquet.Compression(c))
	}
	tooLarge = int32(1 << 30)
)

// badParquetWords are of a file that is no better than random bytes.
const badParquetWords = "cannot be read: not Parquet, cut off, damaged, or of a kind that is not known here"

// Every number of a file that the library would take memory for before it looks whether it can be
// so: a typed error, and no memory for it.
func TestParquetClaims(t *testing.T) {
	const is = "is damaged: "
	count := 0
	for name, c := range map[string]struct {
		node    parquet.Node
		value   func(int) parquet.Value
		options []parquet.WriterOption
		harm    func(*broken)
		unit    bool // a is read as the unit
		want    string
	}{
		// The footer.
		"footer length": {double, aDouble, first, func(b *broken) { b.size = math.MaxUint32 - 64 }, false, is + "its footer claims to be longer than the file"},
		"list length": {double, aDouble, first, func(b *broken) {
			// Field 2, a list of 2^31-1 structures.
			b.footer = binary.AppendUvarint([]byte{0x15, 2, 0x19, 0xFC}, math.MaxInt32)
		}, false, badParquetWords},
		"depth of unknown fields": {double, aDouble, first, func(b *broken) { b.footer = bytes.Repeat([]byte{0x1C}, 16<<20) }, false, badParquetWords},
		"depth of the schema": {double, aDouble, first, func(b *broken) {
			leaf := b.meta.Schema[1]
			b.meta.Schema = b.meta.Schema[:1]
			for range 10000 {
				b.meta.Schema = append(b.meta.Schema, format.SchemaElement{Name: "g", NumChildren: thrift.New[int32](1)})
			}
			b.meta.Schema = append(b.meta.Schema, leaf)
		}, false, is + "its groups lie more than 255 deep in each other"},
		"columns by row groups": {double, aDouble, first, func(b *broken) {
			b.meta.Schema[0].NumChildren.V = 8000
			for range 7999 {
				b.meta.Schema = append(b.meta.Schema, format.SchemaElement{Name: "b", Type: b.meta.Schema[1].Type})
			}
			for range 8000 {
				b.meta.RowGroups = append(b.meta.RowGroups, format.RowGroup{})
			}
		}, false, is + "a row group has not the file's columns"},
		"list as a leaf": {double, aDouble, first, func(b *broken) { b.meta.Schema[1].LogicalType.Value = &format.ListType{} }, false, badParquetWords},

		// Page headers.
		"text in a header": {double, aDouble, first, func(b *broken) {
			h := encodeThrift(t, &b.last().head)
			// Another field, of 2^31-1 bytes, before the header's end.
			b.last().raw = binary.AppendUvarint(append(h[:len(h)-1], 0x98), math.MaxInt32)
		}, false, badParquetWords},
		"greatest value in a header": {double, aDouble, first, func(b *broken) {
			// Type, sizes, then a data page's header whose statistics have a greatest value of 2^31-1 bytes.
			b.last().raw = binary.AppendUvarint([]byte{0x15, 0, 0x15, 0, 0x15, 0, 0x2C, 0x15, 80, 0x15, 0, 0x15, 6, 0x15, 6, 0x1C, 0x58}, math.MaxInt32)
		}, false, badParquetWords},
		"compressed size":   {double, aDouble, first, func(b *broken) { b.last().head.CompressedPageSize = tooLarge }, false, is + pageTooLong},
		"uncompressed size": {double, aDouble, as(first, &parquet.Zstd), func(b *broken) { b.last().head.UncompressedPageSize = tooLarge }, false, is + pageTooMuch},
		"values":            {parquet.Encoded(double, &parquet.ByteStreamSplit), aDouble, first, func(b *broken) { b.last().head.DataPageHeader.V.NumValues = tooLarge }, false, is + pageTooMany},
		"values 2":          {parquet.Encoded(double, &parquet.ByteStreamSplit), aDouble, second, func(b *broken) { b.last().head.DataPageHeaderV2.V.NumValues = tooLarge }, false, is + pageTooMany},
		"values and rows": {parquet.Optional(double), aDouble, first, func(b *broken) {
			b.rows(int64(tooLarge))
			b.last().head.DataPageHeader.V.NumValues = tooLarge
		}, false, is + pageTooMuch},
		"more values than bytes": {double, aDouble, first, func(b *broken) {
			b.rows(3 << 20)
			b.last().head.DataPageHeader.V.NumValues = 3 << 20
		}, false, is + pageTooSmall},
		"more values than packed bytes": {double, aDouble, as(second, &parquet.Snappy), func(b *broken) {
			b.rows(3 << 20)
			b.last().head.DataPageHeaderV2.V.NumValues = 3 << 20
		}, false, is + pageTooSmall},
		"entries":            {indexed, aDouble, first, func(b *broken) { b.pages[0].head.DictionaryPageHeader.V.NumValues = tooLarge }, false, is + pageTooMuch},
		"entries than bytes": {indexed, aDouble, first, func(b *broken) { b.pages[0].head.DictionaryPageHeader.V.NumValues = 41 }, false, is + pageTooSmall},
		"entries by deltas": {parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary), func(i int) parquet.Value { return parquet.Int64Value(int64(i)) }, first, func(b *broken) {
			b.pages[0].head.DictionaryPageHeader.V.Encoding = format.DeltaBinaryPacked
			b.pages[0].set(deltaHead(uint64(tooLarge)))
		}, false, badParquetWords},
		"data that is a dictionary": {indexed, aDouble, first, func(b *broken) {
			d := b.pages[0].head.DictionaryPageHeader
			d.V.NumValues = tooLarge
			b.pages = b.pages[1:]
			b.pages[0].head.DictionaryPageHeader = d
		}, false, badParquetWords},
		"long fixed texts": {parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(8)), &parquet.ByteStreamSplit), func(i int) parquet.Value { return parquet.FixedLenByteArrayValue([]byte("abcdefgh")) }, first, func(b *broken) {
			b.meta.Schema[1].TypeLength.V = 1 << 26
		}, true, badParquetWords},
		"many fixed texts": {parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(8)), &parquet.ByteStreamSplit)), func(i int) parquet.Value { return parquet.FixedLenByteArrayValue([]byte("abcdefgh")) }, first, func(b *broken) {
			b.meta.Schema[1].TypeLength.V = math.MaxInt16
			b.rows(1 << 14)
			b.last().head.DataPageHeader.V.NumValues = 1 << 14
			b.last().set(lengths(run(1<<14, 1)), make([]byte, 320))
		}, true, is + pageTooMuch},
		"pages that row groups share": {double, aDouble, as(first, &parquet.Zstd), func(b *broken) {
			b.last().pack(t, &parquet.Zstd, 8<<20, make([]byte, 8<<20))
			b.last().head.DataPageHeader.V.NumValues = 1 << 20
			b.rows(1 << 20)
			for range 20 {
				b.meta.RowGroups = append(b.meta.RowGroups, b.meta.RowGroups[0])
			}
		}, true, is + pageTooMuch},

		// Runs and counts in pages.
		"run of levels": {parquet.Optional(double), aDouble, first, func(b *broken) {
			b.last().set(lengths(run(1<<30, 1)), make([]byte, 320))
		}, false, is + pageOverrun},
		"runs of levels": {parquet.Optional(double), aDouble, first, func(b *broken) {
			b.last().set(lengths(bytes.Repeat(run(500, 1), 1<<20)), make([]byte, 320))
		}, false, is + pageOverrun},
		"run of packed levels": {parquet.Optional(double), aDouble, as(first, &parquet.Snappy), func(b *broken) {
			b.last().pack(t, &parquet.Snappy, 400, lengths(run(1<<30, 1)), make([]byte, 320))
		}, false, is + pageOverrun},
		"run of levels 2": {parquet.Optional(double), aDouble, second, func(b *broken) {
			levels := run(1<<30, 1)
			b.last().head.DataPageHeaderV2.V.DefinitionLevelsByteLength = int32(len(levels))
			b.last().set(levels, make([]byte, 320))
		}, false, is + pageOverrun},
		"bit-packed levels": {parquet.Optional(double), aDouble, first, func(b *broken) {
			b.last().head.DataPageHeader.V.DefinitionLevelEncoding = format.BitPacked
			b.last().set(lengths(make([]byte, 8<<20)), make([]byte, 320))
		}, false, is + pageOverrun},
		"run of indexes":        {indexed, aDouble, first, func(b *broken) { b.last().set([]byte{6}, run(1<<30, 1)) }, false, is + pageOverrun},
		"run of packed indexes": {indexed, aDouble, as(first, &parquet.Zstd), func(b *broken) { b.last().pack(t, &parquet.Zstd, 10, []byte{6}, run(1<<30, 1)) }, false, is + pageOverrun},
		"run of indexes 2":      {indexed, aDouble, second, func(b *broken) { b.last().set([]byte{6}, run(1<<30, 1)) }, false, is + pageOverrun},
		"groups of no bits":     {indexed, aDouble, first, func(b *broken) { b.last().set([]byte{0}, groups(1<<27)) }, false, is + pageOverrun},
		"groups that are not":   {indexed, aDouble, first, func(b *broken) { b.last().set([]byte{6}, groups(1<<27)) }, false, is + pageOverrun},
		"indexes that are values": {parquet.Encoded(parquet.Int(32), &parquet.Plain), func(i int) parquet.Value { return parquet.Int32Value(1) }, first, func(b *broken) {
			b.last().head.DataPageHeader.V.Encoding = format.RLE
			b.last().set(groups(1 << 27))
		}, false, badParquetWords},
		"deltas of 32 bits": {parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked), func(i int) parquet.Value { return parquet.Int32Value(1) }, first, func(b *broken) {
			b.last().set(deltaHead(uint64(tooLarge)))
		}, false, is + pageOverrun},
		"deltas of 64 bits": {parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked), func(i int) parquet.Value { return parquet.Int64Value(1) }, second, func(b *broken) {
			b.last().set(deltaHead(uint64(tooLarge)))
		}, false, is + pageOverrun},
		"lengths of texts": {parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray), aText, first, func(b *broken) {
			b.last().set(deltaHead(uint64(tooLarge)))
		}, true, is + pageOverrun},
		"fronts of texts": {parquet.Encoded(parquet.String(), &parquet.DeltaByteArray), aText, first, func(b *broken) {
			b.last().set(deltaHead(uint64(tooLarge)))
		}, true, is + pageOverrun},
		"ends of texts": {parquet.Encoded(parquet.String(), &parquet.DeltaByteArray), aText, first, func(b *broken) {
			b.last().set(deltaRun(40, 0, 0), deltaHead(uint64(tooLarge)))
		}, true, is + pageOverrun},
		"texts of texts": {parquet.Encoded(parquet.String(), &parquet.DeltaByteArray), aText, first, func(b *broken) {
			// 16 bytes more for each of 40,000 texts: 12.8 GB of a page of 640 KB, whose file may take 10.6 GB.
			const n = 40000
			b.rows(n)
			b.last().head.DataPageHeader.V.NumValues = n
			b.last().set(deltaRun(n, 0, 16), deltaRun(n, 16, 0), make([]byte, 16*n))
		}, true, is + pageOverrun},
		"booleans": {parquet.Leaf(parquet.BooleanType), func(i int) parquet.Value { return parquet.BooleanValue(true) }, first, func(b *broken) {
			b.last().head.DataPageHeader.V.Encoding = format.RLE
			b.last().set(lengths(run(math.MaxInt32, 1)))
		}, true, is + pageOverrun},
		"one text of many rows": {parquet.Encoded(parquet.String(), &parquet.RLEDictionary), aText, as(first, &parquet.Zstd), func(b *broken) {
			b.rows(1 << 14)
			b.pages[0].head.DictionaryPageHeader.V.NumValues = 1
			b.pages[0].pack(t, &parquet.Zstd, 1<<20+4, lengths(make([]byte, 1<<20)))
			b.last().head.DataPageHeader.V.NumValues = 1 << 14
			b.last().pack(t, &parquet.Zstd, 5, []byte{1}, run(1<<14, 0))
		}, true, is + pageTooMuch},

		// What unpacks to more than it says, or never ends.
		"snappy": {double, aDouble, as(first, &parquet.Snappy), func(b *broken) {
			b.last().body = binary.AppendUvarint(nil, 1<<31)
			b.last().head.CompressedPageSize = int32(len(b.last().body))
		}, false, is + pageUnpacks},
		"gzip":   {double, aDouble, as(first, &parquet.Gzip), func(b *broken) { b.last().pack(t, &parquet.Gzip, 320, make([]byte, 64<<20)) }, false, is + pageUnpacks},
		"brotli": {double, aDouble, as(first, &parquet.Brotli), func(b *broken) { b.last().pack(t, &parquet.Brotli, 320, make([]byte, 64<<20)) }, false, is + pageUnpacks},
		"zstd":   {double, aDouble, as(first, &parquet.Zstd), func(b *broken) { b.last().pack(t, &parquet.Zstd, 320, make([]byte, 64<<20)) }, false, is + pageUnpacks},
		"zstd that says its size": {double, aDouble, as(first, &parquet.Zstd), func(b *broken) {
			// A frame of one segment with eight bytes of size: 16 GiB.
			b.last().body = []byte{0x28, 0xB5, 0x2F, 0xFD, 0xE0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0}
			b.last().head.CompressedPageSize = int32(len(b.last().body))
		}, false, is + pageUnpacks},
		"lz4 that does not end": {double, aDouble, as(second, &parquet.Lz4Raw), func(b *broken) {
			b.last().body = []byte{0x10, 'x', 0xFF, 0xFF} // a copy from before the first byte
			b.last().head.CompressedPageSize = 4
		}, false, is + pageUnpacks},
	} {
		t.Run(name, func(t *testing.T) {
			b := oneColumn(t, c.node, c.value, c.options...)
			c.harm(b)
			path := writeAs(t, "x.parquet", b.together(t))
			runtime.GC() // a test before has filled the library's pools
			var err error
			bounded(t, 256<<20, func() {
				if c.unit {
					_, err = Inspect(Source{Path: path}, "a", ReadOptions{})
				} else {
					_, err = Read(Source{Path: path}, Request{Columns: []Column{{"a", 0, 1}}, Missing: MissingDropRow}, ReadOptions{})
				}
			})
			if e, ok := errors.AsType[*Error](err); !ok || e.Reason != c.want {
				t.Errorf("%v", err)
			}
		})
		count++
	}
	t.Logf("figure: %d numbers and sizes that a Parquet file claims", count)
}

// What was taken apart and put together as it was is read: the table above breaks what it says.
func TestParquetTogether(t *testing.T) {
	for _, c := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw} {
		for _, o := range [][]parquet.WriterOption{first, second} {
			for _, node := range []parquet.Node{double, indexed, parquet.Optional(double), parquet.Optional(indexed), parquet.Encoded(double, &parquet.ByteStreamSplit)} {
				raw := oneColumn(t, node, aDouble, as(o, c)...).together(t)
				r, err := Read(Source{Path: writeAs(t, "x.parquet", raw)}, Request{Columns: []Column{{"a", 0, 1}}, Missing: MissingError}, ReadOptions{})
				if err != nil || r.Rows != 40 {
					t.Fatal(c, node, err)
				}
				for i, v := range r.Values {
					if v != float64(i) {
						t.Fatalf("%v, %v: row %d is %v", c, node, i, v)
					}
				}
			}
		}
	}
}

// A file that lies about its rows is given no memory for them: as many columns as it has, of as
// many rows as it has bytes, would be a square.
func TestParquetReserve(t *testing.T) {
	path, columns, _ := benchParquet(t, 10, 400, false)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	end := len(raw) - 8
	from := end - int(binary.LittleEndian.Uint32(raw[end:]))
	var m format.FileMetaData
	if err := thrift.Unmarshal(&compact, raw[from:end], &m); err != nil {
		t.Fatal(err)
	}
	m.NumRows = 1 << 40
	footer := encodeThrift(t, &m)
	raw = append(binary.LittleEndian.AppendUint32(append(raw[:from], footer...), uint32(len(footer))), "PAR1"...)
	lie := writeAs(t, "x.parquet", raw)
	bounded(t, 64<<20, func() {
		r, err := Read(Source{Path: lie}, Request{Columns: columns, Missing: MissingError}, ReadOptions{})
		if err != nil || r.Rows != 10 {
			t.Error(err)
		}
	})
}
