package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"covey/internal/dataset"
)

const (
	// shortHeader is how many bytes nearly every page's header fits in.
	shortHeader = 512
	// maxPageHeader is Arrow's bound, too: a header with a column's least and largest text is long.
	maxPageHeader = 16 << 20
	// What a page may claim whatever the footer says of its column, as writers' footers err.
	freeBytes, freeValues = 64 << 20, 16 << 20
)

// headers goes over the headers of a column's pages in a row group, each before the library does:
// a header's depth would fill the stack, which nothing catches, and what it claims is given memory
// before the library looks further. The pages are left to the library.
type headers struct {
	t      *parquetTable
	column string
	bytes  *io.SectionReader // those that the library takes for the column's pages
	at     int64
	short  [shortHeader]byte

	typ      parquet.Type
	optional bool
	codec    format.CompressionCodec
	most     int64    // bytes of a page, unpacked
	values   int64    // of a page, at most
	own      *ownPage // the page that is next, if the library would read it wrong
}

func (t *parquetTable) headers(m *format.ColumnMetaData, c *parquet.Column) *headers {
	from := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		from = m.DictionaryPageOffset
	}
	h := &headers{t: t, column: dataset.Trim(c.Name()), bytes: io.NewSectionReader(t.src, from, min(m.TotalCompressedSize, t.src.Size()-from))}
	h.most, h.values = max(m.TotalUncompressedSize, freeBytes), max(m.NumValues, freeValues)
	h.typ, h.optional, h.codec = c.Type(), c.MaxDefinitionLevel() > 0, m.Codec
	return h
}

// next goes over what the library reads for one page of rows: a dictionary may come first. The
// library returns to the dictionary at the beginning alone, which was gone over first.
func (h *headers) next() error {
	for {
		head, used, err := h.header()
		if err != nil {
			return err
		}
		h.at += int64(used) + int64(head.CompressedPageSize)
		if head.CompressedPageSize < 0 || h.at > h.bytes.Size() || h.claims(&head, h.at-int64(head.CompressedPageSize)) {
			return errPage // it would be given memory before it is read
		}
		if head.Type != format.DictionaryPage {
			h.own, err = h.read(&head, h.at-int64(head.CompressedPageSize))
			return err
		}
	}
}

// claims reports whether a page at body, or what it is packed as, claims to be longer than its
// column.
func (h *headers) claims(head *format.PageHeader, body int64) bool {
	v1, v2 := &head.DataPageHeader.V, &head.DataPageHeaderV2.V
	if int64(head.UncompressedPageSize) > h.most || int64(max(v1.NumValues, v2.NumValues, head.DictionaryPageHeader.V.NumValues)) > h.values {
		return true
	}
	front, packed := h.front(head)
	if !packed || front < 0 {
		return false
	}
	var first [zstd.HeaderMaxSize]byte
	n, _ := h.bytes.ReadAt(first[:], body+front) // fewer are there: the library will say so
	var long uint64
	switch h.codec {
	case format.Snappy:
		long, _ = binary.Uvarint(first[:n])
	case format.Zstd:
		var frame zstd.Header
		if frame.Decode(first[:n]) == nil {
			long = frame.FrameContentSize
		}
	}
	return long > uint64(h.most)
}

// front returns how many bytes of a page come before those that may be packed, and whether they
// are.
func (h *headers) front(head *format.PageHeader) (n int64, packed bool) {
	packed = h.codec != format.Uncompressed
	if v2 := &head.DataPageHeaderV2; v2.Valid {
		n = int64(v2.V.RepetitionLevelsByteLength) + int64(v2.V.DefinitionLevelsByteLength)
		packed = packed && !(v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V)
	}
	return n, packed
}

// header returns the header at h.at, and how many bytes it takes.
func (h *headers) header() (head format.PageHeader, used int, err error) {
	for buffer := h.short[:]; ; buffer = make([]byte, 8*len(buffer)) {
		n, err := h.bytes.ReadAt(buffer, h.at)
		if n == 0 {
			return head, 0, err
		}
		used, err = skim(buffer[:n])
		if errors.Is(err, errDeep) {
			return head, 0, h.t.damaged(h.column, fmt.Sprintf("a page's header has more than %d structures in each other", maxThriftDepth))
		}
		if err != nil && n == len(buffer) && n < maxPageHeader {
			continue // it may be longer than the buffer
		}
		if err != nil {
			return head, 0, err
		}
		// As the library decodes it, or the next header would not be where the library's is.
		var compact thrift.CompactProtocol
		r := compact.NewReaderFromBytes(buffer[:used])
		if err := thrift.NewDecoder(r).Decode(&head); err != nil {
			return head, 0, err
		}
		if r.BytesRead() != used {
			return head, 0, errThrift
		}
		return head, used, nil
	}
}

// packed returns why a column's compression is not read; empty where it is. The library would read
// other values than were written, and say nothing.
func (t *parquetTable) packed(c *parquet.Column) string {
	groups := t.file.Metadata().RowGroups
	for _, group := range groups {
		switch codec := group.Columns[c.Index()].MetaData.Codec; {
		case codec == format.Lz4Raw || codec == format.Lz4:
			// It loses what it unpacks, where that is as long as the page's header says: values
			// would be what was in memory before.
			return "is compressed with LZ4, which is not read: write the file with zstd, gzip or snappy"
		case codec != groups[0].Columns[c.Index()].MetaData.Codec:
			// It unpacks all as the first.
			return "is compressed in two ways, which is not read: write the file anew, with one"
		}
	}
	return ""
}

// whole returns the days of points in time, a day being so many units: of integers, since a float64
// would take a day's last nanosecond for the next day.
func whole(in []int64, day int64) []int64 {
	out := make([]int64, len(in))
	for i, v := range in {
		if out[i] = v / day; v%day < 0 {
			out[i]--
		}
	}
	return out
}
