//go:build unix

package cost

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// PerCore reports bytes a second of processor time, all threads', which other
// programs on the machine change less than they change a clock's.
func PerCore(b *testing.B, size int64, f func()) {
	b.Helper()
	b.SetBytes(size)
	before := used(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(used(b)-before).Seconds(), "MB/cpu-s")
}

func used(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
