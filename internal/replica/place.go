package replica

import (
	"encoding/binary"
	"math/rand/v2"
)

// What a restored copy decides has other terms than what the original decided after it was copied:
// raft tells entries apart by index and term alone, and coordinators restored from a backup can
// elect a leader in a term of the history that they lack. One that kept this history would then
// take the new entries for its own.

var (
	placeKey = []byte("covey/place")
	termKey  = []byte("CurrentTerm") // raft's
)

// settle begins a term that no other copy of this log has had, if the file of the log is another
// one than that of the last run: every copy of a file has a birth and inode of its own. Where the
// file system tells neither, or a whole disk was restored, it does nothing.
func settle(s *store, place []byte) error {
	if len(place) == 0 {
		return nil
	}
	was, err := s.Get(placeKey)
	if err != nil && !notFound(err) || string(was) == string(place) {
		return err
	}
	term, err := s.GetUint64(termKey)
	if err != nil && !notFound(err) {
		return err
	}
	if term > 1 { // a node that has only begun has decided nothing
		if err := s.SetUint64(termKey, term+1+uint64(rand.Uint32())); err != nil {
			return err
		}
	}
	return s.Set(placeKey, place) // last: a crash before it repeats the step
}

// placeOf joins what tells a file from its copies.
func placeOf(inode uint64, seconds int64, nanoseconds uint32) []byte {
	b := binary.BigEndian.AppendUint64(nil, inode)
	b = binary.BigEndian.AppendUint64(b, uint64(seconds))
	return binary.BigEndian.AppendUint32(b, nanoseconds)
}
