package replica

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
)

// TestDiskIsToldWhatToDo: where the disk is full, read-only or broken, the error says what to do.
func TestDiskIsToldWhatToDo(t *testing.T) {
	for err, says := range map[error]string{
		syscall.ENOSPC: "free some space", syscall.EDQUOT: "free some space",
		syscall.EROFS: "once the disk can be written", fmt.Errorf("fsync: %w", syscall.EIO): "once the disk can be written",
		io.ErrUnexpectedEOF: "",
	} {
		got := (&StoreError{Op: "wrote", Err: err}).Error()
		if !strings.Contains(got, says) || says == "" && strings.Contains(got, "start this") {
			t.Errorf("%v: %s", err, got)
		}
	}
}
