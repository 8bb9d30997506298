package replica

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
)

// TestDecidedIsNotDeleted: where a leader's log contradicts this one, entries that were not applied
// here are deleted, and what was applied is not, also after a restart: the node ends instead. A log
// that is compacted goes on.
func TestDecidedIsNotDeleted(t *testing.T) {
	for _, c := range []struct {
		min, max    uint64
		contradicts bool
	}{
		{1, 4, false}, {7, 10, false}, {10, 10, false}, {6, 10, true}, {1, 10, true}, {5, 12, true},
	} {
		logs := raft.NewInmemStore()
		for i := uint64(1); i <= 10; i++ {
			must(t, logs.StoreLog(&raft.Log{Index: i}))
		}
		path := filepath.Join(t.TempDir(), "applied")
		var before mark
		must(t, before.open(path, 10))
		for i := uint64(3); i <= 6; i++ {
			before.applied(i)
		}
		before.applied(2) // a start applies the log anew
		must(t, before.close())

		s := &store{logs: logs, latch: newLatch()}
		must(t, s.mark.open(path, 10))
		err := s.DeleteRange(c.min, c.max)
		if at, ok := errors.AsType[contradicted](err); ok != c.contradicts || ok && (at.index != c.min || s.get() == nil) {
			t.Errorf("%d to %d: %v", c.min, c.max, err)
		}
		// with which the program exits so that no supervisor starts it again
		if _, lost := errors.AsType[*LostError](err); lost != c.contradicts {
			t.Errorf("%d to %d: a lost log: %v", c.min, c.max, lost)
		}
		first, _ := logs.FirstIndex()
		last, _ := logs.LastIndex()
		if gone := first != 1 || last != 10; gone == c.contradicts {
			t.Errorf("%d to %d: %d to %d are left", c.min, c.max, first, last)
		}
		must(t, s.mark.close())
	}
}

// TestDecidedIsNotReplaced: a leader that compacted its other log sends a snapshot, which is not
// put before what was applied here; one of this log is, whether this node makes it or a leader.
func TestDecidedIsNotReplaced(t *testing.T) {
	for _, c := range []struct {
		index, term uint64
		contradicts bool
	}{
		{11, 4, false}, {10, 3, false}, {8, 3, false}, {7, 2, false}, {4, 2, false}, {3, 1, false},
		{10, 4, true}, {8, 4, true}, {7, 3, true}, {4, 3, true}, {3, 4, true},
	} {
		logs, l := raft.NewInmemStore(), newLatch()
		for i := uint64(5); i <= 10; i++ {
			must(t, logs.StoreLog(&raft.Log{Index: i, Term: 2 + i/8}))
		}
		log := &store{logs: logs, latch: l}
		s := &snapshots{SnapshotStore: raft.NewInmemSnapshotStore(), log: log, latch: l}
		_, trans := raft.NewInmemTransport("")
		create := func(index, term uint64) error {
			sink, err := s.Create(1, index, term, raft.Configuration{}, 1, trans)
			if err == nil {
				err = sink.Close()
			}
			return err
		}
		must(t, create(4, 2))
		log.mark.applied(10)
		err := create(c.index, c.term)
		if at, ok := errors.AsType[contradicted](err); ok != c.contradicts || (err != nil) != ok || ok && (at.index != c.index || l.get() == nil) {
			t.Errorf("%d of term %d: %v", c.index, c.term, err)
		}
		if all, _ := s.SnapshotStore.List(); c.contradicts && all[0].Index != 4 {
			t.Errorf("%d of term %d is in place of the snapshot before", c.index, c.term)
		}
	}
}

// TestMarkOfARun: the mark is that of the last entry, is read by the next run, and counts for
// nothing beyond the log's end, or where it was cut short.
func TestMarkOfARun(t *testing.T) {
	dir := t.TempDir()
	n := mustOpen(t, dir, &list{}, Options{})
	apply(t, n, numbered(0, 5)...)
	last := n.mark.index.Load()
	must(t, n.Close())
	if last < 5 {
		t.Fatalf("%d after 5 entries", last)
	}
	path := filepath.Join(dir, "raft", "applied")
	for end, want := range map[uint64]uint64{last + 3: last, last: last, last - 2: last - 2, 0: 0} {
		var m mark
		must(t, m.open(path, end))
		if got := m.index.Load(); got != want {
			t.Errorf("%d with a log to %d, want %d", got, end, want)
		}
		must(t, m.close())
	}
	for _, text := range []string{"", "cut", strings.Repeat("\x01", 16)} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
		var m mark
		must(t, m.open(path, last))
		if got := m.index.Load(); got != 0 {
			t.Errorf("%q is %d", text, got)
		}
		must(t, m.close())
	}
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o700))
	_, err := Open(dir, &list{}, Options{})
	if failed, ok := errors.AsType[*StoreError](err); !ok || !strings.Contains(failed.Error(), path) {
		t.Errorf("a mark that cannot be opened: %v", err)
	}
	must(t, os.Remove(path))
	mustOpen(t, dir, &list{}, Options{}) // the store is free again
}

