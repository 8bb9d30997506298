package replica

import (
	"errors"
	"io"
	"slices"

	"github.com/hashicorp/raft"
)

// Machine is the replicated state. Its methods are called from one goroutine
// at a time, Apply in the order of the log. They must not call the Node.
type Machine interface {
	// Apply carries out one committed entry and returns the answer for whoever
	// proposed it, on the node where that was. It must be deterministic: the
	// same entries in the same order give the same state and answers on every
	// node and after every restart. So it reads no clock, no random bytes, no
	// map order, and never samples noise (docs/protocol.md): noise is
	// in the entry. It may keep entry but not change it. An entry that makes no
	// sense must be answered with an error value, the same everywhere, and
	// change nothing; a panic here is a panic on every node. An error with the method Diverged says
	// that the log contradicts what was decided here, and ends this node.
	Apply(entry []byte) any

	// Snapshot returns what writes the state after the entries applied so far. It is called between
	// two entries and does little; write is called later, from another goroutine and while more
	// entries are applied, so that it shares with the machine only what never changes. The log up
	// to here is then dropped: only what is written is left.
	Snapshot() (write func(io.Writer) error, err error)

	// Restore replaces the whole state by a written one. An error ends the
	// node. One with the method Diverged says that what was written lacks what was decided here: it
	// is a leader's, and is not kept. Nor is one that comes late, an older state of the same past:
	// that ends nothing.
	Restore(snapshot io.Reader) error
}

// machine adapts a Machine to raft.
type machine struct {
	m     Machine
	mark  *mark
	snaps *snapshots
	*backlog
	index uint64 // up to where m has this run's entries
	*latch
}

// divergence is an error of a Machine that was shown another past than its own, or an older state
// of its own.
type divergence interface {
	error
	Diverged() (older bool)
}

func (f *machine) Apply(l *raft.Log) any {
	f.mark.applied(l.Index)
	f.index = l.Index
	answer := f.m.Apply(l.Data)
	f.add(len(l.Data))
	if err, ok := answer.(divergence); ok { // and so at each start: the entry is in the log
		f.set("followed the leader", &LostError{err})
	}
	return answer
}

// resume restores, at a start, the snapshot behind the newest: a crash may have left a leader's
// there that no run has judged.
func (f *machine) resume(before uint64) error {
	all, err := f.snaps.List()
	at := slices.IndexFunc(all, func(m *raft.SnapshotMeta) bool { return m.Index < before }) // newest first
	if err != nil || at < 0 {
		return err
	}
	_, r, err := f.snaps.Open(all[at].ID)
	if err != nil {
		return err
	}
	defer r.Close()
	f.index = all[at].Index
	if err := f.m.Restore(r); err != nil {
		return f.set("restored a snapshot", err)
	}
	return nil
}

// recall applies what was applied before this run and no leader has confirmed in it, up to where a
// leader's snapshot is of, so that the machine can judge it. A log that lacks what follows was
// compacted, which only a judged snapshot allows.
func (f *machine) recall(to uint64) error {
	if first, err := f.snaps.log.FirstIndex(); err != nil || first > f.index+1 {
		return err
	}
	for to = min(to, f.mark.index.Load()); f.index < to; {
		var l raft.Log
		if err := f.snaps.log.GetLog(f.index+1, &l); err != nil {
			return f.set("read the log", err)
		}
		f.index++
		if l.Type == raft.LogCommand {
			f.Apply(&l)
		}
	}
	return f.get()
}

// Snapshot holds up no entry longer than the machine's does: raft calls Persist beside Apply.
func (f *machine) Snapshot() (raft.FSMSnapshot, error) {
	write, err := f.m.Snapshot()
	if err != nil {
		return nil, err
	}
	f.since.Store(0)
	return image(write), nil
}

// errLate is what the leader is answered, should it listen still.
var errLate = errors.New("this snapshot came late: later entries are applied here")

func (f *machine) Restore(r io.ReadCloser) error {
	defer r.Close()
	// Whatever raft does about it, this machine's state is not to be used.
	from := sourceOf(r)
	if from.sent {
		if f.index == 0 {
			if err := f.resume(from.meta.Index); err != nil {
				return err
			}
		}
		if err := f.recall(from.meta.Index); err != nil {
			return err
		}
	}
	was := f.index
	f.index = from.meta.Index
	err := f.m.Restore(r)
	if d, ok := err.(divergence); ok && from.sent { // never this node's own
		// Its place is in this log (snapshots.Create), and what this run applied goes beyond it: a
		// network brought a leader's request late, or twice.
		if d.Diverged() && from.meta.Index < was {
			f.index = was
			return errors.Join(errLate, f.snaps.remove(from.meta))
		}
		return f.snaps.discard(from.meta)
	}
	if err != nil {
		return f.set("restored a snapshot", err)
	}
	return nil
}

type image func(io.Writer) error

func (write image) Persist(sink raft.SnapshotSink) error {
	if err := write(sink); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}

func (image) Release() {}
