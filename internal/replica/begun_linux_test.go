package replica

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// TestBegunOnAFullDisk: a first start that a full disk ends, wherever, is done again by the next
// one: nothing was ever in this log. It runs itself once more, with a limit on the sizes of
// files.
func TestBegunOnAFullDisk(t *testing.T) {
	const child = "COVEY_TEST_BEGUN"
	if os.Getenv(child) == "" {
		self, err := os.Executable()
		must(t, err)
		c := exec.Command(self, "-test.run=^TestBegunOnAFullDisk$")
		c.Env = append(os.Environ(), child+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	failed := 0
	for limit := uint64(0); limit <= 40<<10; limit += 3 << 10 {
		dir := t.TempDir()
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: was.Max}))
		n, err := Open(dir, &list{}, Options{})
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was))
		if err == nil {
			must(t, n.Close())
		} else if _, ok := errors.AsType[*StoreError](err); !ok {
			t.Errorf("a limit of %d bytes: %v", limit, err)
		} else {
			failed++
		}
		if n, err = Open(dir, &list{}, Options{}); err != nil {
			t.Errorf("after a limit of %d bytes: %v", limit, err)
			continue
		}
		apply(t, n, "entry")
		must(t, n.Close())
	}
	if failed < 6 {
		t.Errorf("%d starts met a full disk", failed)
	}
}
