package parquet

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"covey/internal/dataset"
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

// Differences of any number of bits are read as they were written, in each codec and version of
// pages, with and without levels; cut off, they are an error.
func TestParquetDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]int64, 40)
	for i := range values {
		values[i] = int64(int32(rng.Uint32()))
	}
	values[0], values[1], values[2] = math.MinInt32, math.MaxInt32, math.MinInt32
	for _, codec := range allCodecs {
		for _, o := range [][]parquet.WriterOption{first, second} {
			node := parquet.Encoded(parquet.Leaf(parquet.Int32Type), &parquet.DeltaBinaryPacked)
			for _, node := range []parquet.Node{node, parquet.Optional(node)} {
				for _, bits := range []byte{33, 40, 57, 64} {
					b := oneColumn(t, node, anInt32, as(o, codec)...)
					p := b.last()
					front := slices.Clone(b.unpacked(t, codec)[len(b.pages)-1].bytes)
					levels := int(p.head.DataPageHeaderV2.V.DefinitionLevelsByteLength)
					keep := levels
					if node.Optional() && !p.head.DataPageHeaderV2.Valid {
						keep = 4 + int(binary.LittleEndian.Uint32(front))
					}
					whole := packedDeltas(bits, values)
					for _, cut := range []int{0, len(whole) - 10} {
						body := slices.Concat(front[levels:keep], whole[:len(whole)-cut])
						packed, err := codec.Encode(nil, body)
						if err != nil {
							t.Fatal(err)
						}
						p.set(front[:levels], packed)
						p.head.UncompressedPageSize = int32(levels + len(body))
						_, _, got, err := read(t, b.together(t), false)
						if cut > 0 {
							if err == nil {
								t.Fatalf("%v, %d bits, cut off: no error", codec, bits)
							}
							continue
						}
						if err != nil {
							t.Fatalf("%v, %v, %d bits: %v", codec, o, bits, err)
						}
						for i, v := range got {
							if v != float64(values[i]) {
								t.Fatalf("%v, %v, %d bits: row %d is %v, want %d", codec, o, bits, i, v, values[i])
							}
						}
					}
				}
			}
		}
	}
}
