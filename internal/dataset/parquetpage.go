package dataset

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// What a file's pages may take in all, in one reading: a floor, and so much for each byte of the
// file. A column that is nearly always the same has a run of 2^20 values in a few bytes, and
// codecs know blocks of 128 KiB of one byte in four bytes; but such columns stand beside one
// that tells rows apart, and that has a bit a row at least. 16 KiB a byte are 128 columns of
// one value for each bit. The floor is a million rows of four such columns.
const (
	pageFloor = 64 << 20
	pageRatio = 16 << 10
	// pageValue is what a value takes besides its page's bytes: a level, an index or an offset, the
	// value when it is decoded, and its place in a row.
	pageValue = 16
)

const (
	pageTooLong  = "a page claims to be longer than what its column has left"
	pageTooMany  = "a page claims more values than its row group has rows left"
	pageTooMuch  = "its pages claim more than 64 MiB and 16 KiB for each byte of the file (if they are right, write them with less compression)"
	pageTooSmall = "a page claims more values than it has bytes for"
	pageOverrun  = "a page has a run of values that is longer than the page"
	pageUnpacks  = "a page does not unpack to what it says"
)

// pageScratch is what the columns' checks share in one reading of a file, on one goroutine.
type pageScratch struct {
	left                int64 // that pages may take
	head, packed, plain []byte
	headAt              int64 // where head is in the file
	lengths             [2][]int32
	gzip                *gzip.Reader
}

// pagesAhead goes over a column chunk's pages just ahead of the library, which takes memory for what
// their headers and runs claim before it looks whether it can be so. It reads the same
// bytes at the same offsets; that a file changes between is seen at its end ([source.finish]).
type pagesAhead struct {
	table   *parquetTable
	column  string
	scratch *pageScratch

	at, end    int64
	rows       int64 // of the row group, not seen yet
	kind       parquet.Kind
	length     int // bytes of a FIXED_LEN_BYTE_ARRAY
	optional   bool
	codec      format.CompressionCodec // of the column: the library takes the first row group's for all
	dictionary bool                    // was seen
}

func newPagesAhead(t *parquetTable, s *pageScratch, group *format.RowGroup, c *parquet.Column) *pagesAhead {
	m := &group.Columns[c.Index()].MetaData
	from := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		from = m.DictionaryPageOffset
	}
	p := &pagesAhead{table: t, column: trim(c.Name()), scratch: s, at: from, end: from, rows: group.NumRows,
		kind: c.Type().Kind(), length: c.Type().Length(), optional: c.MaxDefinitionLevel() > 0, codec: c.Compression().CompressionCodec()}
	if size := t.src.before.Size(); from >= 0 && from < size && m.TotalCompressedSize > 0 {
		p.end = from + min(m.TotalCompressedSize, size-from)
	}
	return p
}

func (p *pagesAhead) fault(reason string) error { return p.table.damaged(p.column, reason) }

// spend takes from what the file's pages may take.
func (p *pagesAhead) spend(n int64) error {
	if p.scratch.left -= n; p.scratch.left < 0 {
		return p.fault(pageTooMuch)
	}
	return nil
}

// next checks all that the library reads for its next page of data: dictionaries before it, and
// the page. At the end of the chunk there is nothing to check, nor to read.
func (p *pagesAhead) next() error {
	if p.kind == parquet.FixedLenByteArray && (p.length < 1 || p.length > math.MaxInt16) {
		return errPage
	}
	for p.at < p.end {
		h, n, err := p.header()
		if err != nil {
			return err
		}
		body, size := p.at+int64(n), int64(h.CompressedPageSize)
		if size < 0 || h.UncompressedPageSize < 0 {
			return errPage
		}
		if size > p.end-body {
			return p.fault(pageTooLong)
		}
		p.at = body + size
		if err := p.spend(int64(n) + size + int64(h.UncompressedPageSize)); err != nil {
			return err
		}
		switch {
		case h.Type == format.DictionaryPage && p.dictionary:
			// The library passes over it.
		case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
			if err := p.entries(h, body); err != nil {
				return err
			}
			p.dictionary = true
		case h.Type == format.DataPage && h.DataPageHeader.Valid:
			return p.data(h, body)
		case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
			return p.data2(h, body)
		default:
			return errPage
		}
	}
	return nil
}

