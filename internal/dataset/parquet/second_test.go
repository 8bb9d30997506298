package parquet

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	arrow "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"pgregory.net/rapid"

	"covey/internal/dataset"
	"covey/test/cost"
)

// A secondColumn is what Apache's library writes of the values in v, and how it may encode them.
type secondColumn struct {
	node      func(arrow.Repetition) (*schema.PrimitiveNode, error)
	reading   dataset.Reading
	encodings []arrow.Encoding
	write     func(w file.ColumnChunkWriter, v []float64, levels []int16) (int64, error)
}

var (
	secondWords = []string{"", "pine", "pin", "pint", "a much longer text than the others", "ä"}
	secondBits  = dataset.Reading{As: dataset.Boolean}
	secondDays  = dataset.Reading{As: dataset.Days}
	secondTexts = dataset.Reading{Levels: secondWords[1:5]} // the last is another
	deltas      = []arrow.Encoding{arrow.Encodings.Plain, arrow.Encodings.DeltaBinaryPacked, arrow.Encodings.ByteStreamSplit}
)

var secondColumns = map[string]secondColumn{
	"double": {plainly(arrow.Types.Double), dataset.Reading{}, []arrow.Encoding{arrow.Encodings.Plain, arrow.Encodings.ByteStreamSplit}, func(w file.ColumnChunkWriter, v []float64, levels []int16) (int64, error) {
		return w.(*file.Float64ColumnChunkWriter).WriteBatch(v, levels, nil)
	}},
	"float": {plainly(arrow.Types.Float), dataset.Reading{}, []arrow.Encoding{arrow.Encodings.Plain, arrow.Encodings.ByteStreamSplit}, func(w file.ColumnChunkWriter, v []float64, levels []int16) (int64, error) {
		return w.(*file.Float32ColumnChunkWriter).WriteBatch(each(v, func(x float64) float32 { return float32(x) }), levels, nil)
	}},
	"int32":  {plainly(arrow.Types.Int32), dataset.Reading{}, deltas, writeInt32s},
	"int16":  {logically(schema.NewIntLogicalType(16, true), arrow.Types.Int32), dataset.Reading{}, deltas, writeInt32s},
	"uint32": {logically(schema.NewIntLogicalType(32, false), arrow.Types.Int32), dataset.Reading{}, deltas, writeInt32s},
	"date":   {logically(schema.DateLogicalType{}, arrow.Types.Int32), secondDays, deltas, writeInt32s},
	"int64":  {plainly(arrow.Types.Int64), dataset.Reading{}, deltas, writeInt64s},
	"uint64": {logically(schema.NewIntLogicalType(64, false), arrow.Types.Int64), dataset.Reading{}, deltas, writeInt64s},
	"boolean": {plainly(arrow.Types.Boolean), secondBits, []arrow.Encoding{arrow.Encodings.Plain, arrow.Encodings.RLE}, func(w file.ColumnChunkWriter, v []float64, levels []int16) (int64, error) {
		return w.(*file.BooleanColumnChunkWriter).WriteBatch(each(v, func(x float64) bool { return x == 1 }), levels, nil)
	}},
	"text": {logically(schema.StringLogicalType{}, arrow.Types.ByteArray), secondTexts, []arrow.Encoding{arrow.Encodings.Plain, arrow.Encodings.DeltaLengthByteArray, arrow.Encodings.DeltaByteArray}, func(w file.ColumnChunkWriter, v []float64, levels []int16) (int64, error) {
		return w.(*file.ByteArrayColumnChunkWriter).WriteBatch(each(v, func(x float64) arrow.ByteArray { return arrow.ByteArray(secondWords[int(x)]) }), levels, nil)
	}},
}

func plainly(typ arrow.Type) func(arrow.Repetition) (*schema.PrimitiveNode, error) {
	return func(r arrow.Repetition) (*schema.PrimitiveNode, error) {
		return schema.NewPrimitiveNode("a", r, typ, -1, 0)
	}
}

func logically(l schema.LogicalType, typ arrow.Type) func(arrow.Repetition) (*schema.PrimitiveNode, error) {
	return func(r arrow.Repetition) (*schema.PrimitiveNode, error) {
		return schema.NewPrimitiveNodeLogical("a", r, l, typ, 0, -1)
	}
}

func each[T any](v []float64, f func(float64) T) (out []T) {
	for _, x := range v {
		out = append(out, f(x))
	}
	return out
}

func writeInt32s(w file.ColumnChunkWriter, v []float64, levels []int16) (int64, error) {
	return w.(*file.Int32ColumnChunkWriter).WriteBatch(each(v, func(x float64) int32 { return int32(int64(x)) }), levels, nil)
}

func writeInt64s(w file.ColumnChunkWriter, v []float64, levels []int16) (int64, error) {
	return w.(*file.Int64ColumnChunkWriter).WriteBatch(each(v, func(x float64) int64 {
		if x >= 1<<63 {
			return int64(uint64(x))
		}
		return int64(x)
	}), levels, nil)
}

