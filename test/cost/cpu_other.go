//go:build !unix

package cost

import "testing"

// PerCore reports bytes a second alone where the processor time of a process is not known.
func PerCore(b *testing.B, size int64, f func()) {
	b.SetBytes(size)
	for b.Loop() {
		f()
	}
}