// TestSnapshotIsJudgedByWhatItIsOf: what was applied before this run must be in a leader's snapshot
// as far as that goes, and no farther. One that this node restores at its start is never removed.
// One that comes late, after entries that this run applied, is, and ends nothing.
func TestSnapshotIsJudgedByWhatItIsOf(t *testing.T) {
	for _, c := range []struct {
		index, has       int
		sent, late, ends bool
	}{
		{7, 7, true, false, false}, {10, 10, true, false, false}, {12, 12, true, false, false}, {7, 6, true, false, true}, {12, 9, true, false, true}, {7, 3, false, false, true},
		{7, 7, true, true, false}, {10, 9, true, true, true}, {12, 9, true, true, true},
	} {
		logs, l, dir := raft.NewInmemStore(), newLatch(), t.TempDir()
		for i, entry := range numbered(0, 10) {
			must(t, logs.StoreLog(&raft.Log{Index: uint64(i + 1), Data: []byte(entry)}))
		}
		st := &store{logs: logs, latch: l}
		st.mark.index.Store(10)
		m := &grows{}
		f := &machine{m: m, mark: &st.mark, snaps: &snapshots{SnapshotStore: raft.NewInmemSnapshotStore(), dir: dir, log: st, latch: l}, backlog: &backlog{}, latch: l}
		if !c.sent || c.late {
			must(t, f.recall(10))
		}
		must(t, os.Mkdir(filepath.Join(dir, "one"), 0o700))
		text := strings.Join(numbered(0, c.has), "\n")
		err := f.Restore(source{io.NopCloser(strings.NewReader(text)), raft.SnapshotMeta{ID: "one", Index: uint64(c.index)}, c.sent})
		if (err != nil) != (c.ends || c.late) || (l.get() != nil) != c.ends {
			t.Errorf("%+v: %v", c, err)
		}
		if c.late && !c.ends {
			c.has = 10
		}
		if !c.ends && (len(m.all()) != c.has || f.index != uint64(c.has)) {
			t.Errorf("%+v: %q, up to %d", c, m.all(), f.index)
		}
		if _, err := os.Stat(filepath.Join(dir, "one")); (err != nil) != ((c.ends || c.late) && c.sent) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestLeadersSnapshotIsJudgedAfterACrash: a leader's snapshot that a crash left in place before it
// was judged is judged by the next start: one of another past is removed, and the log kept. One
// that was judged, for which the log was compacted, stays.
func TestLeadersSnapshotIsJudgedAfterACrash(t *testing.T) {
	opts := Options{SnapshotThreshold: 4} // 1 entry of log is kept behind a snapshot
	for _, c := range []struct {
		name           string
		own, compacted bool // there is an older snapshot; the log before is gone
		has            int  // of the 6 entries here, in the leader's snapshot
		ends           bool
	}{
		{"of another past", false, false, 5, true},
		{"of this past", false, false, 6, false},
		{"of another past, snapshots here", true, false, 4, true},
		{"of this past, snapshots here", true, false, 6, false},
		{"judged before", true, true, 6, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			n := mustOpen(t, dir, &grows{}, opts)
			apply(t, n, numbered(0, 3)...)
			if c.own {
				must(t, n.Snapshot())
			}
			apply(t, n, numbered(3, 6)...)
			configuration := n.raft.GetConfiguration().Configuration()
			must(t, n.Close())

			files, err := raft.NewFileSnapshotStoreWithLogger(filepath.Join(dir, "raft"), retain, newBridge(nil))
			must(t, err)
			_, trans := raft.NewInmemTransport("")
			sink, err := files.Create(1, 50, 9, configuration, 1, trans)
			must(t, err)
			theirs := append(numbered(0, c.has), numbered(50, 60)...)
			_, err = io.WriteString(sink, strings.Join(theirs, "\n"))
			must(t, err)
			must(t, sink.Close())
			if c.compacted {
				db, err := openBolt(filepath.Join(dir, "raft", "raft.db"))
				must(t, err)
				last, err := db.LastIndex()
				must(t, err)
				must(t, db.DeleteRange(1, last-1))
				must(t, db.Close())
			}

			m := &grows{}
			n, err = Open(dir, m, opts)
			if !c.ends {
				must(t, err)
				defer n.Close()
				if got := m.all(); !slices.Equal(got, theirs) {
					t.Errorf("%q", got)
				}
				return
			}
			if at, ok := errors.AsType[contradicted](err); !ok || at.index != 50 {
				t.Fatalf("the start: %v", err)
			}
			m = &grows{}
			mustOpen(t, dir, m, opts)
			if got := m.all(); !slices.Equal(got, numbered(0, 6)) {
				t.Errorf("the next start has %q", got)
			}
		})
	}
}
