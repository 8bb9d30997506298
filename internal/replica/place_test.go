package replica

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func termOf(t *testing.T, dir string) uint64 {
	t.Helper()
	db, err := openBolt(filepath.Join(dir, "raft", "raft.db"))
	must(t, err)
	defer db.Close()
	term, err := db.GetUint64(termKey)
	must(t, err)
	return term
}

func birthIsKnown(t *testing.T, dir string) {
	t.Helper()
	if place(filepath.Join(dir, "raft", "raft.db")) == nil {
		t.Skip("this file system does not say when a file was made")
	}
}

// TestCopyBeginsAnotherTerm: a restart in place, and a moved folder, go on in the next term; each
// copy of the folder in one of its own, once.
func TestCopyBeginsAnotherTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no election ends for a slow disk
		dir := t.TempDir()
		run := func(dir string) uint64 {
			t.Helper()
			n, err := Open(dir, &list{}, Options{})
			must(t, err)
			apply(t, n, "entry")
			must(t, n.Close())
			return termOf(t, dir)
		}
		first := run(dir)
		birthIsKnown(t, dir)
		backup, another := crash(t, dir), crash(t, dir)
		if term := run(dir); term != first+1 {
			t.Errorf("term %d after a restart in place, was %d", term, first)
		}
		moved := filepath.Join(t.TempDir(), "moved")
		must(t, os.Rename(dir, moved))
		if term := run(moved); term != first+2 {
			t.Errorf("term %d of a moved folder, was %d", term, first+1)
		}
		one, two := run(backup), run(another)
		if one <= first+2 || two <= first+2 || one == two { // equal with probability 2^-32
			t.Errorf("copies of a log at term %d begin terms %d and %d", first, one, two)
		}
		if term := run(backup); term != one+1 {
			t.Errorf("term %d after the second start of a copy, was %d", term, one)
		}
	})
}

// TestRestoredMajorityMeetsNewerLog: two of three coordinators are restored from a backup and go
// on; the third, which has decided more since, ends and keeps its log. The first election after the
// backup and the first after its restore are in the same term unless the restored ones begin
// another. Where these have compacted their log meanwhile, it ends at their snapshot, which is not
// kept.
func TestRestoredMajorityMeetsNewerLog(t *testing.T) {
	birthIsKnown(t, func() string {
		dir := t.TempDir()
		must(t, mustOpen(t, dir, &list{}, Options{}).Close())
		return dir
	}())
	for _, c := range []struct {
		compacted bool
		threshold uint64
	}{{false, 0}, {true, 4}, {true, 40}} { // 3 has snapshots of its own, or none
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { meetsNewerLog(t, c.compacted, c.threshold) })
		})
	}
}

func meetsNewerLog(t *testing.T, compacted bool, threshold uint64) {
	network := &pipes{open: map[string]*pipe{}}
	dirs := map[string]string{"1": t.TempDir(), "2": t.TempDir(), "3": t.TempDir()}
	nodes, machines := map[string]*Node{}, map[string]*grows{}
	start := func(ids ...string) {
		for _, id := range ids {
			machines[id] = &grows{}
			n, err := Open(dirs[id], machines[id], Options{ID: id, Address: id + ":1", Stream: network.listen(id + ":1"), Join: id != "1", SnapshotThreshold: threshold})
			must(t, err)
			nodes[id] = n
		}
	}
	stop := func() {
		for id, n := range nodes {
			must(t, n.Close())
			delete(nodes, id)
		}
	}
	leader := func() *Node {
		for range 600 {
			for _, n := range nodes {
				if n.Leader() && n.Barrier(t.Context()) == nil {
					return n
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatal("nobody leads")
		return nil
	}
	start("1", "2", "3")
	must(t, leader().Add(t.Context(), "2", "2:1"))
	must(t, leader().Add(t.Context(), "3", "3:1"))
	apply(t, leader(), numbered(0, 5)...)
	time.Sleep(time.Minute)
	stop()
	backups := map[string]string{"1": crash(t, dirs["1"]), "2": crash(t, dirs["2"])}

	start("1", "2", "3")
	apply(t, leader(), "lost 1", "lost 2", "lost 3")
	time.Sleep(time.Minute)
	stop()
	want := append(numbered(0, 5), "lost 1", "lost 2", "lost 3")
	if got := machines["3"].all(); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}

	for id, dir := range backups {
		dirs[id] = dir
	}
	start("1", "2")
	apply(t, leader(), "new 1", "new 2", "new 3")
	if compacted {
		apply(t, leader(), numbered(0, 50)...)
		must(t, leader().Snapshot())
	}
	start("3")
	for i := range 5 {
		if _, err := leader().Apply(t.Context(), fmt.Append(nil, "newer ", i)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
	}
	select {
	case err := <-nodes["3"].Failed():
		if _, ok := errors.AsType[contradicted](err); !ok {
			t.Error(err)
		}
	default:
		t.Errorf("3 goes on with %q, 1 has %q", machines["3"].all(), machines["1"].all())
	}
	stop()
	start("3")
	time.Sleep(time.Minute)
	stop()
	if got := machines["3"].all(); len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("3 has %q", got)
	}
}

// grows is a list that notices a snapshot which lacks what it has.
type grows struct{ list }

func (m *grows) Restore(r io.Reader) error {
	before := m.all()
	err := m.list.Restore(r)
	if got := m.all(); err == nil && (len(got) < len(before) || !slices.Equal(got[:len(before)], before)) {
		m.entries = before
		return diverged{older: len(got) < len(before) && slices.Equal(got, before[:len(got)])}
	}
	return err
}
