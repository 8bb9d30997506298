package parquet

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

	"covey/internal/dataset"
	"covey/test/cost"
)

// broken is a file of one column, taken apart.
type broken struct {
	meta   format.FileMetaData
	pages  []brokenPage // of the first row group
	footer []byte       // instead of meta
	size   uint32       // of the footer, claimed; 0: the right one
	beyond int64        // the column's bytes, claimed; 0: the right ones
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

// takeApart returns the pages of a file's only column.
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
			m.DictionaryPageOffset, m.DataPageOffset, m.TotalCompressedSize = dictionary, data, max(b.beyond, int64(len(raw))-4)
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

// run is a run of so many of one value.
func run(n uint64, value ...byte) []byte { return append(binary.AppendUvarint(nil, n<<1), value...) }

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
)

// badParquetWords are of a file that is no better than random bytes.
const badParquetWords = "cannot be read: not Parquet, cut off, damaged, or of a kind that is not known here"

const moreValues = "a column has more values than its row group has rows"

const deeper = "a page's header has more than 64 structures in each other"

// deep is a header of unknown fields, each in the one before.
func deep(n int) []byte { return append([]byte{0xFC}, bytes.Repeat([]byte{0x1C}, n)...) }

// Every number of a footer that the library would take memory for before it looks whether it can be
// so: a typed error, and no memory for it. So are pages whose numbers do not fit each other.
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
		"columns of no bytes": {double, aDouble, first, func(b *broken) {
			// Field 4, a list of one row group, whose field 1 is a list of 2^20 columns.
			b.footer = append(binary.AppendUvarint([]byte{0x15, 2, 0x39, 0x1C, 0x19, 0xFC}, 1<<20), make([]byte, 1<<20+2)...)
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
		"length of fixed texts": {parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(8)), &parquet.ByteStreamSplit), func(i int) parquet.Value { return parquet.FixedLenByteArrayValue([]byte("abcdefgh")) }, first, func(b *broken) {
			b.meta.Schema[1].TypeLength.V = 1 << 30
		}, true, is + "a column's texts claim to be longer than the file"},

		// Headers of pages.
		"depth of a page's header": {double, aDouble, first, func(b *broken) { b.last().head, b.last().raw = format.PageHeader{}, deep(65) }, false, is + deeper},
		"depth of the second page": {double, aDouble, second, func(b *broken) {
			b.rows(80)
			b.pages = append(b.pages, brokenPage{raw: deep(1 << 20)})
		}, false, is + deeper},
		"depth of a dictionary":       {indexed, aDouble, first, func(b *broken) { b.pages[0].raw = deep(65) }, true, is + deeper},
		"depth of an index":           {indexed, aDouble, second, func(b *broken) { b.last().raw = deep(65) }, false, is + deeper},
		"depth of a long header":      {double, aDouble, first, func(b *broken) { b.last().raw = slices.Concat([]byte{0x18, 0x80, 0x20}, make([]byte, 4096), deep(65)) }, false, is + deeper},
		"header that never ends":      {double, aDouble, first, func(b *broken) { b.last().raw = bytes.Repeat([]byte{0x15}, 1<<20) }, false, badParquetWords},
		"dictionary beyond its pages": {indexed, aDouble, first, func(b *broken) { b.pages[0].head.CompressedPageSize = math.MaxInt32 }, false, badParquetWords},
		"page beyond its chunk":       {double, aDouble, first, func(b *broken) { b.last().head.CompressedPageSize = math.MaxInt32 }, false, badParquetWords},
		"dictionary before itself":    {indexed, aDouble, first, func(b *broken) { b.pages[0].head.CompressedPageSize = -64 }, false, badParquetWords},

		// What a page claims to be unpacked: as it says, or as the packing does.
		"page unpacked":          {double, aDouble, as(first, &parquet.Zstd), func(b *broken) { b.last().head.UncompressedPageSize = math.MaxInt32 }, false, badParquetWords},
		"dictionary unpacked":    {indexed, aDouble, as(second, &parquet.Gzip), func(b *broken) { b.pages[0].head.UncompressedPageSize = math.MaxInt32 }, false, badParquetWords},
		"values of a page":       {parquet.Optional(double), aDouble, first, func(b *broken) { b.last().head.DataPageHeader.V.NumValues = math.MaxInt32 }, false, moreValues},
		"values of version 2":    {parquet.String(), aText, second, func(b *broken) { b.last().head.DataPageHeaderV2.V.NumValues = math.MaxInt32 }, true, moreValues},
		"values of a dictionary": {indexed, aDouble, first, func(b *broken) { b.pages[0].head.DictionaryPageHeader.V.NumValues = math.MaxInt32 }, false, badParquetWords},
		"unpacked by snappy":     {double, aDouble, as(first, &parquet.Snappy), func(b *broken) { b.last().set(binary.AppendUvarint(nil, math.MaxUint32), b.last().body) }, false, badParquetWords},
		"unpacked by zstd": {parquet.Optional(double), aDouble, as(second, &parquet.Zstd), func(b *broken) {
			front := b.last().head.DataPageHeaderV2.V.DefinitionLevelsByteLength
			frame := binary.LittleEndian.AppendUint64([]byte{0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0}, 1<<35) // 32 GiB
			b.last().set(b.last().body[:front], frame, []byte{1, 0, 0})
		}, false, badParquetWords},
		"page beyond the file": {double, aDouble, first, func(b *broken) {
			b.beyond, b.last().head.CompressedPageSize = 1<<40, math.MaxInt32
		}, false, badParquetWords},

		// Pages whose numbers do not fit each other.
		"fewer values":                {double, aDouble, first, func(b *broken) { b.last().head.DataPageHeader.V.NumValues = 39 }, false, "a column has fewer values than its row group has rows"},
		"more values":                 {parquet.Optional(double), aDouble, first, func(b *broken) { b.rows(39) }, false, moreValues},
		"index beyond the dictionary": {indexed, aDouble, first, func(b *broken) { b.last().set([]byte{6}, run(40, 40)) }, false, badParquetWords},
		"no dictionary":               {indexed, aDouble, first, func(b *broken) { b.pages = b.pages[1:] }, false, badParquetWords},
	} {
		t.Run(name, func(t *testing.T) {
			b := oneColumn(t, c.node, c.value, c.options...)
			c.harm(b)
			path := cost.File(t, "x.parquet", b.together(t))
			runtime.GC() // a test before has filled the library's pools
			var err error
			cost.Bounded(t, freeBytes, func() {
				if c.unit {
					_, err = dataset.Inspect(dataset.Source{Path: path}, "a", dataset.ReadOptions{})
				} else {
					_, err = dataset.Read(dataset.Source{Path: path}, dataset.Request{Columns: []dataset.Column{{Name: "a", Offset: 0, Scale: 1}}, Missing: dataset.MissingDropRow}, dataset.ReadOptions{})
				}
			})
			if e, ok := errors.AsType[*dataset.Error](err); !ok || e.Reason != c.want {
				t.Errorf("%v", err)
			}
		})
		count++
	}
	t.Logf("figure: %d numbers that a Parquet file claims", count)
}

