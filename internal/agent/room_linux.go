package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// free returns how many bytes this process may still write to a file's disk.
func free(file *os.File) (bytes uint64, known bool) {
	var s unix.Statfs_t
	err := unix.Fstatfs(int(file.Fd()), &s)
	return s.Bavail * uint64(s.Bsize), err == nil
}
