package parquet

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

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
	for i, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd, &parquet.Gzip, &parquet.Lz4Raw, &parquet.Brotli} {
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
