package replica

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/hashicorp/raft"

	"covey/internal/failpoint"
	"covey/internal/fsync"
)

// StoreError is the first failure of the log, the stable store or the snapshot
// store. It carries what was being done, never an entry.
type StoreError struct {
	Op  string
	Err error
}

func (e *StoreError) Error() string {
	text := "replica: the store failed while it " + e.Op + ": " + e.Err.Error()
	is := func(e syscall.Errno) bool { return strings.Contains(text, e.Error()) } // bbolt keeps its words, not always the error
	switch {
	case is(syscall.ENOSPC), is(syscall.EDQUOT):
		text += "; free some space and start this coordinator again, and delete nothing in raft/: studies wait unless most coordinators still run"
	case is(syscall.EROFS), is(syscall.EIO):
		text += "; the kernel's log (dmesg) may say more: once the disk can be written, start this coordinator again, and delete nothing in raft/: studies wait unless most coordinators still run"
	}
	return text
}

func (e *StoreError) Unwrap() error { return e.Err }

// latch keeps the first store error.
type latch struct {
	mu     sync.Mutex
	err    error
	closed bool          // the stores are being closed: errors mean nothing any more
	failed chan struct{} // closed with the first error
	first  chan error    // holds it for Failed
}

func newLatch() *latch {
	return &latch{failed: make(chan struct{}), first: make(chan error, 1)}
}

func (l *latch) get() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// set keeps err if it is the first; it returns the error that is kept.
func (l *latch) set(op string, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil && !l.closed {
		l.err = &StoreError{Op: op, Err: err}
		l.first <- l.err
		close(l.failed)
	}
	if l.err != nil {
		return l.err
	}
	return err
}

func (l *latch) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// do runs one store operation unless an earlier one failed.
func (l *latch) do(op string, f func() error) error {
	if err := l.get(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return l.set(op, err)
	}
	return nil
}

// notFound is how raft itself tells an absent key from a failure: by the text,
// since stores differ in the value.
func notFound(err error) bool { return err != nil && err.Error() == "not found" }

// store stands between raft and its log and stable stores.
//
// Where raft would panic on the error (it does on a failed GetLog and on a
// failed write of the term) the calling goroutine ends instead, deferred calls
// included, so that the process can say what failed and end in order. It is
// always one of raft's own goroutines: Open calls raft in one made for it.
type store struct {
	logs   raft.LogStore
	stable raft.StableStore
	owner  string // the data folder
	mark   mark
	pages  pages
	*latch
}

func (s *store) FirstIndex() (i uint64, err error) {
	err = s.do("read the log", func() (err error) { i, err = s.logs.FirstIndex(); return err })
	return i, err
}

func (s *store) LastIndex() (i uint64, err error) {
	err = s.do("read the log", func() (err error) { i, err = s.logs.LastIndex(); return err })
	return i, err
}

func (s *store) GetLog(index uint64, log *raft.Log) error {
	absent := false // an answer, not a failure: raft asks about compacted entries
	err := s.do("read the log", func() error {
		err := s.logs.GetLog(index, log)
		s.pages.read(len(log.Data))
		absent = errors.Is(err, raft.ErrLogNotFound)
		if absent {
			return nil
		}
		return err
	})
	if absent {
		return raft.ErrLogNotFound
	}
	s.endIf(err)
	return err
}

func (s *store) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

func (s *store) StoreLogs(logs []*raft.Log) error {
	return s.do("wrote the log", func() error {
		if err := s.hitLogs(logs, failpoint.Before); err != nil {
			return err
		}
		size := 0
		for _, l := range logs {
			size += len(l.Data)
		}
		if err := s.pages.write(size, func() error { return s.logs.StoreLogs(logs) }); err != nil {
			return err
		}
		return s.hitLogs(logs, failpoint.After)
	})
}

// hitLogs passes one side of the write of each command; it does nothing in a
// release build.
func (s *store) hitLogs(logs []*raft.Log, phase failpoint.Phase) error {
	if !failpoint.Enabled {
		return nil
	}
	var first error
	for _, l := range logs { // all of them: after the write, all are durable
		if l.Type == raft.LogCommand {
			err := failpoint.Hit(failpoint.Event{Point: failpoint.Log, Phase: phase, Owner: s.owner, Query: -1, Slot: int(l.Index), Data: l.Data})
			if first == nil {
				first = err
			}
		}
	}
	return first
}

// DeleteRange deletes what a snapshot covers, or an end that the leader's log contradicts; but not
// one that was applied here, so that no decision is lost with it.
func (s *store) DeleteRange(min, max uint64) error {
	last, err := s.LastIndex()
	if err != nil {
		return err
	}
	if max >= last && min <= s.mark.index.Load() {
		return s.contradicts(min)
	}
	return s.do("compacted the log", func() error {
		return s.pages.write(0, func() error { return s.logs.DeleteRange(min, max) })
	})
}

func (s *store) Set(key, value []byte) error {
	return s.do("wrote the vote", func() error {
		return s.hitVote(func() error {
			return s.pages.write(0, func() error { return s.stable.Set(key, value) })
		})
	})
}

// hitVote makes a write between its two places.
func (s *store) hitVote(write func() error) error {
	at := failpoint.Event{Point: failpoint.Vote, Phase: failpoint.Before, Owner: s.owner, Query: -1, Slot: -1}
	if err := failpoint.Hit(at); err != nil {
		return err
	}
	if err := write(); err != nil {
		return err
	}
	at.Phase = failpoint.After
	return failpoint.Hit(at)
}

