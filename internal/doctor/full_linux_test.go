package doctor

import (
	"errors"
	"os/signal"
	"syscall"
	"testing"

	"covey/internal/pki"
	"covey/internal/siteconfig"
)

// TestFullDiskIsNotWritable: a file system that is full makes an empty file even so. A limit on the
// size of files stands for it.
func TestFullDiskIsNotWritable(t *testing.T) {
	dir := t.TempDir()
	if err := pki.ReplaceFile(dir+"/agent.toml", []byte("site = \"a\"\ncoordinator = [\"127.0.0.1:1\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := siteconfig.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := writable(c); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // a write is then an error
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16 << 10, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)
	if err := writable(c); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a folder with no room: %v", err)
	}
}
