package site

import (
	"os"
	"syscall"
)

// enough is how many bytes must be free where folders are to be in memory.
const enough = 2 << 30

// InMemory has the test process make its temporary folders on no disk, where there is such a place
// with room: agents sync their files at every step, and wait for a disk most of the time. Of a
// TestMain. A disk's own behavior is what tests of package ledger are about, which stay on one.
func InMemory() {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs("/dev/shm", &fs) != nil || fs.Bavail*uint64(fs.Bsize) < enough {
		return
	}
	if f, err := os.CreateTemp("/dev/shm", "covey-"); err == nil { // it can be written
		f.Close()
		os.Remove(f.Name())
		os.Setenv("TMPDIR", "/dev/shm")
	}
}
