package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/test/cost"
)

// Whatever byte is damaged: an error, or a table of the same shape, never a panic, and no more
// memory than a page may claim. The format has no checksum that writers must set, so numbers may be
// others; the pin is of the bytes. Under -short every 13th byte is.
func TestDamagedParquet(t *testing.T) {
	type file struct {
		name string
		raw  []byte
		read func() error
	}
	var files []file
	s := dataset.Source{Path: cost.File(t, "x.parquet", nil)}
	for _, f := range []struct{ name, unit, columns string }{{"duckdb-zstd", "who", "a b c d"}, {"duckdb-wide", "", "i u"}} {
		raw, err := os.ReadFile("testdata/" + f.name + ".parquet")
		if err != nil {
			t.Fatal(err)
		}
		q := dataset.Request{Unit: f.unit, Missing: dataset.MissingDropRow}
		for name := range strings.FieldsSeq(f.columns) {
			q.Columns = append(q.Columns, dataset.Column{Name: name, Scale: 1})
		}
		files = append(files, file{f.name, raw, func() error {
			r, err := dataset.Read(s, q, dataset.ReadOptions{})
			if err == nil && (len(r.Values) != len(q.Columns)*r.Rows || q.Unit != "" && len(r.Unit) != r.Rows) {
				t.Errorf("%d rows, %d values", r.Rows, len(r.Values))
			}
			return err
		}})
	}
	for i, c := range allColumns { // as Go's library writes them
		codec, o := allCodecs[i%len(allCodecs)], [][]parquet.WriterOption{first, second}[i%2]
		files = append(files, file{c.name, oneColumn(t, parquet.Optional(c.node), c.value, as(o, codec)...).together(t), func() (err error) {
			if isNumber(c.node.Type().Kind()) {
				_, err = dataset.Read(s, dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Missing: dataset.MissingDropRow}, dataset.ReadOptions{})
			} else {
				_, err = dataset.Inspect(s, "a", dataset.ReadOptions{})
			}
			return err
		}})
	}
	step, refused, whole := 1, 0, 0
	if testing.Short() {
		step = 13
	}
	for _, f := range files {
		for i := 0; i < len(f.raw); i += step {
			for _, v := range []byte{f.raw[i] ^ 0xff, f.raw[i] ^ byte(1+i%255)} {
				damaged := bytes.Clone(f.raw)
				damaged[i] = v
				err := os.WriteFile(s.Path, damaged, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				cost.Bounded(t, freeBytes+16<<20, func() { err = f.read() })
				if _, ok := errors.AsType[*dataset.Error](err); err != nil && !ok {
					t.Fatalf("%s, byte %d: %v", f.name, i, err)
				}
				if err != nil {
					refused++
				} else {
					whole++
				}
			}
		}
	}
	if refused < 100 || whole < 100 {
		t.Errorf("%d refused, %d read", refused, whole)
	}
}

// steps packs one value and n-1 more that differ from it by least each: a few bytes, whatever n is.
func steps(n int, value, least int64) []byte {
	out := binary.AppendUvarint([]byte{0x80, 0x80, 4, 1}, uint64(n)) // a block of 2^16 in one run
	out = binary.AppendVarint(out, value)
	for left := n - 1; left > 0; left -= 1 << 16 {
		out = append(binary.AppendVarint(out, least), 0)
	}
	return out
}

