// Package cost holds tests and benchmarks to memory and processor time, and writes the files that
// they read.
package cost

import (
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"
)

// File writes a file in a folder of the test's and returns its path.
func File(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Bounded runs f and fails where it has taken more memory than limit: what a file says of its size
// is no reason to take memory.
func Bounded(t *testing.T, limit uint64, f func()) {
	t.Helper()
	taken := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(taken)
	before := taken[0].Value.Uint64()
	f()
	metrics.Read(taken)
	if n := taken[0].Value.Uint64() - before; n > limit {
		t.Fatalf("%d MiB were taken", n>>20)
	}
}
