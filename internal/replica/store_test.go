package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

var errDisk = errors.New("input/output error")

// failed checks that the node says what failed, once, does nothing any more
// and does not touch the stores again.
func failed(t *testing.T, f *faulty, n *Node) {
	t.Helper()
	var err error
	select {
	case err = <-n.Failed():
	case <-time.After(time.Hour): // bubble time
		t.Fatal("Failed is silent")
	}
	first, ok := errors.AsType[*StoreError](err)
	if !ok || !errors.Is(err, errDisk) || !strings.HasPrefix(err.Error(), "replica: the store failed while it ") {
		t.Fatalf("Failed said %v", err)
	}
	_, applyErr := n.Apply(t.Context(), []byte("after the failure"))
	for name, err := range map[string]error{"Apply": applyErr, "Barrier": n.Barrier(t.Context()), "Snapshot": n.Snapshot()} {
		if again, ok := errors.AsType[*StoreError](err); !ok || again != first {
			t.Errorf("%s after the failure: %v", name, err)
		}
	}
	time.Sleep(2 * drainTime) // bubble time
	if s := n.raft.State(); s != raft.Shutdown {
		t.Errorf("raft is %v after the failure", s)
	}
	select {
	case err := <-n.Failed():
		t.Errorf("Failed spoke twice: %v", err)
	default:
	}
	must(t, n.Close())
	if n.Leader() || f.later != 0 {
		t.Errorf("leads: %v; %d store operations after the failed one", n.Leader(), f.later)
	}
}

// MUST: the first I/O error of a store is the last operation on it.
func TestO5StoreErrorLatches(t *testing.T) {
	for _, op := range []string{"StoreLogs", "FirstIndex", "DeleteRange", "Create", "Write", "Close"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, on := newFaulty(t)
				m := &list{}
				n, err := open(m, Options{SnapshotThreshold: 4}, on)
				must(t, err)
				apply(t, n, numbered(0, 20)...)
				f.arm(op, 0)
				if op == "StoreLogs" {
					_, err = n.Apply(t.Context(), []byte("lost"))
				} else {
					err = n.Snapshot()
				}
				if _, ok := errors.AsType[*StoreError](err); !ok {
					t.Errorf("the call that met the failure: %v", err)
				}
				failed(t, f, n)

				// The next process has every acknowledged entry.
				f.arm("", 0)
				f.hit = false
				m = &list{}
				n, err = open(m, Options{}, on)
				must(t, err)
				if got := m.all(); len(got) != 20 {
					t.Errorf("%d entries after the failure", len(got))
				}
				must(t, n.Close())
			})
		})
	}
}

// Many calls are under way when the store fails: each gets an answer, and what
// was acknowledged is there.
func TestStoreErrorUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, on := newFaulty(t)
		n, err := open(&list{}, Options{}, on)
		must(t, err)
		f.arm("StoreLogs", 10)
		acked := map[string]bool{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := 0; ; i++ { // until the store fails
					e := fmt.Sprint(g, "/", i)
					if _, err := n.Apply(context.Background(), []byte(e)); err != nil {
						return
					}
					mu.Lock()
					acked[e] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(acked) == 0 {
			t.Error("nothing was acknowledged")
		}
		failed(t, f, n)
		f.arm("", 0)
		m := &list{}
		n, err = open(m, Options{}, on)
		must(t, err)
		for _, e := range m.all() {
			delete(acked, e)
		}
		if len(acked) != 0 {
			t.Errorf("acknowledged and lost: %v", acked)
		}
		must(t, n.Close())
	})
}

// A call that waits for something else is told of the failure at once.
func TestStoreErrorReachesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, on := newFaulty(t)
		m := &list{block: make(chan struct{})}
		n, err := open(m, Options{}, on)
		must(t, err)
		answer := make(chan error, 1)
		go func() {
			_, err := n.Apply(context.Background(), []byte("committed, not yet applied"))
			answer <- err
		}()
		synctest.Wait()
		f.arm("StoreLogs", 0)
		begin := time.Now()
		if _, err := n.Apply(t.Context(), []byte("lost")); !errors.Is(err, errDisk) {
			t.Errorf("the call that met the failure: %v", err)
		}
		if err := <-answer; !errors.Is(err, errDisk) || time.Since(begin) > 0 {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		close(m.block)
		must(t, n.Close())
	})
}