// A header of any length up to the bound is gone over as the library reads it, and so are headers
// with fields, structures and lists that a later version may add.
func TestParquetLongHeaders(t *testing.T) {
	later := []byte{0x8C, 0x1C, 0x19, 0x3C, 0, 0, 0, 0x11, 0x1B, 1, 0x11, 1, 1, 0x1D, 0, 0}
	later = append(append(later[:len(later)-2], make([]byte, 16)...), 0, 0)
	for _, o := range [][]parquet.WriterOption{first, second} {
		for _, n := range []int{0, 1, 400, 512, 4096, 70000, 4 << 20} {
			b := oneColumn(t, indexed, aDouble, o...)
			for i := range b.pages {
				head := encodeThrift(t, &b.pages[i].head)
				text := append(binary.AppendUvarint([]byte{0x08, 0x50}, uint64(n)), make([]byte, n)...) // field 40
				b.pages[i].raw = slices.Concat(head[:len(head)-1], text, later, []byte{0})
			}
			rows, _, values, err := read(t, b.together(t), false)
			if err != nil || rows != 40 || values[39] != 39 {
				t.Fatalf("%d bytes: %d rows, %v", n, rows, err)
			}
		}
	}
}

// What was taken apart and put together as it was is read: the table above breaks what it says.
func TestParquetTogether(t *testing.T) {
	for _, c := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd} {
		for _, o := range [][]parquet.WriterOption{first, second} {
			for _, node := range []parquet.Node{double, indexed, parquet.Optional(double), parquet.Optional(indexed), parquet.Encoded(double, &parquet.ByteStreamSplit)} {
				raw := oneColumn(t, node, aDouble, as(o, c)...).together(t)
				r, err := dataset.Read(dataset.Source{Path: cost.File(t, "x.parquet", raw)}, dataset.Request{Columns: []dataset.Column{{Name: "a", Offset: 0, Scale: 1}}, Missing: dataset.MissingError}, dataset.ReadOptions{})
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
	lie := cost.File(t, "x.parquet", raw)
	cost.Bounded(t, 64<<20, func() {
		r, err := dataset.Read(dataset.Source{Path: lie}, dataset.Request{Columns: columns, Missing: dataset.MissingError}, dataset.ReadOptions{})
		if err != nil || r.Rows != 10 {
			t.Error(err)
		}
	})
}
