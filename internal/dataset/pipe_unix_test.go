//go:build unix

package dataset

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv") // nobody writes to it, and nobody waits
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := InspectCSV(pipe, ""); err == nil || err.Error() != pipe+": cannot be read: is a pipe or a device, and no file" {
		t.Fatal(err)
	}
}
