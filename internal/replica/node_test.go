package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"
)

// list is a Machine that keeps every entry, so that a lost, doubled or
// reordered one shows. It answers with the entry's place.
type list struct {
	mu       sync.Mutex
	entries  []string
	applied  int // calls of Apply, replays included
	restored int
	block    chan struct{} // if set, Apply waits for it
	hold     chan struct{} // if set, Snapshot waits for it
	bad      error         // if set, Snapshot and Restore fail
}

func (m *list) Apply(entry []byte) any {
	if m.block != nil {
		<-m.block
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.applied++
	if strings.HasPrefix(string(entry), "bad") {
		return errors.New("no such event")
	}
	m.entries = append(m.entries, string(entry))
	return len(m.entries)
}

func (m *list) Snapshot() (func(io.Writer) error, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, hold := []byte(strings.Join(m.entries, "\n")), m.hold
	return func(w io.Writer) error {
		if hold != nil {
			<-hold
		}
		_, err := w.Write(b)
		return err
	}, m.bad
}

func (m *list) Restore(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.restored++
	m.entries = nil
	if len(b) > 0 {
		m.entries = strings.Split(string(b), "\n")
	}
	return m.bad
}

func (m *list) all() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.entries)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t testing.TB, dir string, m Machine, opts Options) *Node {
	t.Helper()
	n, err := Open(dir, m, opts)
	must(t, err)
	t.Cleanup(func() { n.Close() })
	return n
}

func apply(t testing.TB, n *Node, entries ...string) {
	t.Helper()
	for _, e := range entries {
		_, err := n.Apply(t.Context(), []byte(e))
		must(t, err)
	}
}

func numbered(from, to int) (s []string) {
	for i := from; i < to; i++ {
		s = append(s, fmt.Sprint("entry ", i))
	}
	return s
}

// crash copies the node's files as a power cut would leave them.
func crash(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(filepath.Join(to, "raft"), os.DirFS(filepath.Join(dir, "raft"))))
	return to
}

// What was acknowledged is there after a restart, in order and once, whether
// from the log, from a snapshot, or from a snapshot and the log behind it, and
// whether the process closed its files or not.
func TestRestart(t *testing.T) {
	opts := Options{SnapshotThreshold: 8} // 2 entries of log kept behind a snapshot
	for _, snapshots := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(snapshots, " snapshots"), func(t *testing.T) {
			dir := t.TempDir()
			var want []string
			m := &list{}
			n := mustOpen(t, dir, m, opts)
			for k := range snapshots + 1 {
				more := numbered(20*k, 20*k+20)
				apply(t, n, more...)
				want = append(want, more...)
				if k < snapshots {
					must(t, n.Snapshot())
				}
			}
			check := func(dir string) *Node {
				t.Helper()
				m := &list{}
				n := mustOpen(t, dir, m, opts)
				if got := m.all(); !slices.Equal(got, want) {
					t.Errorf("%d entries after the restart, want %d: %q", len(got), len(want), got)
				}
				if wantApplied := 20; m.applied != wantApplied || (m.restored > 0) != (snapshots > 0) {
					t.Errorf("%d applied, %d restored", m.applied, m.restored)
				}
				return n
			}
			check(crash(t, dir)) // no Close
			must(t, n.Close())
			n = check(dir)
			apply(t, n, "one more")
			want = append(want, "one more")
			m = &list{}
			mustOpen(t, crash(t, dir), m, opts)
			if got := m.all(); !slices.Equal(got, want) {
				t.Errorf("second restart: %q", got)
			}
		})
	}
}

// A snapshot drops the log: nothing of the entries is left to replay.
func TestSnapshotCompacts(t *testing.T) {
	dir := t.TempDir()
	n := mustOpen(t, dir, &list{}, Options{SnapshotThreshold: 8})
	apply(t, n, numbered(0, 30)...)
	must(t, n.Snapshot())
	must(t, n.Snapshot()) // nothing new is fine
	must(t, n.Close())
	db, err := openBolt(filepath.Join(dir, "raft", "raft.db"))
	must(t, err)
	defer db.Close()
	first, err := db.FirstIndex()
	must(t, err)
	if first < 30 {
		t.Errorf("the log begins at %d", first)
	}
}

