package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

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
)

// headers goes over the headers of a column's pages in a row group, each before the library does:
// a header's depth would fill the stack, which nothing catches. The pages are left to the library.
type headers struct {
	t      *parquetTable
	column string
	bytes  *io.SectionReader // those that the library takes for the column's pages
	lz4    bool              // how the library takes them to be compressed
	at     int64
	short  [shortHeader]byte
}

func (t *parquetTable) headers(m *format.ColumnMetaData, c *parquet.Column) *headers {
	from := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		from = m.DictionaryPageOffset
	}
	return &headers{t: t, column: dataset.Trim(c.Name()), bytes: io.NewSectionReader(t.src, from, m.TotalCompressedSize), lz4: c.Compression().CompressionCodec() == format.Lz4Raw}
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
		if head.CompressedPageSize < 0 || h.at > h.bytes.Size() {
			return errPage // it would be given memory before it is read
		}
		if h.lz4 {
			if err := h.unpacks(&head); err != nil {
				return err
			}
		}
		if head.Type != format.DictionaryPage {
			return nil
		}
	}
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

// unpacks refuses a page, which ends at h.at, whose bytes are no block of LZ4: the library takes
// twice the memory, again and again, until it is enough for them, and it never is.
func (h *headers) unpacks(head *format.PageHeader) error {
	raw := make([]byte, head.CompressedPageSize)
	if _, err := h.bytes.ReadAt(raw, h.at-int64(len(raw))); err != nil {
		return err
	}
	ok := true
	if v2 := &head.DataPageHeaderV2.V; head.Type == format.DataPageV2 {
		// The library may also unpack it as a dictionary, from its beginning.
		ok = !head.DictionaryPageHeader.Valid
		if v2.IsCompressed.Valid && !v2.IsCompressed.V && ok {
			return nil
		}
		levels := int64(v2.RepetitionLevelsByteLength) + int64(v2.DefinitionLevelsByteLength)
		if levels < 0 || levels > int64(len(raw)) {
			return errPage
		}
		raw = raw[levels:]
	}
	if !ok || !isBlock(raw) {
		return h.t.damaged(h.column, "a page is not the LZ4 that its header says it is")
	}
	return nil
}

// isBlock reports whether b is a block of LZ4 as encoders write it, or empty: sequences of literals
// and a match, which lies behind, and then literals alone.
func isBlock(b []byte) bool {
	ok := true
	length := func(n byte) int {
		sum := int(n)
		for more := n == 15; more; b = b[1:] {
			if ok = len(b) > 0; !ok {
				return 0
			}
			sum += int(b[0])
			more = b[0] == 255
		}
		return sum
	}
	for written, first := 0, true; ; first = false {
		if len(b) == 0 {
			return first
		}
		token := b[0]
		b = b[1:]
		literals := length(token >> 4)
		if !ok || literals > len(b) {
			return false
		}
		b = b[literals:]
		written += literals
		if len(b) == 0 {
			return token&15 == 0
		}
		if len(b) < 2 {
			return false
		}
		back := int(binary.LittleEndian.Uint16(b))
		b = b[2:]
		if back == 0 || back > written {
			return false
		}
		written += 4 + length(token&15)
		if !ok {
			return false
		}
	}
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