// headerBytes are enough for nearly all headers; one that holds the least and the greatest of long
// texts has more, and no writer's has maxHeaderBytes.
const (
	headerBytes    = 4 << 10
	maxHeaderBytes = 16 << 20
)

// header decodes the next page's header and says how many bytes it has.
func (p *pagesAhead) header() (*format.PageHeader, int, error) {
	for size := int64(headerBytes); ; size *= 4 {
		raw, err := p.read(&p.scratch.head, p.at, min(size, p.end-p.at))
		if err != nil {
			return nil, 0, err
		}
		p.scratch.headAt = p.at
		n, err := skim(raw)
		if err == io.ErrUnexpectedEOF && size < min(maxHeaderBytes, p.end-p.at) {
			continue
		}
		if err != nil {
			return nil, 0, errPage
		}
		h := new(format.PageHeader)
		if err := decodeThrift(raw[:n], h); err != nil {
			return nil, 0, errPage
		}
		return h, n, nil
	}
}

// front reads n bytes of a page, which has them: where they are few the header's read has brought them.
func (p *pagesAhead) front(at, n int64) ([]byte, error) {
	if s := p.scratch; at+n <= s.headAt+int64(len(s.head)) {
		return s.head[at-s.headAt:][:n], nil
	}
	return p.read(&p.scratch.packed, at, n)
}

// read reads n bytes of the file, which has them, into a buffer that it may replace.
func (p *pagesAhead) read(into *[]byte, at, n int64) ([]byte, error) {
	*into = slices.Grow((*into)[:0], int(n))[:n]
	if _, err := p.table.src.file.ReadAt(*into, at); err != nil {
		return nil, errPage
	}
	return *into, nil
}

// counted checks a number of values and takes what they need.
func (p *pagesAhead) counted(values int32, rows int64, each int) error {
	if values < 0 {
		return errPage
	}
	if int64(values) > rows {
		return p.fault(pageTooMany)
	}
	return p.spend(int64(values) * int64(each))
}

// each is what a value takes when the library decodes it to a buffer of its own.
func (p *pagesAhead) each(e format.Encoding) int {
	if p.kind == parquet.FixedLenByteArray && !indexes(e) {
		return pageValue + p.length
	}
	return pageValue
}

// plainDictionary is what writers of before said for a dictionary (PLAIN) and for indexes into it (RLE_DICTIONARY).
const plainDictionary format.Encoding = 2

func indexes(e format.Encoding) bool {
	return e == plainDictionary || e == format.RLEDictionary
}

// entries checks a dictionary. The library would decode one in any encoding, though there is
// only one.
func (p *pagesAhead) entries(h *format.PageHeader, body int64) error {
	d := &h.DictionaryPageHeader.V
	if d.Encoding != format.Plain && d.Encoding != plainDictionary {
		return errPage
	}
	if err := p.counted(d.NumValues, math.MaxInt32, p.each(format.Plain)); err != nil {
		return err
	}
	_, size, err := p.contents(h, body, int64(h.CompressedPageSize), true, false)
	if err != nil {
		return err
	}
	return p.fits(int(d.NumValues), size)
}

// fits says whether so many values can be in so many bytes, in the encodings where a value has its
// own.
func (p *pagesAhead) fits(values, size int) error {
	bits := 32 // of a text its length
	switch p.kind {
	case parquet.Boolean:
		bits = 1
	case parquet.Int64, parquet.Double:
		bits = 64
	case parquet.FixedLenByteArray:
		bits = 8 * p.length
	}
	if values*bits > 8*size {
		return p.fault(pageTooSmall)
	}
	return nil
}

