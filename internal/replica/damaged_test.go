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

// TestDamagedPages: bbolt panics at some pages of a damaged raft.db; Open says what is damaged
// instead.
func TestDamagedPages(t *testing.T) {
	dir := t.TempDir()
	n := mustOpen(t, dir, &list{}, Options{})
	apply(t, n, numbered(0, 20)...)
	must(t, n.Close())
	info, err := os.Stat(filepath.Join(dir, "raft", "raft.db"))
	must(t, err)
	page := int64(os.Getpagesize())
	wrong := make([]byte, page)
	for i := range wrong {
		wrong[i] = 0xff
	}
	refused := 0
	// behind the two pages that say where all begins
	for at := 2 * page; at+page <= info.Size(); at += page {
		d := crash(t, dir)
		f, err := os.OpenFile(filepath.Join(d, "raft", "raft.db"), os.O_WRONLY, 0)
		must(t, err)
		_, err = f.WriteAt(wrong, at)
		must(t, errors.Join(err, f.Close()))
		db, err := openBolt(f.Name())
		if err == nil { // a page that opening does not read
			must(t, db.Close())
			continue
		}
		refused++
		if e, ok := errors.AsType[*StoreError](err); !ok || db != nil {
			t.Errorf("page %d: %v", at/page, err)
		} else if e.Op != "opened raft.db" {
			t.Errorf("page %d: %q", at/page, e.Op)
		}
	}
	if refused == 0 {
		t.Error("no page was read")
	}
}

// TestCutShort: a raft.db that lacks pages is refused, whichever it lacks, and does not end the
// process; a whole one is opened, also after many entries, and so is one that another process has
// just begun.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "raft", "raft.db")
	n := mustOpen(t, dir, &list{}, Options{})
	for range 20 {
		apply(t, n, strings.Repeat("x", 20_000))
		must(t, cutShort(path)) // while it is written to
	}
	must(t, n.Close())
	must(t, cutShort(path))
	must(t, cutShort(path+".none"))
	text, err := os.ReadFile(path)
	must(t, err)
	page := os.Getpagesize()
	pages := 0
	for cut := page; cut < len(text); cut += page {
		must(t, os.WriteFile(path, text[:cut], 0o600))
		db, err := openBolt(path)
		if err == nil {
			must(t, db.Close())
			if all := slices.Max(text[cut:]); all != 0 {
				t.Errorf("one of %d bytes, of %d, is opened", cut, len(text))
			}
			continue
		}
		pages++
		if failed, ok := errors.AsType[*StoreError](err); !ok || failed.Op != "opened raft.db" {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
	if pages < 100 {
		t.Errorf("%d of %d pages were missed", pages, len(text)/page)
	}
}

// sink counts what a snapshot's sink is told.
type sink struct {
	raft.SnapshotSink
	fails             error
	closed, cancelled int
}

func (s *sink) Write(p []byte) (int, error) { return len(p), s.fails }
func (s *sink) Close() error                { s.closed++; return nil }
func (s *sink) Cancel() error               { s.cancelled++; return nil }

// TestSinkEndsOnce: a snapshot that could not be written is cancelled and not closed, or half of
// one would stand for the log that is dropped; one that is closed is not cancelled after.
func TestSinkEndsOnce(t *testing.T) {
	state := image(func(w io.Writer) error { _, err := w.Write([]byte("state")); return err })
	failing := &sink{fails: errors.New("no room")}
	if err := state.Persist(&snapshotSink{SnapshotSink: failing, s: &snapshots{latch: newLatch()}}); err == nil {
		t.Error("a snapshot was written without room")
	}
	if failing.closed != 0 || failing.cancelled != 1 {
		t.Errorf("closed %d times, cancelled %d times", failing.closed, failing.cancelled)
	}
	whole := &sink{}
	k := &snapshotSink{SnapshotSink: whole, s: &snapshots{latch: newLatch()}}
	must(t, state.Persist(k))
	must(t, errors.Join(k.Cancel(), k.Close()))
	if whole.closed != 1 || whole.cancelled != 0 {
		t.Errorf("closed %d times, cancelled %d times", whole.closed, whole.cancelled)
	}
}

// What a snapshot left that was cut short takes no room after the next start; whole ones stay.
func TestSnapshotCutShortIsRemoved(t *testing.T) {
	dir := t.TempDir()
	n := mustOpen(t, dir, &list{}, Options{})
	apply(t, n, numbered(0, 30)...)
	must(t, n.Snapshot())
	must(t, n.Close())
	folder := filepath.Join(dir, "raft", "snapshots")
	whole, err := os.ReadDir(folder)
	must(t, err)
	must(t, os.Mkdir(filepath.Join(folder, "7-208-1795999821309.tmp"), 0o755))
	must(t, os.WriteFile(filepath.Join(folder, "7-208-1795999821309.tmp", "state.bin"), make([]byte, 1000), 0o600))
	m := &list{}
	mustOpen(t, dir, m, Options{})
	left, err := os.ReadDir(folder)
	must(t, err)
	if len(whole) != 1 || len(left) != 1 || left[0].Name() != whole[0].Name() || len(m.all()) != 30 {
		t.Errorf("%v became %v, with %d entries", whole, left, len(m.all()))
	}
}
