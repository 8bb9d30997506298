package replica

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
)

// mark is the index of the latest entry that was applied here, over restarts: raft forgets it, and
// deletes what a leader's log contradicts, or puts the leader's snapshot before it. No such entry
// was ever decided, unless most nodes were restored from an older backup. Then this node may have
// the only copy of what they lack.
//
// It is written without fsync, and errors of writing it are ignored: a mark that is behind protects
// fewer entries. The log is fsynced before its entries are applied, so that no crash leaves a mark
// beyond both it and the newest snapshot: another file is in place of the log ([begun]).
type mark struct {
	index atomic.Uint64
	found uint64   // what open read, also if it is beyond the log's end
	file  *os.File // nil for stores in memory
}

// open reads the mark of an earlier run. Of one beyond the log's end, index is that end.
func (m *mark) open(path string, end uint64) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	m.file = file
	var b [16]byte
	if _, err := file.ReadAt(b[:], 0); err == nil {
		if at := binary.BigEndian.Uint64(b[:]); binary.BigEndian.Uint64(b[8:]) == ^at { // else it was cut short
			m.found = at
			m.index.Store(min(at, end))
		}
	}
	return nil
}

// applied notes an entry. It is called in the order of the log.
func (m *mark) applied(index uint64) {
	if index <= m.index.Load() {
		return // after a start
	}
	m.index.Store(index)
	if m.file != nil {
		m.file.WriteAt(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, index), ^index), 0)
	}
}

func (m *mark) close() error {
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}

// contradicts ends the node, before it loses anything. The next start would find the same leader,
// or would be elected over those that lack what was decided: a person has to choose a log first.
func (s *store) contradicts(index uint64) error {
	return s.set("followed the leader", &LostError{contradicted{index}})
}

// contradicted is the error of a leader that has another entry than one applied here.
type contradicted struct{ index uint64 }

func (e contradicted) Error() string {
	return fmt.Sprintf("the coordinator that leads, with its entry %d, contradicts what was decided here: were others restored from an older backup? Nothing was deleted here. To go on with this one's log, stop them all, delete their folders raft/, and copy this one's there; to go on with theirs, keep this one's elsewhere and put a copy of theirs here: operations.md, what to back up",
		e.index)
}