// data checks a data page of the first kind: levels and values are packed together.
func (p *pagesAhead) data(h *format.PageHeader, body int64) error {
	d := &h.DataPageHeader.V
	if err := p.counted(d.NumValues, p.rows, p.each(d.Encoding)); err != nil {
		return err
	}
	p.rows -= int64(d.NumValues)
	values := int(d.NumValues)
	own := d.Encoding == format.Plain || d.Encoding == format.ByteStreamSplit // nothing to look at
	if p.codec == format.Uncompressed && p.optional && own {
		return p.onlyLevels(d, body, int64(h.CompressedPageSize))
	}
	data, size, err := p.contents(h, body, int64(h.CompressedPageSize), true, p.optional || !own)
	if err != nil {
		return err
	}
	if p.optional {
		if len(data) < 4 {
			return errPage
		}
		n := int64(binary.LittleEndian.Uint32(data))
		if n > int64(len(data)-4) {
			return errPage
		}
		if err := p.levels(data[4:4+n], d.DefinitionLevelEncoding, values); err != nil {
			return err
		}
		data, size = data[4+n:], size-4-int(n)
	}
	return p.values(d.Encoding, data, size, values)
}

// onlyLevels checks the levels of a page that is not packed and has nothing else to look at.
func (p *pagesAhead) onlyLevels(d *format.DataPageHeader, body, size int64) error {
	values := int(d.NumValues)
	data, err := p.front(body, min(size, 4))
	if err != nil || len(data) < 4 {
		return errPage
	}
	n := int64(binary.LittleEndian.Uint32(data))
	if n > size-4 {
		return errPage
	}
	if n > int64(len(data)-4) {
		if data, err = p.front(body, 4+n); err != nil {
			return err
		}
	}
	return p.levels(data[4:4+n], d.DefinitionLevelEncoding, values)
}

// data2 checks a data page of the second kind: its levels are not packed.
func (p *pagesAhead) data2(h *format.PageHeader, body int64) error {
	d := &h.DataPageHeaderV2.V
	repetitions, definitions, size := int64(d.RepetitionLevelsByteLength), int64(d.DefinitionLevelsByteLength), int64(h.CompressedPageSize)
	if repetitions < 0 || definitions < 0 || repetitions+definitions > size || d.NumNulls < 0 || d.NumNulls > d.NumValues {
		return errPage
	}
	if err := p.counted(d.NumValues, p.rows, p.each(d.Encoding)); err != nil {
		return err
	}
	p.rows -= int64(d.NumValues)
	values := int(d.NumValues)
	if p.optional {
		levels, err := p.front(body+repetitions, definitions)
		if err != nil {
			return err
		}
		if err := p.levels(levels, format.RLE, values); err != nil {
			return err
		}
	}
	front := repetitions + definitions
	packed := !d.IsCompressed.Valid || d.IsCompressed.V
	data, n, err := p.contents(h, body+front, size-front, packed, d.Encoding != format.Plain && d.Encoding != format.ByteStreamSplit)
	if err != nil {
		return err
	}
	return p.values(d.Encoding, data, n, values)
}

// levels checks levels of one bit.
func (p *pagesAhead) levels(data []byte, e format.Encoding, values int) error {
	switch e {
	case format.RLE:
		if !runs(data, 1, values) {
			return p.fault(pageOverrun)
		}
	case format.BitPacked:
		if len(data) > values/8+8 {
			return p.fault(pageOverrun)
		}
	default:
		return errPage
	}
	return nil
}

