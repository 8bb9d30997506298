package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fullDir is in the environment of TestO5FullFileSystem's child process.
const fullDir = "COVEY_TEST_FULL_DIR"

// TestO5FullFileSystem runs itself once more on a small tmpfs of its own and fills
// it. It needs the right to mount one, as root has.
func TestO5FullFileSystem(t *testing.T) {
	if dir := os.Getenv(fullDir); dir != "" {
		fillUp(t, dir)
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const mount = `mount -t tmpfs -o size=4m tmpfs "$0"`
	if out, err := exec.Command("unshare", "--mount", "sh", "-c", mount, dir).CombinedOutput(); err != nil {
		t.Logf("NOT TESTED: no tmpfs can be mounted here (%v: %s). Run this as root.", err, bytes.TrimSpace(out))
		return
	}
	c := exec.Command("unshare", "--mount", "sh", "-c", mount+` && exec "$@"`, dir, self, "-test.run=^TestO5FullFileSystem$", "-test.v")
	c.Env = append(os.Environ(), fullDir+"="+dir)
	if out, err := c.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("the disk was full 3 times")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func fillUp(t *testing.T, dir string) {
	ballast := filepath.Join(dir, "ballast")
	var acked []string
	next := 0
	for range 3 {
		node, err := Open(dir, &list{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(f, zeros{}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if info, err := f.Stat(); err != nil || f.Truncate(info.Size()-100_000) != nil {
			t.Fatal("the ballast cannot be made smaller")
		}
		f.Close()
		for err = nil; err == nil && next < 10_000; next++ {
			entry := fmt.Sprint(next, strings.Repeat(" padding", 200))
			if _, err = node.Apply(context.Background(), []byte(entry)); err == nil {
				acked = append(acked, entry)
			}
		}
		if failed, ok := errors.AsType[*StoreError](err); !ok || !strings.Contains(failed.Error(), syscall.ENOSPC.Error()) || !strings.Contains(failed.Error(), "free some space") {
			t.Fatalf("the disk is full: %v", err)
		}
		node.Close()
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		m := &list{}
		if node, err = Open(dir, m, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, entry := range acked {
			if !slices.Contains(m.entries, entry) {
				t.Fatalf("acknowledged entry %.8q is lost", entry)
			}
		}
		node.Close()
	}
	t.Logf("the disk was full 3 times; %d entries were acknowledged and all are there", len(acked))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
