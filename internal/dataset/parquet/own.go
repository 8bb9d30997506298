package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// ownPage is a page that is read here, since the library reads other values than were written, and
// says nothing: INT32 whose differences take more than 32 bits each, or whose first value is beyond
// INT32, as DuckDB writes numbers that lie far apart; and booleans by runs, as Arrow writes them.
type ownPage struct {
	rows   int
	levels []byte // nil: every row has a value
	values pageValues
}

// read returns a page at body that the library would read wrong; nil for any other.
func (h *headers) read(head *format.PageHeader, body int64) (*ownPage, error) {
	v2 := &head.DataPageHeaderV2
	encoding, rows := head.DataPageHeader.V.Encoding, head.DataPageHeader.V.NumValues
	if v2.Valid {
		encoding, rows = v2.V.Encoding, v2.V.NumValues
	}
	kind := h.typ.Kind()
	if !(kind == parquet.Int32 && encoding == format.DeltaBinaryPacked || kind == parquet.Boolean && encoding == format.RLE) {
		return nil, nil
	}
	page := make([]byte, head.CompressedPageSize) // which next found to be no longer than the column
	if _, err := h.bytes.ReadAt(page, body); err != nil {
		return nil, err
	}
	front, packed := h.front(head)
	sum := uint32(head.CRC) // 0: none, as the library has it, whose errors no longer count
	if front < 0 || front > int64(len(page)) || rows < 0 || sum != 0 && sum != crc32.ChecksumIEEE(page) {
		return nil, errPage
	}
	levels, page := page[:front], page[front:]
	if packed {
		var err error
		if page, err = parquet.LookupCompressionCodec(h.codec).Decode(nil, page); err != nil {
			return nil, err
		}
	}
	if h.optional && !v2.Valid {
		var err error
		if levels, page, err = counted(page); err != nil {
			return nil, err
		}
	}
	out := &ownPage{rows: int(rows)}
	if kind == parquet.Boolean {
		runs, _, err := counted(page)
		if err != nil {
			return nil, err
		}
		bits, err := singles(runs, out.rows)
		if err != nil {
			return nil, err
		}
		out.values = pageValues{bytes: make([]byte, (len(bits)+7)/8), count: len(bits)}
		for i, bit := range bits {
			out.values.bytes[i/8] |= bit & 1 << (i % 8)
		}
	} else if _, wide := differences(page, out.rows, false); !wide {
		return nil, nil
	} else if values, _ := differences(page, out.rows, true); unsigned(h.typ) {
		for _, v := range values {
			out.values.uint32s = append(out.values.uint32s, uint32(v))
		}
	} else {
		out.values.int32s = values
	}
	if h.optional {
		var err error
		if out.levels, err = singles(levels, out.rows); err != nil {
			return nil, err
		}
		if len(out.levels) < out.rows {
			return nil, errPage
		}
	}
	return out, nil
}

// singles returns the first n of runs of single bits, one byte each; fewer where b has fewer. The
// library would take memory for as many as a run claims.
func singles(b []byte, n int) (out []byte, err error) {
	for len(b) > 0 && len(out) < n {
		run, used := binary.Uvarint(b)
		if used <= 0 {
			return nil, errPage
		}
		b = b[used:]
		count, packed := run>>1, run&1 == 1
		if packed && count > uint64(len(b)) || !packed && count > 0 && len(b) == 0 {
			return nil, errPage
		}
		switch {
		case packed: // a byte is a group of eight
			for i := range min(8*int(count), n-len(out)) {
				out = append(out, b[i/8]>>(i%8)&1)
			}
			b = b[count:]
		case count > 0:
			out = append(out, bytes.Repeat(b[:1], int(min(count, uint64(n-len(out)))))...)
			b = b[1:]
		}
	}
	return out, nil
}

// counted parts what comes behind its length in bytes from what follows.
func counted(b []byte) (first, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errPage
	}
	end := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:end], b[end:], nil
}

// unsigned reports whether a type of integers has no negative ones.
func unsigned(typ parquet.Type) bool {
	unsigned, _ := integer(typ)
	return unsigned
}

// differences goes over DELTA_BINARY_PACKED values, n at most, and reports whether any takes more
// bits than INT32 has; it returns them, as far as b goes, if they are to be kept.
func differences(b []byte, n int, keep bool) (out []int32, wide bool) {
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		b = b[max(n, 0):]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b)
		b = b[max(n, 0):]
		return v
	}
	block, runs, left, last := number(), number(), number(), signed()
	left = min(left, uint64(n))
	if left == 0 || runs == 0 || runs > block || block > 1<<16 { // the library refuses it, or has no values
		return nil, false
	}
	if wide = last < math.MinInt32 || last > math.MaxInt32; keep {
		out = append(out, int32(last))
	}
	for left--; left > 0 && len(b) > 0; {
		least := signed()
		widths := b[:min(runs, uint64(len(b)))]
		b = b[len(widths):]
		for _, bits := range widths {
			n := min(left, block/runs)
			if n == 0 { // the width of a run without values may be anything
				break
			}
			wide = wide || bits > 32
			run := b[:min(block/runs*uint64(bits)/8, uint64(len(b)))]
			b, left = b[len(run):], left-n
			if !keep {
				continue
			}
			if bits > 64 || n*uint64(bits) > 8*uint64(len(run)) {
				return out, wide
			}
			for i := range n {
				last += least + int64(unpacked(run, i*uint64(bits), uint64(bits))) // modulo 2^64, and so 2^32
				out = append(out, int32(last))
			}
		}
	}
	return out, wide
}

// unpacked returns the number of so many bits at a bit, the lowest first.
func unpacked(b []byte, at, bits uint64) (v uint64) {
	for k := range bits {
		v |= uint64(b[(at+k)/8]>>((at+k)%8)&1) << k
	}
	return v
}
