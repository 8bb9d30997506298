package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"covey/internal/dataset"
)

const (
	// shortHeader is how many bytes nearly every page's header fits in.
	shortHeader = 512
	// maxPageHeader is Arrow's bound, too: a header with a column's least and largest text is long.
	maxPageHeader = 16 << 20
	// freeBytes is what a page may claim whatever the footer says of its column, as writers'
	// footers err.
	freeBytes = 64 << 20
	// What the footer, and the pages of all columns, may take at a time (docs/data.md): so many
	// times the file's bytes, but no more than three quarters of what the machine has left, and
	// freeMemory in any case.
	maxTimes, freeMemory = 16, 1 << 30
)

// pages reads the pages of one column. It takes no memory for what a page claims before that is
// held to the file's length, to the rows that the row group has left, or to parquetTable.most. The
// library decodes the values of a page alone: it would give memory to runs of any length.
type pages struct {
	t        *parquetTable
	column   string
	typ      parquet.Type
	unsigned bool
	day      int64 // how many units of a date are one; 0: it is not read as a date
	optional bool

	bytes *io.SectionReader // the pages in this row group
	at    int64
	short [shortHeader]byte
	codec format.CompressionCodec
	most  int64 // bytes of a page, unpacked
	due   int64 // rows that no page has had

	dictionary *pageValues // nil: there was none yet

	rows   int  // of the page
	levels runs // one for each row, if the column is optional
	values pageValues
	index  runs // of the values in the dictionary

	*buffers
}

// buffers are memory of a column's, which the next page takes again: the bytes as they lie in the
// file, unpacked, decoded, and those of the dictionary. Each is as long as the longest of a page.
type buffers struct {
	raw, plain, decoded, words []byte
	offsets, starts            []uint32
}

var kept = sync.Pool{New: func() any { return new(buffers) }}

// keep leaves the memory to other tables, whose pages count anew.
func (b *buffers) keep() {
	*b = buffers{b.raw[:0], b.plain[:0], b.decoded[:0], b.words[:0], b.offsets[:0], b.starts[:0]}
	kept.Put(b)
}

func (t *parquetTable) pages(c *parquet.Column) *pages {
	return &pages{t: t, column: dataset.Trim(c.Name()), typ: c.Type(), unsigned: unsigned(c.Type()), optional: c.MaxDefinitionLevel() > 0, buffers: kept.Get().(*buffers)}
}

// begin goes to a row group, of so many rows.
func (p *pages) begin(m *format.ColumnMetaData, rows int64) {
	from := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		from = m.DictionaryPageOffset
	}
	p.bytes, p.at = io.NewSectionReader(p.t.src, from, min(m.TotalCompressedSize, p.t.src.Size()-from)), 0
	p.codec, p.most, p.due, p.dictionary, p.rows = m.Codec, max(m.TotalUncompressedSize, freeBytes), rows, nil, 0
}

// room returns n elements of b, and counts those that no page of the table had before.
func room[T byte | int32 | uint32](t *parquetTable, b *[]T, n, size int) ([]T, error) {
	if more := n - len(*b); more > 0 {
		if t.held += int64(more) * int64(size); t.held > t.most {
			return nil, &dataset.Error{File: t.src.Path(), Reason: fmt.Sprintf("its pages take more than %d MiB of memory at a time: write the file with smaller pages or row groups", t.most>>20)}
		}
		if n > cap(*b) {
			*b = make([]T, n+n/8)
		}
		*b = (*b)[:n]
	}
	return (*b)[:n:n], nil // what lies behind is another page's
}

// most returns how many bytes a file of so many may take of a machine that has free bytes left, if
// that is known.
func most(size, free int64, known bool) int64 {
	n := size * maxTimes
	if known {
		n = min(n, free/4*3)
	}
	return max(freeMemory, n)
}

// next reads the next page of rows, which may have none: a dictionary may come first.
func (p *pages) next() error {
	for {
		head, used, err := p.header()
		if err != nil {
			return err
		}
		body, n := p.at+int64(used), int64(head.CompressedPageSize)
		if p.at = body + n; n < 0 || p.at > p.bytes.Size() {
			return errPage
		}
		raw, err := room(p.t, &p.raw, int(n), 1)
		if err != nil {
			return err
		}
		if got, err := p.bytes.ReadAt(raw, body); got < len(raw) {
			return err
		}
		if sum := uint32(head.CRC); sum != 0 && sum != crc32.ChecksumIEEE(raw) { // 0: none
			return errPage
		}
		if head.Type != format.DictionaryPage {
			return p.page(&head, raw)
		}
		if p.dictionary != nil {
			continue // the first one counts
		}
		if err := p.define(&head, raw); err != nil {
			return err
		}
	}
}

