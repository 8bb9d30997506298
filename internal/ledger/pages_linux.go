package ledger

import (
	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// mapped is how much of ledger.db bbolt maps at least: addresses, and memory only where it is read.
// It need not map the file anew, for which it copies what waits for a commit, as long as that is
// enough.
const mapped = 1 << 30

// rest lets the system take back the pages that tx's database has in memory through bbolt's map.
// They are a file's, so that locking them (internal/memory) keeps nothing off the disk; they come
// back from the system's file cache as they are read. No address beyond the map may be named: what
// is there would be lost, so that nothing is done where less was mapped (openDB). A failure leaves
// the pages in memory.
func rest(tx *bbolt.Tx) {
	if tx.DB().AllocSize != growBy {
		return
	}
	at, size := tx.DB().Info().Data, uintptr(min(tx.Size(), mapped))
	unix.Syscall(unix.SYS_MUNLOCK, at, size, 0)
	unix.Syscall(unix.SYS_MADVISE, at, size, unix.MADV_DONTNEED)
}
