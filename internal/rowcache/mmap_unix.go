//go:build unix

package rowcache

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first size bytes read-only.
func mapFile(f *os.File, size int) (data []byte, unmap func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	// An agent locks its memory (internal/memory). These pages are a file's, which lies on a disk
	// anyway, and may be more than the machine's memory. A failure leaves them locked.
	unix.Munlock(data)
	return data, func() error { return unix.Munmap(data) }, nil
}

// rest lets the system take a mapping's pages back. A failure leaves them in memory.
func rest(data []byte) { unix.Madvise(data, unix.MADV_DONTNEED) }
