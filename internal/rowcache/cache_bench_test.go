package rowcache

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"covey/internal/dataset"
	"covey/test/cost"
	"covey/test/rows"
)

// BenchmarkCache compares what a study's data costs: made from CSV (with the fsync), found
// again (the source's hash, the mapping, the checksums), both by the source's bytes, and the
// parts of the latter. Files are in the page cache.
//
//	go test ./internal/rowcache -run '^$' -bench Cache -benchtime 5x -cpu 1
func BenchmarkCache(b *testing.B) {
	r, q := rand.New(rand.NewPCG(1, 2)), dataset.Request{Missing: dataset.MissingError}
	var csv strings.Builder
	for j := range 64 {
		fmt.Fprintf(&csv, "c%d,", j)
		q.Columns = append(q.Columns, dataset.Column{Name: fmt.Sprint("c", j), Offset: 0.5, Scale: 2})
	}
	for csv.Len() < 64<<20 {
		csv.WriteByte('\n')
		for range q.Columns {
			fmt.Fprint(&csv, r.NormFloat64(), ",")
		}
	}
	s := dataset.Source{Path: write(b, csv.String())}
	c := rows.Open(b, Open)
	stored := rows.Load(b, c.Load, s, q, "bench")
	source, err := os.Stat(s.Path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("convert", func(b *testing.B) {
		cost.PerCore(b, source.Size(), func() {
			d, _, err := c.convert(s, q, dataset.ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if err := d.abandon(); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("load and verify", func(b *testing.B) {
		cost.PerCore(b, source.Size(), func() {
			again, err := c.Load(s, q, "bench", dataset.ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if err := errors.Join(again.Verify(), again.Close()); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("verify", func(b *testing.B) {
		b.SetBytes(stored.size)
		for b.Loop() {
			if err := stored.Verify(); err != nil {
				b.Fatal(err)
			}
		}
	})
	text, err := os.ReadFile(s.Path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sha-256 of the source in memory", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			sha256.Sum256(text)
		}
	})
	b.Run("crc-32c in memory", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			crc32.Checksum(text, castagnoli)
		}
	})
}