// A few bytes that stand for many values, or many bytes, take no memory for more than the page's
// rows take, or the bytes that its header says.
func TestParquetFewBytes(t *testing.T) {
	const rows, zeros = 1 << 24, 64 << 20
	zipped := func(c compress.Codec) []byte {
		out, err := c.Encode(nil, make([]byte, zeros))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var streamed bytes.Buffer // no length in front
	w, err := zstd.NewWriter(&streamed)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(make([]byte, zeros)) // to memory
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sized := func(b []byte) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...) }
	doubles := make([]byte, 40*8)
	// Of every row of a file that says it has many.
	many := func(n int32) func(*broken) {
		return func(b *broken) {
			b.rows(int64(n))
			b.last().head.DataPageHeader.V.NumValues = n
		}
	}
	lengths, fronts := parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray), parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)
	for name, c := range map[string]struct {
		node  parquet.Node
		value func(int) parquet.Value
		as    []parquet.WriterOption
		page  []byte
		harm  func(*broken)
		want  string // or how many rows are read
		rows  int
	}{
		"run of indices":          {indexed, aDouble, first, append([]byte{6}, run(math.MaxInt32, 5)...), nil, "", 40},
		"runs of indices":         {indexed, aDouble, second, append([]byte{6}, bytes.Repeat(run(math.MaxInt32, 5), 100)...), nil, "", 40},
		"indices of no bits":      {indexed, aDouble, first, append([]byte{0}, binary.AppendUvarint(nil, math.MaxInt32<<1|1)...), nil, "", 40},
		"run of levels":           {parquet.Optional(double), aDouble, first, append(sized(run(math.MaxInt32, 1)), doubles...), nil, "", 40},
		"run of booleans":         {parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.RLE), aBoolean, first, sized(run(math.MaxInt32, 1)), nil, "", 40},
		"rows of one index":       {indexed, aDouble, first, append([]byte{6}, run(rows, 5)...), many(rows), "", rows},
		"rows with levels":        {parquet.Optional(indexed), aDouble, first, slices.Concat(sized(run(rows, 1)), []byte{6}, run(rows, 5)), many(rows), "", rows},
		"deltas of INT64":         {parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked), anInt64, first, steps(rows, 1, 1), nil, badParquetWords, 0},
		"deltas of INT32":         {parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked), anInt32, second, steps(rows, 1<<40, 1), nil, badParquetWords, 0},
		"lengths of texts":        {lengths, aText, first, steps(rows, 0, 0), nil, badParquetWords, 0},
		"fronts of texts":         {fronts, aText, first, steps(rows, 0, 0), nil, badParquetWords, 0},
		"backs of texts":          {fronts, aText, first, slices.Concat(steps(40, 0, 0), steps(rows, 0, 0)), nil, badParquetWords, 0},
		"texts that are repeated": {fronts, aText, first, slices.Concat(steps(1<<18, 0, 0), steps(1<<18, 1<<13, 0)), many(1 << 18), badParquetWords, 0},
		"snappy":                  {double, aDouble, as(first, &parquet.Snappy), zipped(&parquet.Snappy), nil, badParquetWords, 0},
		"gzip":                    {double, aDouble, as(second, &parquet.Gzip), zipped(&parquet.Gzip), nil, badParquetWords, 0},
		"brotli":                  {double, aDouble, as(first, &parquet.Brotli), zipped(&parquet.Brotli), nil, badParquetWords, 0},
		"zstd":                    {double, aDouble, as(second, &parquet.Zstd), zipped(&parquet.Zstd), nil, badParquetWords, 0},
		"zstd of no length":       {double, aDouble, as(first, &parquet.Zstd), streamed.Bytes(), nil, badParquetWords, 0},
		"more than all may take": {double, aDouble, as(first, &parquet.Zstd), []byte{0}, func(b *broken) {
			b.last().head.UncompressedPageSize, b.meta.RowGroups[0].Columns[0].MetaData.TotalUncompressedSize = math.MaxInt32, 1<<40
		}, "its pages take more than 1024 MiB of memory at a time: write the file with smaller pages or row groups", 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := oneColumn(t, c.node, c.value, c.as...)
			size := b.last().head.UncompressedPageSize
			if b.last().set(c.page); len(c.page) > 1000 { // they are zipped
				b.last().head.UncompressedPageSize = size
			}
			if c.harm != nil {
				c.harm(b)
			}
			s := dataset.Source{Path: cost.File(t, "x.parquet", b.together(t))}
			q := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Missing: dataset.MissingDropRow}
			got := 0
			runtime.GC() // no memory is left from other tests
			cost.Bounded(t, 16<<20, func() {
				if c.node.Type().Kind() == parquet.ByteArray {
					_, err = dataset.Inspect(s, "a", dataset.ReadOptions{})
					return
				}
				if c.node.Type().Kind() == parquet.Boolean {
					q.Readings = []dataset.Reading{{As: dataset.Boolean}}
				}
				var r *dataset.Rows
				if r, err = dataset.Validate(s, q, dataset.ReadOptions{}); err == nil {
					got = r.Rows
				}
			})
			if e, ok := errors.AsType[*dataset.Error](err); err != nil && (!ok || e.Reason != c.want) || err == nil && c.want != "" || got != c.rows {
				t.Errorf("%d rows, %v", got, err)
			}
		})
	}
}

// Units whose rows have a page of a few bytes each, which stand for a long text, are refused before
// all of them are in memory.
func TestParquetLongUnits(t *testing.T) {
	fronts := parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)
	for count, want := range map[int]string{3: "", 40: "units that follow one another take more than 64 MiB: is this column the unit?"} {
		const long = 8 << 20
		b := oneColumn(t, fronts, aText, as(first, &parquet.Zstd)...)
		text := slices.Concat(steps(1, 0, 0), steps(1, long, 0), make([]byte, long))
		packed, err := parquet.Zstd.Encode(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		b.last().set(packed)
		b.last().head.UncompressedPageSize, b.last().head.DataPageHeader.V.NumValues = int32(len(text)), 1
		b.pages = slices.Repeat(b.pages, count)
		b.rows(int64(count))
		s := dataset.Source{Path: cost.File(t, "x.parquet", b.together(t))}
		cost.Bounded(t, 512<<20, func() { _, err = dataset.Inspect(s, "a", dataset.ReadOptions{}) })
		if e, ok := errors.AsType[*dataset.Error](err); err != nil && (!ok || e.Reason != want || e.Column != "a") || err == nil && want != "" {
			t.Errorf("%d units: %v", count, err)
		}
	}
}

