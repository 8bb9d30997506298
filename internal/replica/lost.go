package replica

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// LostError is why a log is of no use, or not of the leader's, where the next start would find the
// same: somebody restores the folder, or another coordinator takes this one's place.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }

func (e *LostError) Unwrap() error { return e.Err }

var begunKey = []byte("covey/begun")

// begun marks the log as in use before anything else is written. A log without
// that, where there are snapshots or the mark of an applied entry, is a new file in
// place of a lost one: raft would start from the snapshot, or from nothing, and
// forget what was committed, and voted, since. Where nothing at all is left of a
// lost log, only its operator can know. One that ends before the mark is an older
// copy in place of it, or lost its end to a disk that did not keep what it
// acknowledged: the same would be forgotten, and others may count on this node for it.
func begun(st *store, snaps *snapshots) error {
	v, err := st.GetUint64(begunKey)
	if err != nil && !notFound(err) {
		return err
	}
	all, err := snaps.List() // newest first
	if err != nil {
		return err
	}
	if v != 1 {
		if len(all) > 0 || st.mark.found > 0 {
			return st.set("started", &LostError{errors.New("raft.db is new, and raft/ has files of an earlier one: the log was lost: restore the whole data folder from a backup; or if other coordinators run, remove this one there and add one under a new name")})
		}
		return st.SetUint64(begunKey, 1)
	}
	end, err := st.LastIndex()
	if err != nil {
		return err
	}
	if len(all) > 0 {
		end = max(end, all[0].Index)
	}
	if end < st.mark.found {
		return st.set("started", &LostError{olderLog{end, st.mark.found}})
	}
	return nil
}

// olderLog is a log that lacks entries that were applied here.
type olderLog struct{ end, applied uint64 }

func (e olderLog) Error() string {
	return fmt.Sprintf("raft.db ends with entry %d, and entry %d was applied here: an older copy is in its place, or its disk lost what it had acknowledged. Put the newer raft.db back; or restore the whole data folder from one backup; or if other coordinators run, remove this one there and add one under a new name. If none of that can be done, move the file raft/applied away: this log then goes on without what it lacks, as an older backup does (operations.md, what to back up)",
		e.end, e.applied)
}

// newborn lets a bootstrap that a crash cut short be done again. It writes
// term 1 first and the configuration second; raft refuses to begin again once
// there is a term, and can do nothing without a configuration. With an empty
// log and no snapshot, which raft checks as well, term 1 can mean only that.
type newborn struct{ raft.StableStore }

func (s newborn) GetUint64(key []byte) (uint64, error) {
	v, err := s.StableStore.GetUint64(key)
	if v == 1 {
		v = 0
	}
	return v, err
}
