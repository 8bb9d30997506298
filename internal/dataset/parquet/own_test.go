package parquet

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"covey/internal/dataset"
	"covey/test/cost"
)

// What DuckDB wrote as INT32, some far apart and some unsigned, is what it wrote as INT64.
func TestParquetWideOfDuckDB(t *testing.T) {
	columns := []dataset.Column{{Name: "i", Scale: 1}, {Name: "i8", Scale: 1}, {Name: "u", Scale: 1}, {Name: "u8", Scale: 1}}
	r, err := dataset.Read(dataset.Source{Path: "testdata/duckdb-wide.parquet"}, dataset.Request{Columns: columns, Missing: dataset.MissingGaps}, dataset.ReadOptions{})
	if err != nil || r.Rows != 300 {
		t.Fatalf("%v, %v", r, err)
	}
	least, most := 0.0, 0.0
	for row := range slices.Chunk(r.Values, 4) {
		if row[0] != row[1] || row[2] != row[3] {
			t.Fatalf("INT32 is read as %v and %v, INT64 as %v and %v", row[0], row[2], row[1], row[3])
		}
		least, most = min(least, row[0]), max(most, row[2])
	}
	if least > -2e9 || most < 4e9 {
		t.Errorf("from %v to %v: not wide", least, most)
	}
}

// packedDeltas packs 40 or fewer values as differences of 64 bits, as they come.
func packedDeltas(bits byte, values []int64) []byte {
	out := binary.AppendUvarint(nil, 128)
	out = binary.AppendUvarint(out, 2)
	out = binary.AppendUvarint(out, uint64(len(values)))
	out = binary.AppendVarint(out, values[0])
	least := int64(math.MaxInt64)
	for i, v := range values[1:] {
		least = min(least, v-values[i])
	}
	out = append(binary.AppendVarint(out, least), bits, 0xff) // a run and one without values
	run := make([]byte, 64*int(bits)/8)
	for i, v := range values[1:] {
		d := uint64(v - values[i] - least)
		for k := range int(bits) {
			run[(i*int(bits)+k)/8] |= byte(d>>k&1) << ((i*int(bits) + k) % 8)
		}
	}
	return append(out, run...)
}

// inPlace is oneColumn with other bytes for the values of its last page.
func inPlace(t testing.TB, node parquet.Node, value func(i int) parquet.Value, o []parquet.WriterOption, codec compress.Codec, values []byte) []byte {
	t.Helper()
	b := oneColumn(t, node, value, as(o, codec)...)
	p := b.last()
	was := slices.Clone(b.unpacked(t, codec)[len(b.pages)-1].bytes)
	front := int(p.head.DataPageHeaderV2.V.DefinitionLevelsByteLength)
	keep := front
	if node.Optional() && !p.head.DataPageHeaderV2.Valid {
		keep = 4 + int(binary.LittleEndian.Uint32(was))
	}
	body := slices.Concat(was[front:keep], values)
	packed, err := codec.Encode(nil, body)
	if err != nil {
		t.Fatal(err)
	}
	p.set(was[:front], packed)
	p.head.UncompressedPageSize = int32(front + len(body))
	return b.together(t)
}

// kindsOfPages calls f for each codec and version of pages, with and without levels.
func kindsOfPages(node parquet.Node, f func(codec compress.Codec, o []parquet.WriterOption, node parquet.Node)) {
	for _, codec := range allCodecs {
		for _, o := range [][]parquet.WriterOption{first, second} {
			f(codec, o, node)
			f(codec, o, parquet.Optional(node))
		}
	}
}