// Runs of any widths and lengths, read in any parts, are what was written: the last group may have
// more values than there are rows, and may be cut off behind the last that is needed.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 32).Draw(t, "width")
		value := rapid.Uint32Range(0, uint32(uint64(1)<<width-1))
		var b []byte
		var want []int32
		for range rapid.IntRange(1, 6).Draw(t, "runs") {
			if n := rapid.IntRange(0, 100).Draw(t, "length"); rapid.Bool().Draw(t, "one value") {
				v := value.Draw(t, "value")
				if b = binary.AppendUvarint(b, uint64(n)<<1); n > 0 {
					b = append(b, binary.LittleEndian.AppendUint32(nil, v)[:(width+7)/8]...)
				}
				want = append(want, slices.Repeat([]int32{int32(v)}, n)...)
			} else {
				b = binary.AppendUvarint(b, uint64(n)<<1|1)
				bits := make([]byte, n*width)
				for i := range 8 * n {
					v := value.Draw(t, "value")
					for k := range width {
						bits[(i*width+k)/8] |= byte(v>>k&1) << ((i*width + k) % 8)
					}
					want = append(want, int32(v))
				}
				b = append(b, bits...)
			}
		}
		r, all := runs{b: b, width: uint(width)}, len(want)
		for len(want) > 0 {
			n := rapid.IntRange(1, len(want)).Draw(t, "part")
			out := make([]int32, n)
			if err := unpackRuns(&r, out); err != nil || !slices.Equal(out, want[:n]) {
				t.Fatalf("%v instead of %v, %v", out, want[:n], err)
			}
			want = want[n:]
		}
		if err := unpackRuns(&r, make([]int32, 1)); err == nil {
			t.Fatal("a value more than there are")
		}
		if r := (runs{b: b[:len(b)-1], width: uint(width)}); len(b) > 1 && unpackRuns(&r, make([]int32, all)) == nil && width > 0 && all > 0 && r.left > 0 {
			t.Fatal("values that are cut off")
		}
	})
	for _, b := range [][]byte{run(40, 2), run(math.MaxInt32+1, 1)} { // two bits of one; more than the format has
		if err := unpackRuns(&runs{b: b, width: 1}, make([]byte, 40)); err == nil {
			t.Errorf("%v is read", b)
		}
	}
	bits := rand.New(rand.NewPCG(5, 6))
	for n := range 70 { // levels, eight at a time
		packed := make([]byte, 9)
		for i := range packed {
			packed[i] = byte(bits.Uint32())
		}
		at, out := bits.IntN(2)*bits.IntN(72-n+1), make([]byte, n)
		unpackBits(out, packed, uint64(at), 1)
		for i, v := range out {
			if v != packed[(at+i)/8]>>((at+i)%8)&1 {
				t.Fatalf("%d bits at %d of %v: %v", n, at, packed, out)
			}
		}
	}
}

// Pages that few writers write are read as they are meant: levels of no use, runs that go on beyond
// the last row, pages without rows or values, and a second dictionary.
func TestParquetOddPages(t *testing.T) {
	double := parquet.Optional(double)
	for name, c := range map[string]struct {
		node parquet.Node
		as   []parquet.WriterOption
		harm func(*broken)
	}{
		"levels of repetition": {double, second, func(b *broken) {
			p := b.last()
			p.set(run(40, 0), p.body)
			p.head.DataPageHeaderV2.V.RepetitionLevelsByteLength = int32(len(run(40, 0)))
		}},
		"levels beyond the rows": {double, second, func(b *broken) {
			p := b.last()
			n := p.head.DataPageHeaderV2.V.DefinitionLevelsByteLength
			p.set([]byte{6<<1 | 1}, bytes.Repeat([]byte{0xff}, 6), p.body[n:])
			p.head.DataPageHeaderV2.V.DefinitionLevelsByteLength = 7
		}},
		"page without rows": {double, first, func(b *broken) {
			p := *b.last()
			p.set(nil)
			p.head.DataPageHeader.V.NumValues = 0
			b.pages = append([]brokenPage{p}, b.pages...)
		}},
		"second dictionary": {parquet.Optional(indexed), first, func(b *broken) {
			p := b.pages[0]
			p.body = make([]byte, len(p.body))
			b.pages = []brokenPage{b.pages[0], p, b.pages[1]}
		}},
		"no more values than are there": {double, second, func(b *broken) {
			p := *b.last()
			p.set(run(40, 0))
			p.head.DataPageHeaderV2.V.DefinitionLevelsByteLength, p.head.DataPageHeaderV2.V.NumNulls = int32(len(p.body)), 40
			b.pages = append(b.pages, p)
			b.rows(80)
		}},
	} {
		b := oneColumn(t, c.node, aDouble, c.as...)
		c.harm(b)
		_, _, values, err := read(t, b.together(t), false)
		if err != nil || len(values) < 40 || values[39] != 39 {
			t.Errorf("%s: %v, %v", name, values, err)
		}
	}
}
