package replica

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
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

// TestOlderLogIsRefused: an older raft.db in place of the log is refused, again and again, until
// the newer one is back, which lost nothing, or the mark is moved away. A newer snapshot may stand
// for what the log lacks.
func TestOlderLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	log, mark := filepath.Join(dir, "raft", "raft.db"), filepath.Join(dir, "raft", "applied")
	run := func(from, to int) {
		n := mustOpen(t, dir, &list{}, Options{})
		apply(t, n, numbered(from, to)...)
		must(t, n.Close())
	}
	starts := func(entries int) {
		t.Helper()
		m := &list{}
		n := mustOpen(t, dir, m, Options{})
		must(t, n.Close())
		if got := m.all(); !slices.Equal(got, numbered(0, entries)) {
			t.Errorf("%q, want %d entries", got, entries)
		}
	}
	run(0, 3)
	older, err := os.ReadFile(log)
	must(t, err)
	run(3, 6)
	newer, err := os.ReadFile(log)
	must(t, err)

	must(t, os.WriteFile(log, older, 0o600))
	for range 2 {
		n, err := Open(dir, &list{}, Options{})
		if n != nil {
			must(t, n.Close())
		}
		if at, ok := errors.AsType[olderLog](err); !ok || at.end >= at.applied {
			t.Fatalf("an older log: %v", err)
		}
	}
	must(t, os.WriteFile(log, newer, 0o600))
	starts(6)
	must(t, os.WriteFile(log, older, 0o600))
	must(t, os.Remove(mark))
	starts(3)

	must(t, os.WriteFile(log, newer, 0o600))
	n := mustOpen(t, dir, &list{}, Options{})
	must(t, n.Snapshot())
	must(t, n.Close())
	must(t, os.WriteFile(log, older, 0o600))
	starts(6)
}

// TestUnreadableSnapshotIsNamed: a snapshot that this user may not read is no lost one: raft would
// pass over it, and the log that begins after it would seem to be damaged. The start fails, names
// the file, and succeeds once it can be read.
func TestUnreadableSnapshotIsNamed(t *testing.T) {
	for _, name := range []string{"meta.json", "state.bin"} {
		dir := t.TempDir()
		n := mustOpen(t, dir, &list{}, Options{})
		apply(t, n, numbered(0, 5)...)
		must(t, n.Snapshot())
		must(t, n.Close())
		found, err := filepath.Glob(filepath.Join(dir, "raft", "snapshots", "*", name))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		path := found[0]
		must(t, os.Rename(path, path+".kept"))
		must(t, os.Symlink(name, path)) // no user can open it, root neither
		n, err = Open(dir, &list{}, Options{})
		if n != nil {
			must(t, n.Close())
		}
		failed, ok := errors.AsType[*StoreError](err)
		if _, lost := errors.AsType[*LostError](err); !ok || lost || !strings.Contains(failed.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, os.Rename(path+".kept", path))
		m := &list{}
		n = mustOpen(t, dir, m, Options{})
		if got := m.all(); !slices.Equal(got, numbered(0, 5)) {
			t.Errorf("%s: %q", name, got)
		}
		must(t, n.Close())
		if left, err := filepath.Glob(filepath.Join(dir, "raft", "snapshots", "*.tmp")); err != nil || len(left) > 0 {
			t.Errorf("%v are left, %v", left, err)
		}
	}
}