func TestConcurrentApply(t *testing.T) {
	dir := t.TempDir()
	m := &list{}
	n := mustOpen(t, dir, m, Options{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	place := map[int]string{}
	for g := range 8 {
		wg.Go(func() {
			last := 0
			for i := range 12 {
				e := fmt.Sprint(g, "/", i)
				v, err := n.Apply(context.Background(), []byte(e))
				at, ok := v.(int)
				if err != nil || !ok || at <= last {
					t.Errorf("%s: %v, %v after place %d", e, v, err, last)
					return
				}
				last = at
				mu.Lock()
				place[at] = e
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	got := m.all()
	if len(got) != 96 || len(place) != 96 {
		t.Fatalf("%d entries, %d places", len(got), len(place))
	}
	for i, e := range got {
		if place[i+1] != e {
			t.Errorf("place %d holds %q, its proposer was told %q", i+1, e, place[i+1])
		}
	}
}

// A machine's error is its answer, not a failure of the log.
func TestErrorAnswer(t *testing.T) {
	n := mustOpen(t, t.TempDir(), &list{}, Options{})
	v, err := n.Apply(t.Context(), []byte("bad event"))
	if answer, ok := v.(error); err != nil || !ok || answer.Error() != "no such event" {
		t.Errorf("%v, %v", v, err)
	}
	apply(t, n, "good event")
}

func TestLifecycle(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "raft"), 0o755))
	n := mustOpen(t, dir, &list{}, Options{})
	if !n.Leader() {
		t.Error("a cluster of one does not lead")
	}
	if lead := <-n.LeaderCh(); !lead {
		t.Error("LeaderCh said false first")
	}
	if _, err := Open(dir, &list{}, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("second Open: %v", err)
	}
	for name, want := range map[string]os.FileMode{"raft": 0o700, "raft/raft.db": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
	must(t, n.Close())
	must(t, n.Close())
	_, err := n.Apply(t.Context(), []byte("late"))
	for name, err := range map[string]error{"Apply": err, "Barrier": n.Barrier(t.Context()), "Snapshot": n.Snapshot()} {
		if err != ErrClosed {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if n.Leader() {
		t.Error("leads after Close")
	}
	select {
	case err := <-n.Failed():
		t.Errorf("Failed after Close: %v", err)
	default:
	}
	mustOpen(t, dir, &list{}, Options{})
}

// memory is a node's stores in memory; they outlive it.
func memory() stores {
	s := raft.NewInmemStore()
	return stores{logs: s, stable: s, snaps: raft.NewInmemSnapshotStore()}
}

// The whole node runs in a synctest bubble: elections and intervals take no
// real time, and no goroutine is left after Close.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := memory()
		begin := time.Now()
		m := &list{}
		n, err := open(m, Options{SnapshotThreshold: 4}, on)
		must(t, err)
		if d := time.Since(begin); d > time.Second {
			t.Errorf("one node took %v to lead", d)
		}
		apply(t, n, numbered(0, 10)...)
		time.Sleep(2 * time.Minute) // bubble time: the periodic snapshot is due
		synctest.Wait()
		if all, err := on.snaps.List(); err != nil || len(all) != 1 {
			t.Errorf("%d snapshots, %v", len(all), err)
		}
		must(t, n.Close())
		m = &list{}
		n, err = open(m, Options{}, on)
		must(t, err)
		if got := m.all(); !slices.Equal(got, numbered(0, 10)) || m.restored != 1 {
			t.Errorf("%d restored, %q", m.restored, got)
		}
		must(t, n.Close())
	})
}

// The stores on disk run in a bubble too, for whole-federation simulations.
func TestBubbleOnDisk(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for range 2 {
			n, err := Open(dir, &list{}, Options{})
			must(t, err)
			apply(t, n, "entry")
			must(t, n.Close())
		}
	})
}

// ctx ends while the machine is slow: the outcome is unknown to the caller, the
// entry is applied all the same, and Close waits for it.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := memory()
		m := &list{block: make(chan struct{})}
		n, err := open(&list{}, Options{}, on)
		must(t, err)
		must(t, n.Close())
		n, err = open(m, Options{}, on)
		must(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		entry := []byte("slow")
		_, err = n.Apply(ctx, entry)
		if !errors.Is(err, ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Apply: %v", err)
		}
		entry[0] = 'X' // the caller's again
		if _, err := n.Apply(ctx, []byte("never")); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnknown) {
			t.Errorf("Apply with an ended context: %v", err)
		}
		close(m.block)
		must(t, n.Barrier(t.Context()))
		if got := m.all(); !slices.Equal(got, []string{"slow"}) {
			t.Errorf("%q", got)
		}
		must(t, n.Close())
	})
}

