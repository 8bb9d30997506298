package replica

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLogsPagesAreGivenBack: what was written to the log, and read of it at a start, does not stay
// in this process's memory, though the file is mapped anew as it grows.
func TestLogsPagesAreGivenBack(t *testing.T) {
	dir, m := t.TempDir(), &list{}
	const entries, size = 12, 2 << 20
	for start := range 2 {
		n, err := Open(dir, m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.entries) != start*entries {
			t.Errorf("start %d has %d entries", start, len(m.entries))
		}
		for i := range entries * (1 - start) {
			if _, err := n.Apply(context.Background(), bytes.Repeat([]byte{'a' + byte(i)}, size)); err != nil {
				t.Fatal(err)
			}
		}
		if resident := resident(t, "raft.db"); resident > 2*size {
			t.Errorf("start %d: %d bytes of %d are in memory", start, resident, entries*size)
		}
		for i, e := range m.entries {
			if len(e) != size || strings.Trim(e, string(rune('a'+i))) != "" {
				t.Errorf("start %d: entry %d is another", start, i)
			}
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		m = &list{}
	}
}

// TestNothingIsGivenBackAfterClose: what a file's addresses hold once it is closed is another's.
func TestNothingIsGivenBackAfterClose(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
	must(t, err)
	defer f.Close()
	must(t, f.Truncate(1<<12))
	m, err := unix.Mmap(int(f.Fd()), 0, 1<<12, unix.PROT_READ, unix.MAP_SHARED)
	must(t, err)
	defer unix.Munmap(m)
	p := &pages{path: plain(f.Name())}
	for _, want := range []int{0, 1 << 12} {
		if m[0] != 0 || resident(t, "mapped") != 1<<12 {
			t.Fatal("the page is not read")
		}
		p.read(2 * restAfter)
		if got := resident(t, "mapped"); got != want {
			t.Errorf("%d bytes are in memory, want %d", got, want)
		}
		must(t, p.close(nil))
	}
}

// resident is how much of a mapped file this process has in memory.
func resident(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	_, of, ok := strings.Cut(string(text), "/"+name+"\n")
	if !ok {
		t.Fatalf("%s is not mapped", name)
	}
	_, of, _ = strings.Cut(of, "Rss:")
	n, err := strconv.Atoi(strings.Fields(of)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
