package doctor

import (
	"encoding/binary"
	"slices"
	"syscall"
	"testing"

	"covey/internal/pki"
	"covey/internal/siteconfig"
)

// TestCheckCutShortLeavesNoFile: the file that is written to see whether a folder takes one has no
// name by the first write, so that nothing is left of a check that is killed from then on.
func TestCheckCutShortLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := pki.ReplaceFile(dir+"/agent.toml", []byte("site = \"a\"\ncoordinator = [\"127.0.0.1:1\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := siteconfig.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(watch)
	if _, err := syscall.InotifyAddWatch(watch, c.DataDir(), syscall.IN_CREATE|syscall.IN_DELETE|syscall.IN_MODIFY); err != nil {
		t.Fatal(err)
	}
	if err := writable(c); err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 64<<10)
	n, err := syscall.Read(watch, raw)
	if err != nil {
		t.Fatal(err)
	}
	var seen []uint32
	for at := 0; at+syscall.SizeofInotifyEvent <= n; {
		seen = append(seen, binary.NativeEndian.Uint32(raw[at+4:]))
		at += syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(raw[at+12:]))
	}
	made, gone, written := slices.Index(seen, syscall.IN_CREATE), slices.Index(seen, syscall.IN_DELETE), slices.Index(seen, syscall.IN_MODIFY)
	if made < 0 || gone < made || written >= 0 && written < gone {
		t.Errorf("inotify's events in order: %#x", seen)
	}
}
