package dataset

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"testing"
)

// BenchmarkCache compares what a study's data costs: made from CSV (with the fsync), found
// again (the source's hash, the mapping, the checksums), both by the source's bytes, and the
// parts of the latter. Files are in the page cache.
//
//	go test ./internal/dataset -run '^$' -bench Cache -benchtime 5x -cpu 1
func BenchmarkCache(b *testing.B) {
	path, columns := benchCSV(b, 64<<20, 64, func(r *rand.Rand) string { return fmt.Sprint(r.NormFloat64()) })
	s, q := Source{Path: path}, Request{Columns: columns, Missing: MissingError}
	c := openCache(b)
	stored := load(b, c, s, q, "bench")
	source, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("convert", func(b *testing.B) {
		perCore(b, source.Size(), func() {
			d, _, err := c.convert(s, q, ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if err := d.abandon(); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("load and verify", func(b *testing.B) {
		perCore(b, source.Size(), func() {
			again, err := c.Load(s, q, "bench", ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			if err := errors.Join(again.Verify(), again.Close()); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("verify", func(b *testing.B) {
		perCore(b, stored.size, func() {
			if err := stored.Verify(); err != nil {
				b.Fatal(err)
			}
		})
	})
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("sha-256 of the source in memory", func(b *testing.B) {
		perCore(b, int64(len(text)), func() {
			sha256.Sum256(text)
		})
	})
	b.Run("crc-32c in memory", func(b *testing.B) {
		perCore(b, int64(len(text)), func() {
			crc32.Checksum(text, castagnoli)
		})
	})
}
