package ledger

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The child process of TestFullFileSystem finds these in its environment.
const (
	fullDir   = "COVEY_TEST_FULL_DIR"
	fullLimit = "COVEY_TEST_FULL_LIMIT" // a limit on file sizes stands for a full file system
)

// TestFullFileSystem runs itself once more on a small tmpfs of its own, and fills that.
// Where it may not mount one, a limit on the size of files stands for it, and the log
// says so.
func TestFullFileSystem(t *testing.T) {
	if dir := os.Getenv(fullDir); dir != "" {
		fillUp(t, dir, os.Getenv(fullLimit) != "")
		return
	}
	self, err := os.Executable()
	must(t, err)
	dir := t.TempDir()
	args := []string{"-test.run=^TestFullFileSystem$", "-test.v"}
	c := exec.Command("unshare", append([]string{"--mount", "sh", "-c", `mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"`, dir, self}, args...)...)
	c.Env = append(os.Environ(), fullDir+"="+dir)
	if out, err := exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=2m tmpfs "$0"`, dir).CombinedOutput(); err != nil {
		t.Logf("NOT A FULL FILE SYSTEM: no tmpfs can be mounted here (%v: %s); a limit on file sizes is used in its place. Run this as root.", err, bytes.TrimSpace(out))
		c = exec.Command(self, args...)
		c.Env = append(os.Environ(), fullDir+"="+dir, fullLimit+"=1")
	}
	out, err := c.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("the disk was full 4 times")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// fillUp works on a ledger until the disk is full, with other leftovers each time.
func fillUp(t *testing.T, dir string, limit bool) {
	full, free, want := diskOf(t, dir)
	if limit {
		full, free, want = sizeLimit(t)
	}
	acked := map[int][]byte{} // uploads that were answered, by slot
	path, next := filepath.Join(dir, "ledger"), 0
	l := mustOpen(t, path)
	must(t, l.Approve(Approval{Study: study(1), Population: "p", Rho: 1e6, CapRho: 1e6, By: "policy", Time: at}))
	for left := range 4 {
		full(path, left*5000)
		var failed *StoreError
		for failed == nil && next < 1000 {
			v := bytes.Repeat([]byte{byte(next)}, 3000)
			err := l.Journal(study(1)).PutSlot(next, []byte("slot"))
			if err == nil {
				_, err = l.Journal(study(1)).Upload(next, next, context("c"), 1, func() ([]byte, error) { return v, nil })
				if err == nil {
					acked[next] = v
				}
			}
			var ok bool
			if failed, ok = errors.AsType[*StoreError](err); err != nil && !ok {
				t.Fatalf("upload %d: %v", next, err)
			}
			next++
		}
		// bbolt keeps the words of an error, not always the error.
		if failed == nil || !strings.Contains(failed.Error(), want.Error()) {
			t.Fatalf("the disk is full: %v, want %q", failed, want)
		}
		if told := strings.Contains(failed.Error(), "free some space"); told != (want == syscall.ENOSPC) {
			t.Errorf("what to do next is told %v: %v", told, failed)
		}
		if err := l.Charge(study(1), next, 1); err != error(failed) {
			t.Errorf("after the failure: %v", err)
		}
		must(t, l.Close())
		for _, state := range []string{"still full", "free again"} {
			if state == "free again" {
				free()
			}
			var err error
			if l, err = Open(path); err != nil {
				t.Fatalf("%s: %v", state, err)
			}
			for slot, v := range acked {
				// Only the last query's uploads are answered again; the records and
				// the bytes of all are there.
				if q, ok, err := l.Journal(study(1)).UploadedIn(slot); err != nil || !ok || q != slot {
					t.Errorf("%s: upload %d is not on record: %v", state, slot, err)
				}
				got, err := l.Journal(study(1)).Upload(slot, slot, context("c"), 1, func() ([]byte, error) { return nil, errors.New("computed again") })
				if err != nil || !bytes.Equal(got, v) {
					t.Errorf("%s: upload %d: %d bytes, %v", state, slot, len(got), err)
				}
			}
			if p := l.Populations()[0]; p.SpentRho < float64(len(acked)) {
				t.Errorf("%s: %g spent, %d uploads were charged", state, p.SpentRho, len(acked))
			}
			if state == "still full" {
				must(t, l.Close())
			}
		}
	}
	defer l.Close()
	if len(acked) < 20 {
		t.Errorf("only %d uploads fitted", len(acked))
	}
	t.Logf("the disk was full 4 times; %d uploads were answered and all are there", len(acked))
}

// diskOf fills the rest of dir's file system up to about left bytes, and frees it.
func diskOf(t *testing.T, dir string) (full func(ledger string, left int), free func(), want error) {
	ballast := filepath.Join(dir, "ballast")
	return func(_ string, left int) {
		f, err := os.Create(ballast)
		must(t, err)
		size, err := io.Copy(f, zeros{})
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("%d bytes fit on a small disk: %v", size, err)
		}
		info, err := f.Stat()
		must(t, err)
		must(t, f.Truncate(info.Size()-200_000-int64(left)))
		must(t, f.Close())
	}, func() { must(t, os.Remove(ballast)) }, syscall.ENOSPC
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// sizeLimit keeps files from growing past the ledger's present size and a little.
func sizeLimit(t *testing.T) (full func(ledger string, left int), free func(), want error) {
	signal.Ignore(syscall.SIGXFSZ) // a write is then an error
	var was syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was))
	set := func(most uint64) {
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: was.Max}))
	}
	return func(ledger string, left int) {
		info, err := os.Stat(filepath.Join(ledger, dbName))
		must(t, err)
		set(3*uint64(info.Size()) + uint64(left)) // the database grows by doubling
	}, func() { set(was.Cur) }, syscall.EFBIG
}
