//go:build unix

package kernel

import (
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// cpu returns the time that this process has had of all cores. What other programs take of a core
// does not count.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mapped returns values from a file without a name that is mapped to be read, until the test ends.
func mapped(t testing.TB, values []float64) []float64 {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "rows")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), 8*len(values))); err != nil {
		t.Fatal(err)
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, 8*len(values), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(b) })
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), len(values))
}