// Close lets calls under way end before it stops raft, and stops raft before it
// closes the stores, however long the machine takes.
func TestCloseDrains(t *testing.T) {
	for _, slow := range []time.Duration{drainTime / 2, 10 * drainTime} {
		synctest.Test(t, func(t *testing.T) {
			on := memory()
			closed := false
			on.close = func() error { closed = true; return nil }
			m := &list{block: make(chan struct{})}
			n, err := open(m, Options{}, on)
			must(t, err)
			answers := make(chan error, 12)
			for _, e := range numbered(0, cap(answers)) {
				go func() {
					_, err := n.Apply(context.Background(), []byte(e))
					answers <- err
				}()
				// committed; the first is in Machine.Apply, the others queue behind it
				synctest.Wait()
			}
			go func() {
				time.Sleep(slow)
				if closed {
					t.Error("the stores were closed under raft")
				}
				close(m.block)
			}()
			must(t, n.Close())
			if !closed {
				t.Error("the stores are open after Close")
			}
			for range cap(answers) {
				if err := <-answers; err != nil {
					t.Errorf("a call under way: %v", err)
				}
			}
		})
	}
}

// TestEntriesDuringSnapshot: while a snapshot is written entries are committed and applied, and
// none of them is in it.
func TestEntriesDuringSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := memory()
		m := &list{hold: make(chan struct{})}
		n, err := open(m, Options{SnapshotThreshold: 4}, on)
		must(t, err)
		apply(t, n, "a", "b")
		done := make(chan error, 1)
		go func() { done <- n.Snapshot() }()
		synctest.Wait() // it is being written now
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := n.Apply(ctx, []byte("c")); err != nil {
			t.Errorf("an entry waits for the snapshot: %v", err)
		}
		select {
		case err := <-done:
			t.Fatalf("the snapshot was not held: %v", err)
		default:
		}
		close(m.hold)
		must(t, <-done)
		must(t, n.Close())
		again := &list{}
		n, err = open(again, Options{}, on)
		must(t, err)
		if got := again.all(); !slices.Equal(got, []string{"a", "b", "c"}) || again.restored != 1 || again.applied != 1 {
			t.Errorf("%q after %d snapshots and %d entries", got, again.restored, again.applied)
		}
		must(t, n.Close())
	})
}

// Close waits for raft's own work too: here a periodic snapshot.
func TestCloseWaitsForSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := memory()
		closed := false
		on.close = func() error { closed = true; return nil }
		m := &list{hold: make(chan struct{})}
		n, err := open(m, Options{SnapshotThreshold: 4}, on)
		must(t, err)
		apply(t, n, numbered(0, 10)...)
		time.Sleep(2 * time.Minute)
		synctest.Wait() // in Machine.Snapshot now
		go func() {
			time.Sleep(time.Minute)
			if closed {
				t.Error("the stores were closed under raft")
			}
			close(m.hold)
		}()
		must(t, n.Close())
	})
}

