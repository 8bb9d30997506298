package parquet

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"covey/internal/dataset"
	"covey/test/rows"
)

type otherKinds struct {
	Who string   `parquet:"who,delta"`
	A   int64    `parquet:"a,delta"`
	B   *float64 `parquet:"b,optional,split"`
	C   int32    `parquet:"c,delta"`
	D   float32  `parquet:"d,split"`
}

// Whatever the footer, of pages as they were written: a typed error, or rows.
func FuzzParquet(f *testing.F) {
	b, c, e := 2.5, float32(3), int64(4)
	some := []allKinds{{Who: "p", A: 1, B: &b, C: &c, D: 7, E: &e, F: 8, H: 9, J: 10, K: 11}, {Who: "q", A: 2}, {Who: "p", A: 3, B: &b}}
	more := []otherKinds{{Who: "pine", A: 1, B: &b, C: 2, D: 3}, {Who: "pint", A: 2}, {Who: "pine", A: 3, B: &b}}
	var pages [][]byte
	add := func(path string) {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		n := len(raw) - 8 - int(binary.LittleEndian.Uint32(raw[len(raw)-8:]))
		for _, unit := range []bool{true, false} {
			f.Add(raw[n:len(raw)-8], byte(len(pages)), unit, byte(3*len(pages)))
		}
		pages = append(pages, raw[:n])
	}
	for i, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Brotli} {
		options := []parquet.WriterOption{parquet.Compression(codec), parquet.DataPageVersion(1 + i%2)}
		add(writeParquet(f, some, options...))
		add(writeParquet(f, more, options...))
	}
	names := strings.Split("a b c d e f h j k g", " ")
	f.Fuzz(func(t *testing.T, footer []byte, file byte, unit bool, first byte) {
		q := dataset.Request{Missing: dataset.MissingDropRow}
		for i := range 4 {
			q.Columns = append(q.Columns, dataset.Column{Name: names[(int(first)+i)%len(names)], Scale: 1})
		}
		if unit {
			q.Unit = "who"
		}
		raw := slices.Concat(pages[int(file)%len(pages)], footer)
		rows.Read(t, "x.parquet", append(binary.LittleEndian.AppendUint32(raw, uint32(len(footer))), "PAR1"...), q)
	})
}

// Whatever one page's header: a typed error, or rows. What it claims is such that the machine has
// the memory, as in TestParquetDamagedNumbers; of the page's size it says the truth, or the next
// header would be any bytes.
func FuzzPageHeader(f *testing.F) {
	type file struct {
		node    parquet.Node
		value   func(int) parquet.Value
		options []parquet.WriterOption
	}
	var files []file
	for i, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Zstd, &parquet.Gzip, &parquet.Brotli} {
		for _, c := range []file{{double, aDouble, first}, {indexed, aDouble, second}, {parquet.Optional(indexed), aDouble, first}, {parquet.String(), aText, second}} {
			c.options = as(c.options, codec)
			for k, p := range oneColumn(f, c.node, c.value, c.options...).pages {
				f.Add(byte(len(files)), byte(k), encodeThrift(f, &p.head))
				f.Add(byte(len(files)), byte(k), deep(1000*i))
			}
			files = append(files, c)
		}
	}
	const most = 1 << 20
	f.Fuzz(func(t *testing.T, which, page byte, raw []byte) {
		c := files[int(which)%len(files)]
		b := oneColumn(t, c.node, c.value, c.options...)
		p := &b.pages[int(page)%len(b.pages)]
		var head format.PageHeader
		if n, _, err := skim(raw); err == nil && decodeThrift(raw[:n], &head) == nil {
			v1, v2 := head.DataPageHeader.V, head.DataPageHeaderV2.V
			if int(head.CompressedPageSize) != len(raw)-n+len(p.body) || max(head.UncompressedPageSize, head.DictionaryPageHeader.V.NumValues, v1.NumValues, v2.NumValues, v2.NumRows, v2.NumNulls) > most {
				return
			}
		}
		p.raw = append([]byte{}, raw...)
		rows.Read(t, "x.parquet", b.together(t), dataset.Request{Missing: dataset.MissingDropRow, Columns: []dataset.Column{{Name: "a", Scale: 1}}})
	})
}
