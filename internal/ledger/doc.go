// Package ledger is the site's memory: the fsynced budget in ρ per population, and the
// once-only journal of each study (docs/privacy.md, docs/protocol.md). What it answers, it answered
// from disk: a value is fsynced before the caller sees it and is never computed a second time.
//
// # Guarantee
//
// For every study, at any number of crashes, and for every caller that sends
// only what this package returned:
//
//   - nothing is uploaded for a study that was not approved, nor for a query
//     whose ρ is not on record with it, nor beyond the ρ that was approved, and the
//     studies of one population together never pass its cap;
//   - one slot carries at most one upload, at most one signed survivor set;
//   - one query gives out shares for at most one slot and survivor set, and
//     never for a slot earlier than the latest one signed;
//   - once a query is final, its slots' secrets cannot be read from these files.
//
// # Files
//
// The directory (0700) holds ledger.db, a bbolt file; log, the transactions since
// its last commit, each durable with one fsync; and keys, a flat file of 32-byte
// wrap keys; all 0600. Each secret (setup secrets, slot secrets) is sealed with
// AES-256-GCM under a wrap key of its own, a slot's upload and shares under that
// of its secret.
// Erasing it overwrites those 32 bytes in place with zeros and fsyncs. Removing
// the database entry alone would not do: bbolt frees pages without wiping them.
//
// # Limits of erasure
//
// Overwriting in place reaches the medium only where the medium writes in
// place. An SSD's wear levelling keeps the old block until it is collected; a
// copy-on-write file system (btrfs, ZFS, XFS reflinks), a snapshot of a volume
// or of a virtual machine, ext4 with data=journal, and every backup keep old
// versions of the key file. Swap and core dumps may hold what was in memory.
// Keep the directory on an encrypted volume, and the key file out of backups:
// a restored ledger must leave its studies anyway. What was sent is not undone
// by erasing it here.
//
// # Failure
//
// The first I/O error latches: it is returned as *StoreError and every call
// after it is refused with the same error. A failed fsync must not be retried,
// since a retry may report success for pages the kernel has dropped. Reopen
// the ledger in a new process: it writes what it reads of the log's end once
// more, and answers from what is then on disk.
//
// # Loss and rollback
//
// A key file or log that is missing, of another ledger or of another time than
// ledger.db is found by Open or when a secret is read (*LostError); so is a
// ledger.db or a log that was restored alone once a slot has been erased since.
// Recover then keeps the budgets and gives the studies up. If all files are
// restored together to an earlier state, they agree, and this package cannot
// tell: internal/agent looks for what the site has sent since, and calls Forfeit.
package ledger