func TestExplain(t *testing.T) {
	n := &Node{latch: newLatch()}
	for err, want := range map[error]error{
		raft.ErrNotLeader: ErrNotLeader, raft.ErrLeadershipTransferInProgress: ErrNotLeader,
		raft.ErrLeadershipLost: ErrUnknown, raft.ErrRaftShutdown: ErrUnknown,
	} {
		if got := n.explain(err); !errors.Is(got, want) {
			t.Errorf("%v became %v", err, got)
		}
	}
	if err := n.explain(raft.ErrNothingNewToSnapshot); err != nil {
		t.Errorf("nothing new: %v", err)
	}
	n.latch.set("wrote the log", errDisk)
	if err := n.explain(raft.ErrLeadershipLost); !errors.Is(err, errDisk) || errors.Is(err, ErrUnknown) {
		t.Errorf("after a failure: %v", err)
	}
	if err := n.explain(nil); err != nil {
		t.Errorf("what succeeded all the same: %v", err)
	}
}

// Raft's log lines carry nothing of an entry or a snapshot, and stay at debug.
func TestLogLeaksNothing(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	dir := t.TempDir()
	for range 2 {
		n := mustOpen(t, dir, &list{}, Options{Logger: logger, SnapshotThreshold: 4})
		apply(t, n, "SECRET", "SECRET", "SECRET")
		must(t, n.Snapshot())
		must(t, n.Close())
	}
	b := newBridge(logger).Named("part").With("index", 7)
	b.Error("got unexpected command", "command", []any{"%#v", "SECRET"}, "request", &raft.AppendEntriesRequest{
		Entries: []*raft.Log{{Data: []byte("SECRET")}}}, "bytes", []byte("SECRET"), 5, "odd", "error", errors.New(strings.Repeat("long ", 100)))
	b.StandardLogger(nil).Print("SECRET")
	s := out.String()
	if strings.Contains(s, "SECRET") || strings.Contains(s, "83 69 67") || strings.Contains(s, "level=INFO") || strings.Contains(s, "level=ERROR") {
		t.Errorf("the log says:\n%s", s)
	}
	for _, want := range []string{"source=raft.part", "index=7", "level_there=error", "[redacted *raft.AppendEntriesRequest]", "entering leader state", "arg=odd"} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in the log", want)
		}
	}
	if strings.Contains(s, strings.Repeat("long ", 50)) {
		t.Error("an error's text is not cut")
	}
	var quiet bytes.Buffer
	newBridge(slog.New(slog.NewTextHandler(&quiet, nil))).Error("loud")
	newBridge(nil).Error("nowhere")
	if quiet.Len() != 0 {
		t.Errorf("logged above debug: %s", quiet.String())
	}
}

// TestReplicationIsNotPipelined: raft v1.7.3 can wait forever for a pipeline that
// nobody reads, and its Shutdown with it.
func TestReplicationIsNotPipelined(t *testing.T) {
	stream := &idle{done: make(chan struct{})}
	_, trans := transport(Options{Stream: stream, Address: "one:1"}, "one")
	defer trans.(raft.WithClose).Close()
	if _, err := trans.AppendEntriesPipeline("two", "two:1"); !errors.Is(err, raft.ErrPipelineReplicationNotSupported) {
		t.Errorf("a pipeline was made: %v", err)
	}
}

// idle is a Stream that nobody connects to.
type idle struct {
	done chan struct{}
	once sync.Once
}

func (q *idle) Accept() (net.Conn, error) {
	<-q.done
	return nil, net.ErrClosed
}

func (q *idle) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

func (q *idle) Addr() net.Addr { return &net.TCPAddr{} }

func (q *idle) Dial(string, time.Duration) (net.Conn, error) { return nil, net.ErrClosed }
