//go:build !unix

package parquet

import "testing"

func perCore(b *testing.B, size int64, f func()) {
	b.SetBytes(size)
	for b.Loop() {
		f()
	}
}