// values checks a page's values: so many at most, of the bytes data, or of size bytes where there
// is nothing to look at. An encoding that is not for the column's type is refused here:
// the library makes room for its values before it refuses them.
func (p *pagesAhead) values(e format.Encoding, data []byte, size, values int) error {
	ok := false
	switch {
	case e == format.Plain, e == format.ByteStreamSplit && p.kind != parquet.Boolean && p.kind != parquet.ByteArray:
		if p.optional {
			return nil // how many there are is in the levels
		}
		return p.fits(values, size)
	case indexes(e):
		if !p.dictionary || size > 0 && data[0] > 32 {
			return errPage
		}
		ok = size == 0 || runs(data[1:], int(data[0]), values)
	case e == format.RLE && p.kind == parquet.Boolean:
		if size < 4 {
			return errPage
		}
		ok = runs(data[4:], 1, values)
	case e == format.DeltaBinaryPacked && p.kind == parquet.Int32, e == format.DeltaLengthByteArray && p.kind == parquet.ByteArray:
		_, _, ok = deltas(data, 32, values)
	case e == format.DeltaBinaryPacked && p.kind == parquet.Int64:
		_, _, ok = deltas(data, 64, values)
	case e == format.DeltaByteArray && (p.kind == parquet.ByteArray || p.kind == parquet.FixedLenByteArray):
		var out int64
		if out, ok = p.scratch.prefixed(data, values); ok {
			return p.spend(out)
		}
	default:
		return errPage
	}
	if !ok {
		return p.fault(pageOverrun)
	}
	return nil
}

// contents gives what lies at body once it is unpacked, if it is looked at, and its size. The
// codecs but snappy stop nowhere by themselves and are held to the header's size by being
// run; snappy says its size at its front.
func (p *pagesAhead) contents(h *format.PageHeader, body, size int64, packed, look bool) ([]byte, int, error) {
	if !packed || p.codec == format.Uncompressed {
		if !look {
			return nil, int(size), nil
		}
		data, err := p.read(&p.scratch.packed, body, size)
		return data, int(size), err
	}
	limit := int(h.UncompressedPageSize)
	if p.codec == format.Snappy {
		raw, err := p.front(body, min(size, binary.MaxVarintLen64))
		if err != nil {
			return nil, 0, err
		}
		n, err := snappy.DecodedLen(raw)
		if err != nil {
			return nil, 0, errPage
		}
		if n > limit {
			return nil, 0, p.fault(pageUnpacks)
		}
		if !look {
			return nil, n, nil
		}
	}
	raw, err := p.read(&p.scratch.packed, body, size)
	if err != nil {
		return nil, 0, err
	}
	// One byte more than can be right; LZ4 copies by some more.
	p.scratch.plain = slices.Grow(p.scratch.plain[:0], limit+64)[:limit+64]
	out, err := p.unpack(raw, p.scratch.plain, limit)
	if err == errPage { // a codec that the library does not know either
		return nil, 0, err
	}
	if err != nil || len(out) > limit {
		return nil, 0, p.fault(pageUnpacks)
	}
	return out, len(out), nil
}

// zstdAhead decodes no more than the buffer it is given holds.
var zstdAhead = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true))
})

// unpack is the column's codec, as the library has it, into a buffer and not beyond.
func (p *pagesAhead) unpack(raw, buffer []byte, limit int) ([]byte, error) {
	switch p.codec {
	case format.Snappy:
		return snappy.Decode(buffer[:0], raw)
	case format.Zstd:
		d, err := zstdAhead()
		if err != nil {
			return nil, err
		}
		return d.DecodeAll(raw, buffer[:0:limit])
	case format.Lz4Raw:
		n, err := lz4.UncompressBlock(raw, buffer)
		if err != nil {
			return nil, err
		}
		return buffer[:n], nil
	case format.Gzip:
		if p.scratch.gzip == nil {
			p.scratch.gzip = new(gzip.Reader)
		}
		if err := p.scratch.gzip.Reset(bytes.NewReader(raw)); err != nil {
			return nil, err
		}
		return fill(buffer[:limit+1], p.scratch.gzip)
	case format.Brotli:
		return fill(buffer[:limit+1], brotli.NewReader(bytes.NewReader(raw)))
	}
	return nil, errPage
}

// fill reads to r's end, or to the buffer's.
func fill(buffer []byte, r io.Reader) ([]byte, error) {
	n, err := io.ReadFull(r, buffer)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return buffer[:n], err
}