func (s *store) Get(key []byte) (v []byte, err error) {
	var absent error
	err = s.do("read the vote", func() (err error) {
		if v, err = s.stable.Get(key); notFound(err) {
			absent, err = err, nil
		}
		return err
	})
	return v, errors.Join(err, absent)
}

func (s *store) SetUint64(key []byte, value uint64) error {
	err := s.do("wrote the term", func() error {
		return s.hitVote(func() error {
			return s.pages.write(0, func() error { return s.stable.SetUint64(key, value) })
		})
	})
	s.endIf(err)
	return err
}

func (s *store) GetUint64(key []byte) (v uint64, err error) {
	var absent error
	err = s.do("read the term", func() (err error) {
		if v, err = s.stable.GetUint64(key); notFound(err) {
			absent, err = err, nil
		}
		return err
	})
	if absent != nil {
		return 0, absent
	}
	return v, err
}

func (s *store) endIf(err error) {
	if err != nil && s.get() != nil {
		runtime.Goexit()
	}
}

// snapshots stands between raft and its snapshot store. dir is where the file
// store keeps them, "" for a store in memory.
type snapshots struct {
	raft.SnapshotStore
	dir   string
	owner string // the data folder
	log   *store
	made  atomic.Bool // one was created in this run
	*latch
}

// Create begins a snapshot of this machine, or one that a leader sends, but none that would put
// another past in place of what was applied here.
func (s *snapshots) Create(version raft.SnapshotVersion, index, term uint64, c raft.Configuration, cIndex uint64, t raft.Transport) (sink raft.SnapshotSink, err error) {
	if index <= s.log.mark.index.Load() {
		if ours, err := s.ours(index, term); err != nil {
			return nil, err
		} else if !ours {
			return nil, s.log.contradicts(index)
		}
	}
	err = s.do("made a snapshot", func() (err error) {
		sink, err = s.SnapshotStore.Create(version, index, term, c, cIndex, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.made.Store(true)
	return &snapshotSink{SnapshotSink: sink, s: s}, nil
}

// ours reports whether an entry is of this node's log, or as far as snapshots tell where the log is
// compacted: terms only grow, and a leader that knows less than this node was elected later.
func (s *snapshots) ours(index, term uint64) (bool, error) {
	var l raft.Log
	if err := s.log.GetLog(index, &l); !errors.Is(err, raft.ErrLogNotFound) {
		return l.Term == term, err
	}
	all, err := s.List()
	return slices.ContainsFunc(all, func(m *raft.SnapshotMeta) bool { return m.Index >= index && m.Term >= term }), err
}

func (s *snapshots) List() (all []*raft.SnapshotMeta, err error) {
	err = s.do("listed snapshots", func() (err error) { all, err = s.SnapshotStore.List(); return err })
	return all, err
}

// Open latches a damaged snapshot too: the log before it is gone, and raft
// would go on with an older state where it can.
func (s *snapshots) Open(id string) (meta *raft.SnapshotMeta, r io.ReadCloser, err error) {
	err = s.do("opened a snapshot", func() (err error) { meta, r, err = s.SnapshotStore.Open(id); return err })
	if err != nil {
		return nil, nil, err
	}
	return meta, source{r, *meta, s.made.Load() || meta.Index > s.log.mark.index.Load()}, nil
}

// source is a snapshot that was opened. It is a leader's if it was sent, where it is restored: raft
// restores its own at the start alone, and then this node has applied what it is of.
type source struct {
	io.ReadCloser
	meta raft.SnapshotMeta
	sent bool
}

// sourceOf returns what raft has wrapped.
func sourceOf(r io.ReadCloser) source {
	if w, ok := r.(raft.ReadCloserWrapper); ok {
		r = w.WrappedReadCloser()
	}
	s, _ := r.(source)
	return s
}

// discard ends the node and removes a snapshot that a leader with another past has sent: the log
// and an older snapshot are still here, since raft compacts after a restore.
func (s *snapshots) discard(meta raft.SnapshotMeta) (err error) {
	err = s.remove(meta) // first: once the node has failed, the process may end
	return errors.Join(s.log.contradicts(meta.Index), err)
}

func (s *snapshots) remove(meta raft.SnapshotMeta) error {
	if s.dir == "" {
		return nil
	}
	return errors.Join(os.RemoveAll(filepath.Join(s.dir, meta.ID)), fsync.Dir(s.dir))
}

type snapshotSink struct {
	raft.SnapshotSink
	s    *snapshots
	done bool
}

func (k *snapshotSink) Write(p []byte) (n int, err error) {
	err = k.s.do("wrote a snapshot", func() (err error) {
		at := failpoint.Event{Point: failpoint.Snapshot, Phase: failpoint.Before, Owner: k.s.owner, Query: -1, Slot: -1, Data: p}
		if err := failpoint.Hit(at); err != nil {
			return err
		}
		n, err = k.SnapshotSink.Write(p)
		return err
	})
	return n, err
}

// Close makes the snapshot durable before raft compacts the log it stands for.
// The file store fsyncs the files and the directory of snapshots; the names of
// the files in the snapshot's own directory are fsynced here.
func (k *snapshotSink) Close() error {
	if k.done {
		return nil
	}
	k.done = true
	return k.s.do("wrote a snapshot", func() error {
		if err := k.SnapshotSink.Close(); err != nil || k.s.dir == "" {
			return err
		}
		return fsync.Dir(filepath.Join(k.s.dir, k.ID()))
	})
}

func (k *snapshotSink) Cancel() error {
	if k.done {
		return nil
	}
	k.done = true
	return k.SnapshotSink.Cancel()
}
