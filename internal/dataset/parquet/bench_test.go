package parquet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"covey/internal/dataset"
	"covey/test/cost"
)

// benchParquet writes rows×d plain doubles, optional ones or not, and gives the bytes of the
// values.
func benchParquet(b testing.TB, rows, d int, optional bool) (path string, columns []dataset.Column, size int64) {
	b.Helper()
	group := parquet.Group{}
	for j := range d {
		node := parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain)
		if optional {
			node = parquet.Optional(node)
		}
		name := fmt.Sprintf("c%03d", j)
		group[name] = node
		columns = append(columns, dataset.Column{Name: name, Offset: 0, Scale: 1})
	}
	path = filepath.Join(b.TempDir(), "bench.parquet")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := parquet.NewWriter(f, parquet.NewSchema("t", group), parquet.Compression(&parquet.Uncompressed))
	r := rand.New(rand.NewPCG(1, 2))
	level := 0
	if optional {
		level = 1
	}
	row := make(parquet.Row, d)
	for range rows {
		for j := range row {
			row[j] = parquet.DoubleValue(r.NormFloat64()).Level(0, level, j)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path, columns, int64(rows) * int64(d) * 8
}

// BenchmarkParquet reads plain doubles into rows, with the hash, which runs on a processor of its
// own where there is one. MB/s are of values. Every row ends where the cache's writer would take
// it.
//
//	go test ./internal/dataset/parquet -run '^$' -bench Parquet -benchtime 5x -cpu 1
func BenchmarkParquet(b *testing.B) {
	for _, d := range []int{16, 64, 256} {
		for _, optional := range []bool{false, true} {
			path, columns, size := benchParquet(b, (8<<20)/d, d, optional)
			kind := "required"
			if optional {
				kind = "optional"
			}
			b.Run(fmt.Sprintf("d=%d/%s/rows and hash", d, kind), func(b *testing.B) {
				cost.PerCore(b, size, func() {
					if _, err := dataset.Validate(dataset.Source{Path: path}, dataset.Request{Columns: columns, Missing: dataset.MissingError}, dataset.ReadOptions{}); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}
