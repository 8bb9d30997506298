package replica

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLostLogIsNotBegunAnew: where the mark of an applied entry, or a snapshot, is left of a log
// that is gone or empty, it is not begun anew. Where nothing is left a new one is.
func TestLostLogIsNotBegunAnew(t *testing.T) {
	for _, c := range []struct {
		name     string
		snapshot bool
		gone     []string // of raft/
		empty    bool
		refused  bool
	}{
		{name: "a mark", gone: []string{"raft.db"}, refused: true},
		{name: "a mark, and an empty log", empty: true, refused: true},
		{name: "a snapshot", snapshot: true, gone: []string{"raft.db", "applied"}, refused: true},
		{name: "nothing", gone: []string{"raft.db", "applied"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, "raft", name) }
			n := mustOpen(t, dir, &list{}, Options{})
			apply(t, n, numbered(0, 5)...)
			if c.snapshot {
				must(t, n.Snapshot())
			}
			must(t, n.Close())
			for _, name := range c.gone {
				must(t, os.Remove(in(name)))
			}
			if c.empty {
				must(t, os.Truncate(in("raft.db"), 0))
			}
			for range 2 {
				n, err := Open(dir, &list{}, Options{})
				if n != nil {
					must(t, n.Close())
				}
				failed, ok := errors.AsType[*StoreError](err)
				if ok != c.refused || err != nil && (!ok || !strings.Contains(failed.Error(), "the log was lost: restore the whole data folder")) {
					t.Fatalf("%v, want refused: %v", err, c.refused)
				}
			}
		})
	}
}