// secondValue draws a value of a kind of column: near others, far from them, or one of a few.
func secondValue(rng *rand.Rand, name string, manner int) float64 {
	few := float64(rng.IntN(5))
	switch name {
	case "boolean":
		if manner == 2 { // mostly runs
			return float64(min(1, rng.IntN(50)))
		}
		return float64(rng.IntN(2))
	case "text":
		return float64(1 + rng.IntN(len(secondWords)-1))
	case "date":
		return few + float64(manner*rng.IntN(20000))
	case "int16":
		return few - float64(manner*rng.IntN(1<<14))
	}
	if manner == 0 {
		return few
	}
	wide := rng.Uint64() >> rng.IntN(64)
	switch name {
	case "double":
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(900)-450)
	case "float":
		return float64(float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(200)-100)))
	case "int32":
		return float64(int32(wide))
	case "uint32":
		return float64(uint32(wide))
	case "int64":
		return float64(int64(wide) >> 11 << 11)
	}
	return float64(wide >> 11 << 11)
}

// Whatever Apache's library writes, which shares no code with the one that reads it here, is read
// as it was written, cell by cell.
func TestParquetOfApache(tb *testing.T) {
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Zstd}
	rapid.Check(tb, func(t *rapid.T) {
		name := rapid.SampledFrom(slices.Sorted(maps.Keys(secondColumns))).Draw(t, "type")
		c := secondColumns[name]
		repetition := rapid.SampledFrom([]arrow.Repetition{arrow.Repetitions.Required, arrow.Repetitions.Optional}).Draw(t, "repetition")
		node, err := c.node(repetition)
		if err != nil {
			t.Fatal(err)
		}
		root, err := schema.NewGroupNode("schema", arrow.Repetitions.Required, schema.FieldList{node}, -1)
		if err != nil {
			t.Fatal(err)
		}
		encoding := rapid.SampledFrom(c.encodings).Draw(t, "encoding")
		page := rapid.SampledFrom([]int64{100, 1000, 1 << 20}).Draw(t, "page")
		if encoding == arrow.Encodings.RLE {
			page = 1 << 20 // its second page of runs would hold the first one's values again
		}
		var out bytes.Buffer
		w := file.NewParquetWriter(&out, root, file.WithWriterProps(arrow.NewWriterProperties(
			arrow.WithDictionaryDefault(rapid.Bool().Draw(t, "dictionary")),
			arrow.WithDictionaryPageSizeLimit(rapid.SampledFrom([]int64{64, 1 << 20}).Draw(t, "dictionary size")),
			arrow.WithEncoding(encoding),
			arrow.WithCompression(rapid.SampledFrom(codecs).Draw(t, "codec")),
			arrow.WithDataPageVersion(rapid.SampledFrom([]arrow.DataPageVersion{arrow.DataPageV1, arrow.DataPageV2}).Draw(t, "version")),
			arrow.WithDataPageSize(page), arrow.WithBatchSize(37))))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "values"), 0))
		manner, gaps := rapid.IntRange(0, 2).Draw(t, "manner"), rapid.IntRange(1, 5).Draw(t, "gaps")
		var want []float64 // NaN: none
		for range rapid.IntRange(1, 3).Draw(t, "row groups") {
			var values []float64
			var levels []int16
			for range rapid.IntRange(1, 700).Draw(t, "rows") {
				v := secondValue(rng, name, manner)
				if repetition == arrow.Repetitions.Optional && rng.IntN(gaps) == 0 {
					levels, want = append(levels, 0), append(want, math.NaN())
					continue
				}
				levels, values, want = append(levels, 1), append(values, v), append(want, v)
			}
			if repetition == arrow.Repetitions.Required {
				levels = nil
			}
			group, err := w.AppendRowGroupChecked()
			if err != nil {
				t.Fatal(err)
			}
			column, err := group.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.write(column, values, levels); err != nil {
				t.Fatal(err)
			}
			if err := column.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		q := dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Readings: []dataset.Reading{c.reading}, Missing: dataset.MissingGaps}
		r, err := dataset.Read(dataset.Source{Path: cost.File(tb, "x.parquet", out.Bytes())}, q, dataset.ReadOptions{})
		if err != nil || r.Rows != len(want) {
			t.Fatalf("%d rows, want %d, %v", r.Rows, len(want), err)
		}
		for i, v := range want {
			cells := r.Values[i*r.D : (i+1)*r.D]
			gap := r.Gaps != nil && r.Gaps[i*dataset.GapStride(r.D)]&1 == 1
			got := cells[0]
			if name == "text" && !gap {
				got = 0
				for k, cell := range cells {
					got += cell * float64(k+1)
				}
			}
			if gap != math.IsNaN(v) || !gap && got != v {
				t.Fatalf("row %d is %v (gap: %t), want %v", i, got, gap, v)
			}
		}
	})
}