// Differences of any number of bits are read as they were written; cut off, they are an error.
func TestParquetDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]int64, 40)
	for i := range values {
		values[i] = int64(int32(rng.Uint32()))
	}
	values[0], values[1], values[2] = math.MinInt32, math.MaxInt32, math.MinInt32
	kindsOfPages(parquet.Encoded(parquet.Leaf(parquet.Int32Type), &parquet.DeltaBinaryPacked), func(codec compress.Codec, o []parquet.WriterOption, node parquet.Node) {
		for _, bits := range []byte{33, 40, 57, 64} {
			whole := packedDeltas(bits, values)
			_, _, got, err := read(t, inPlace(t, node, anInt32, o, codec, whole), false)
			if err != nil || len(got) != len(values) {
				t.Fatalf("%v, %d bits: %d rows, %v", codec, bits, len(got), err)
			}
			for i, v := range got {
				if v != float64(values[i]) {
					t.Fatalf("%v, %d bits: row %d is %v, want %d", codec, bits, i, v, values[i])
				}
			}
			if _, _, _, err := read(t, inPlace(t, node, anInt32, o, codec, whole[:len(whole)/2]), false); err == nil {
				t.Fatalf("%v, %d bits, cut off: no error", codec, bits)
			}
		}
	})
}

// Booleans in runs of any length are read as they were written; cut off, they are an error.
func TestParquetRunsOfBooleans(t *testing.T) {
	runs := slices.Concat(run(3, 1), run(10, 0), []byte{2<<1 | 1, 0b10110011, 0b01010101}, run(11, 1))
	want := slices.Concat(slices.Repeat([]float64{1}, 3), make([]float64, 10), []float64{1, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0}, slices.Repeat([]float64{1}, 11))
	kindsOfPages(parquet.Encoded(parquet.Leaf(parquet.BooleanType), &parquet.RLE), func(codec compress.Codec, o []parquet.WriterOption, node parquet.Node) {
		for _, cut := range []int{0, 3} {
			raw := inPlace(t, node, aBoolean, o, codec, append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs)-cut)), runs[:len(runs)-cut]...))
			q := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Readings: []dataset.Reading{{As: dataset.Boolean}}, Missing: dataset.MissingError}
			r, err := dataset.Read(dataset.Source{Path: cost.File(t, "x.parquet", raw)}, q, dataset.ReadOptions{})
			if cut > 0 && err == nil {
				t.Fatalf("%v, cut off: no error", codec)
			}
			if cut == 0 && (err != nil || !slices.Equal(r.Values, want)) {
				t.Fatalf("%v: other values, %v", codec, err)
			}
		}
	})
}

// A page that is not what its checksum says is an error, and runs take no memory for more values
// than the page says that it has.
func TestParquetOwnDamage(t *testing.T) {
	for _, o := range [][]parquet.WriterOption{first, second} {
		for _, wrong := range []uint32{0, 1} {
			raw := inPlace(t, parquet.Encoded(parquet.Leaf(parquet.Int32Type), &parquet.DeltaBinaryPacked), anInt32, o, &parquet.Zstd, packedDeltas(64, make([]int64, 40)))
			b := takeApart(t, raw)
			b.last().head.CRC = int32(crc32.ChecksumIEEE(b.last().body) + wrong)
			if _, _, got, err := read(t, b.together(t), false); (err != nil) != (wrong > 0) || err == nil && len(got) != 40 {
				t.Errorf("checksum off by %d: %d rows, %v", wrong, len(got), err)
			}
		}
	}
	claims := append(binary.AppendUvarint(nil, 1<<16), 1, 0xff, 0xff, 0xff, 0x7f, 0) // 2^28-1 values
	claims = append(append(claims, 0, 33), make([]byte, 1<<16*33/8)...)
	claims = append(claims, make([]byte, 1<<13)...) // 2^12 runs of 2^16 zeros
	cost.Bounded(t, 1<<20, func() {
		if out, _, _, err := differences(claims, 40, []byte{}); err == nil {
			t.Errorf("%d bytes", len(out))
		}
		r := runs{b: bytes.Repeat(run(1<<31-1, 1), 100), width: 1}
		var out [40]byte
		if err := unpackRuns(&r, out[:]); countOnes(out[:]) != 40 || err != nil {
			t.Errorf("%d levels, %v", out, err)
		}
	})
}
