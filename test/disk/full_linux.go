package disk

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// Full begins something in an empty folder under one limit to the length of files after another, as
// where a disk is full, and then without: whatever the first attempt left, the second one begins,
// and is used. Attempts that fail do so with an E. The limit is a process's, so that the test runs
// once more in one of its own.
func Full[E error, C io.Closer](t *testing.T, begin func(dir string) (C, error), use func(C) error) {
	t.Helper()
	const child = "COVEY_TEST_FULL_DISK"
	if os.Getenv(child) == "" {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), child+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for limit := uint64(0); limit <= 40<<10; limit += 3 << 10 {
		dir := filepath.Join(t.TempDir(), "begun")
		full := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: was.Max})
		c, err := begin(dir)
		if again := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); full != nil || again != nil {
			t.Fatal(full, again)
		}
		if err == nil {
			err = c.Close()
		} else if _, ok := errors.AsType[E](err); ok {
			failed, err = failed+1, nil
		}
		if err != nil {
			t.Errorf("with a limit of %d bytes: %v", limit, err)
		}
		if c, err = begin(dir); err != nil {
			t.Errorf("after a limit of %d bytes: %v", limit, err)
			continue
		}
		if err := errors.Join(use(c), c.Close()); err != nil {
			t.Errorf("after a limit of %d bytes: %v", limit, err)
		}
	}
	if failed < 6 {
		t.Errorf("%d attempts met a full disk", failed)
	}
}