// After a failure no operation reaches the stores; after Close their errors
// mean nothing.
func TestLatch(t *testing.T) {
	f, on := newFaulty(t)
	l := newLatch()
	s := &store{logs: on.logs, stable: on.stable, latch: l}
	snaps := &snapshots{SnapshotStore: on.snaps, log: s, latch: l}
	f.arm("Set", 0)
	if err := s.Set(nil, nil); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	for name, op := range map[string]func(){
		"FirstIndex": func() { s.FirstIndex() }, "LastIndex": func() { s.LastIndex() },
		"GetLog": func() { s.GetLog(1, &raft.Log{}) }, "StoreLog": func() { s.StoreLog(&raft.Log{Index: 1}) },
		"DeleteRange": func() { s.DeleteRange(1, 1) }, "Set": func() { s.Set(nil, nil) }, "Get": func() { s.Get(nil) },
		"SetUint64": func() { s.SetUint64(nil, 1) }, "GetUint64": func() { s.GetUint64(nil) },
		"List": func() { snaps.List() }, "Open": func() { snaps.Open("x") },
		"Create": func() { snaps.Create(1, 1, 1, raft.Configuration{}, 1, nil) },
	} {
		done := make(chan struct{})
		go func() { // two of them end their goroutine
			defer close(done)
			op()
		}()
		<-done
		if f.later != 0 {
			t.Fatalf("%s reached the store", name)
		}
	}

	db, err := openBolt(filepath.Join(t.TempDir(), "raft.db"))
	must(t, err)
	l = newLatch()
	s = &store{logs: db, stable: db, latch: l}
	l.close()
	must(t, db.Close())
	if _, err := s.LastIndex(); err == nil || l.get() != nil {
		t.Errorf("a closed store: %v, latched %v", err, l.get())
	}
}

// A store that fails while the node starts, at any of its operations, is an
// error of Open: no panic, no hang, no goroutine left.
func TestStoreErrorAtOpen(t *testing.T) {
	// What a start does with its stores: the first on nothing, the second on a
	// snapshot and a log.
	starts := map[string][]string{
		"first":  {"GetUint64", "LastIndex", "List", "SetUint64", "StoreLogs", "GetLog", "Set"},
		"second": {"GetUint64", "LastIndex", "List", "SetUint64", "StoreLogs", "GetLog", "Set", "Open", "Read"},
	}
	for start, ops := range starts {
		for _, op := range ops {
			t.Run(start+"/"+op, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, on := newFaulty(t)
					want := 0
					if start == "second" {
						n, err := open(&list{}, Options{SnapshotThreshold: 4}, on)
						must(t, err)
						apply(t, n, numbered(0, 9)...)
						must(t, n.Snapshot())
						apply(t, n, numbered(9, 12)...)
						must(t, n.Close())
						want = 12
					}
					failures := 0
					for after := range 100 {
						f.arm(op, after)
						n, err := open(&list{}, Options{}, on)
						if err == nil { // the failure lay beyond the start
							f.arm("", 0)
							must(t, n.Close())
							break
						}
						if _, ok := errors.AsType[*StoreError](err); !ok || !errors.Is(err, errDisk) || f.later != 0 {
							t.Fatalf("fails at call %d: %v, %d operations later", after, err, f.later)
						}
						f.hit = false
						failures++
					}
					if failures == 0 {
						t.Errorf("a %s start does not use %s", start, op)
					}
					f.arm("", 0)
					m := &list{}
					n, err := open(m, Options{}, on)
					must(t, err)
					if got := m.all(); len(got) != want {
						t.Errorf("%d entries, want %d", len(got), want)
					}
					must(t, n.Close())
				})
			})
		}
	}
}

// The term cannot be written while the node runs, as when it must stand for
// election again: raft would panic.
func TestTermErrorWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, on := newFaulty(t)
		n, err := open(&list{}, Options{}, on)
		must(t, err)
		f.arm("SetUint64", 0)
		go func() { // one of raft's goroutines
			(&store{stable: f, logs: f, latch: n.latch}).SetUint64([]byte("CurrentTerm"), 9)
			t.Error("a goroutine went on after the term was not written")
		}()
		failed(t, f, n)
	})
}

