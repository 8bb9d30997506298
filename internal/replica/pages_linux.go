package replica

import (
	"bytes"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// rest lets the system take back the pages of a file that this process has mapped to read. They are
// a file's, so that locking them (internal/memory) keeps nothing off the disk; they come back from
// the system's file cache as they are read. Nothing may map the file anew meanwhile: what is at its
// old addresses then would be lost. A failure leaves the pages in memory.
func rest(path string) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range bytes.Lines(maps) {
		about, ok := bytes.CutSuffix(bytes.TrimSpace(line), []byte(" "+path))
		var from, to uintptr
		var may string
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(string(about), "%x-%x %s", &from, &to, &may); err == nil && may == "r--s" {
			unix.Syscall(unix.SYS_MUNLOCK, from, to-from, 0)
			unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_DONTNEED)
		}
	}
}
