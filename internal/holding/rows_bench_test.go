package holding

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"covey/internal/clip"
	"covey/internal/dataset"
	_ "covey/internal/dataset/npy"
	"covey/internal/rowcache"
	"covey/internal/sitedata"
)

// BenchmarkMapped sums the same rows from a mapped cache file and from memory, in turns, and
// reports how many times as long the file takes: medians, and the fastest turns.
//
//	go test ./internal/holding -run '^$' -bench Mapped -benchtime 11x
func BenchmarkMapped(b *testing.B) {
	for _, d := range []int{16, 256} {
		for _, precision := range []dataset.Precision{dataset.Float64, dataset.Float32} {
			b.Run(fmt.Sprintf("d=%d/%s", d, precision), func(b *testing.B) {
				n := (128 << 20) / 8 / d
				path := filepath.Join(b.TempDir(), "x.npy")
				raw := fmt.Appendf([]byte("\x93NUMPY\x01\x00\x76\x00"), "%-117s\n", fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", n, d))
				r := rand.New(rand.NewPCG(1, 2))
				for range n * d {
					raw = binary.LittleEndian.AppendUint64(raw, math.Float64bits(r.NormFloat64()))
				}
				if err := os.WriteFile(path, raw, 0o600); err != nil {
					b.Fatal(err)
				}
				q := dataset.Request{Missing: dataset.MissingError, Precision: precision}
				x := make([]float64, d)
				for j := range d {
					q.Columns = append(q.Columns, dataset.Column{Name: fmt.Sprint("c", j), Scale: 1})
					x[j] = 1 / math.Sqrt(float64(d))
				}
				s := dataset.Source{Path: path}
				cache, err := rowcache.Open(filepath.Join(b.TempDir(), "cache"))
				if err != nil {
					b.Fatal(err)
				}
				stored, err := cache.Load(s, q, "bench", dataset.ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				defer func() {
					if err := errors.Join(stored.Close(), cache.Close()); err != nil {
						b.Error(err)
					}
				}()
				read, err := dataset.Read(s, q, dataset.ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				var spent [2][]float64
				var rows [2]*clip.Matrix
				for i, from := range []*dataset.Rows{read, &stored.Rows} {
					if rows[i], err = sitedata.Matrix(from); err != nil {
						b.Fatal(err)
					}
				}
				ask := clip.Query{Map: clip.Power, X: x, Radius: 4, Grid: 0x1p-20}
				for b.Loop() {
					for i, m := range rows {
						start := time.Now()
						if _, err := clip.Sum(m, ask, 1); err != nil {
							b.Fatal(err)
						}
						spent[i] = append(spent[i], time.Since(start).Seconds())
					}
				}
				best := slices.Min(spent[1]) / slices.Min(spent[0])
				for i := range spent {
					slices.Sort(spent[i])
				}
				middle := len(spent[0]) / 2
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(spent[1][middle]/spent[0][middle], "file/memory-median")
				b.ReportMetric(best, "file/memory-best")
			})
		}
	}
}