// Absent entries and keys are answers, not failures.
func TestAbsentIsNoFailure(t *testing.T) {
	on := memory()
	l := newLatch()
	s := &store{logs: on.logs, stable: on.stable, latch: l}
	if err := s.GetLog(7, &raft.Log{}); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("absent entry: %v", err)
	}
	if _, err := s.Get([]byte("none")); !notFound(err) {
		t.Errorf("absent key in memory: %v", err)
	}
	db, err := openBolt(filepath.Join(t.TempDir(), "raft.db"))
	must(t, err)
	defer db.Close()
	s = &store{logs: db, stable: db, latch: l}
	if _, err := s.Get([]byte("none")); !notFound(err) {
		t.Errorf("absent key on disk: %v", err)
	}
	if _, err := s.GetUint64([]byte("none")); !notFound(err) {
		t.Errorf("absent number on disk: %v", err)
	}
	if err := s.GetLog(7, &raft.Log{}); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("absent entry on disk: %v", err)
	}
	if err := l.get(); err != nil {
		t.Errorf("latched: %v", err)
	}
}

// A machine that cannot make a snapshot says so and goes on; one that cannot
// read its own ends the start.
func TestMachineSnapshotErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := memory()
		m := &list{}
		n, err := open(m, Options{}, on)
		must(t, err)
		apply(t, n, "a")
		m.mu.Lock()
		m.bad = errors.New("cannot encode")
		m.mu.Unlock()
		if err := n.Snapshot(); err == nil || !strings.Contains(err.Error(), "cannot encode") {
			t.Errorf("Snapshot: %v", err)
		}
		apply(t, n, "b")
		m.mu.Lock()
		m.bad = nil
		m.mu.Unlock()
		must(t, n.Snapshot())
		must(t, n.Close())
		_, err = open(&list{bad: errors.New("unknown version")}, Options{}, on)
		if e, ok := errors.AsType[*StoreError](err); !ok || e.Err.Error() != "unknown version" {
			t.Errorf("Restore: %v", err)
		}
	})
}

// Damage on disk is an error of Open that says so. It is not a shorter
// history, and not a panic.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	n := mustOpen(t, dir, &list{}, Options{SnapshotThreshold: 4})
	apply(t, n, numbered(0, 20)...)
	must(t, n.Snapshot())
	apply(t, n, numbered(20, 30)...)
	must(t, n.Snapshot())
	apply(t, n, numbered(30, 35)...)
	must(t, n.Close())
	snaps := func(dir string) []string {
		all, err := filepath.Glob(filepath.Join(dir, "raft", "snapshots", "*"))
		must(t, err)
		if len(all) != 2 {
			t.Fatalf("%d snapshots", len(all))
		}
		return all
	}
	for name, harm := range map[string]func(dir string) error{
		"newest snapshot changed": func(d string) error {
			return os.WriteFile(filepath.Join(snaps(d)[1], "state.bin"), []byte("entry 0"), 0o600)
		},
		"newest snapshot gone": func(d string) error { return os.RemoveAll(snaps(d)[1]) },
		"its metadata damaged": func(d string) error {
			return os.WriteFile(filepath.Join(snaps(d)[1], "meta.json"), []byte("{"), 0o600)
		},
		"all snapshots gone": func(d string) error { return os.RemoveAll(filepath.Join(d, "raft", "snapshots")) },
		"database is text": func(d string) error {
			return os.WriteFile(filepath.Join(d, "raft", "raft.db"), []byte(strings.Repeat("raft ", 5000)), 0o600)
		},
		"database gone": func(d string) error { return os.Remove(filepath.Join(d, "raft", "raft.db")) },
	} {
		t.Run(name, func(t *testing.T) {
			d := crash(t, dir)
			must(t, harm(d))
			m := &list{}
			n, err := Open(d, m, Options{Timeout: 2e9})
			if n != nil {
				n.Close()
			}
			if err == nil {
				t.Errorf("opened with %d of 35 entries", len(m.all()))
			}
		})
	}
}

// A bootstrap that a crash cut short is done again.
func TestBootstrapCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, on := newFaulty(t)
		f.arm("StoreLogs", 0) // the term is written, the configuration is not
		if _, err := open(&list{}, Options{}, on); !errors.Is(err, errDisk) {
			t.Fatalf("first start: %v", err)
		}
		f.arm("", 0)
		n, err := open(&list{}, Options{}, on)
		must(t, err)
		apply(t, n, "a")
		must(t, n.Close())
	})
}
