package ledger

import (
	"os"
	"syscall"
)

// dataFile is a file whose Sync leaves its times alone: what was written, and its size, are durable.
type dataFile struct{ *os.File }

func (f dataFile) Sync() error {
	c, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = c.Control(func(fd uintptr) {
		for failed = syscall.EINTR; failed == syscall.EINTR; {
			failed = syscall.Fdatasync(int(fd))
		}
	})
	if err == nil && failed != nil {
		err = os.NewSyscallError("fdatasync", failed)
	}
	return err
}
