package replica

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
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
