package ledger

import (
	"os"
	"syscall"
)

// dataFile is a file whose Sync makes what was written, and its size, durable, and not its times.
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