// page takes a page of rows.
func (p *pages) page(head *format.PageHeader, raw []byte) error {
	v1, v2 := &head.DataPageHeader.V, &head.DataPageHeaderV2.V
	rows, encoding, packed := v1.NumValues, v1.Encoding, p.codec != format.Uncompressed
	var levels []byte
	second := head.Type == format.DataPageV2
	switch {
	case second && head.DataPageHeaderV2.Valid:
		first, end := int64(v2.RepetitionLevelsByteLength), int64(v2.RepetitionLevelsByteLength)+int64(v2.DefinitionLevelsByteLength)
		if first < 0 || end < first || end > int64(len(raw)) {
			return errPage
		}
		levels, raw = raw[first:end], raw[end:]
		rows, encoding, packed = v2.NumValues, v2.Encoding, packed && (!v2.IsCompressed.Valid || v2.IsCompressed.V)
	case head.Type == format.DataPage && head.DataPageHeader.Valid:
	default:
		return errPage
	}
	if rows < 0 {
		return errPage
	}
	if int64(rows) > p.due { // which are whose nobody knows
		return &dataset.Error{File: p.t.src.Path(), Reason: "a column has more values than its row group has rows"}
	}
	p.due -= int64(rows)
	if p.rows = int(rows); rows == 0 {
		return nil
	}
	var err error
	if packed {
		if raw, err = p.unpack(raw, int64(head.UncompressedPageSize)); err != nil {
			return err
		}
	}
	if p.optional && !second {
		if v1.DefinitionLevelEncoding != format.RLE {
			return errPage
		}
		if levels, raw, err = counted(raw); err != nil {
			return err
		}
	}
	p.levels = runs{b: levels, width: 1}
	return p.decode(raw, encoding)
}

// plainDictionary is what older writers say in place of Plain and RLEDictionary.
const plainDictionary format.Encoding = 2

// define takes a dictionary: its bytes are swapped for others, and so stay.
func (p *pages) define(head *format.PageHeader, raw []byte) error {
	h := &head.DictionaryPageHeader.V
	if !head.DictionaryPageHeader.Valid || h.NumValues < 0 || h.Encoding != format.Plain && h.Encoding != plainDictionary {
		return errPage
	}
	if p.codec == format.Uncompressed {
		p.raw, p.words = p.words, p.raw
	} else {
		var err error
		if raw, err = p.unpack(raw, int64(head.UncompressedPageSize)); err != nil {
			return err
		}
		p.plain, p.words = p.words, p.plain
	}
	starts, err := p.starting(&p.starts, min(int(h.NumValues), len(raw)/4))
	if err != nil {
		return err
	}
	values, err := p.typ.Decode(p.typ.NewValues(raw, starts), raw, &parquet.Plain)
	if err != nil {
		return err
	}
	v, err := p.open(values, int(h.NumValues))
	if err != nil {
		return err
	}
	if v.len() < int(h.NumValues) {
		return errPage
	}
	p.dictionary = &v
	return nil
}

// starting returns room for where n texts start; none for other values.
func (p *pages) starting(b *[]uint32, n int) ([]uint32, error) {
	if p.typ.Kind() != parquet.ByteArray {
		return nil, nil
	}
	return room(p.t, b, n+1, 4)
}

// counted parts what comes behind its length in bytes from what follows.
func counted(b []byte) (first, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errPage
	}
	end := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:end], b[end:], nil
}

// header returns the header at p.at, and how many bytes it takes. A header's depth would fill the
// stack, which nothing catches.
func (p *pages) header() (head format.PageHeader, used int, err error) {
	for buffer := p.short[:]; ; buffer = make([]byte, 8*len(buffer)) {
		n, err := p.bytes.ReadAt(buffer, p.at)
		if n == 0 {
			return head, 0, err
		}
		used, _, err = skim(buffer[:n])
		if errors.Is(err, errDeep) {
			return head, 0, p.t.damaged(p.column, fmt.Sprintf("a page's header has more than %d structures in each other", maxThriftDepth))
		}
		if err != nil && n == len(buffer) && n < maxPageHeader {
			continue // it may be longer than the buffer
		}
		if err != nil {
			return head, 0, err
		}
		return head, used, decodeThrift(buffer[:used], &head)
	}
}

// packed returns why a column's compression is not read; empty where it is.
func (t *parquetTable) packed(c *parquet.Column) string {
	for _, group := range t.file.Metadata().RowGroups {
		if codec := group.Columns[c.Index()].MetaData.Codec; codec == format.Lz4Raw || codec == format.Lz4 {
			return "is compressed with LZ4, which is not read: write the file with zstd, gzip or snappy"
		}
	}
	return ""
}
