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
// of its secret, and what a setup leaves until its study is finished under that of
// the announcement.
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
//
// # What may be written with an upload
//
// A query costs a site five fsyncs: the upload with its charge and the chain's head, the
// signature, the shares, the result, the erasure. With "wait" it is three: the signature and the
// shares are recorded with the upload. Transactions that wait share one; every few hundred queries
// the log is committed to ledger.db, which takes two.
//
// Those three stay. The erasure follows a durable result: a zeroed key of which the log says
// nothing shows a restored log (L17, L18). Were the result recorded with the next upload, the
// erasure would move from beside the next sum to after it, where this site's next answer waits for
// it, and the secrets would lie on disk for as long as a sum takes.
//
// A setup on the complete graph costs eight: the announcement with its secrets, and the
// confirmation with the slots, two each, of keys and of the log; one each for the announcements,
// the boxes, the erasure of the secrets and what all confirmed.
//
// A charge in one transaction with the upload is as safe as a charge before it. A query reveals
// its uploads and what follows from them, nothing else. An upload leaves once its transaction is
// durable (AG-5), and the query's charge is in that transaction or an earlier one: after any crash
// all that left is charged. A sum that was computed and is not on record has not left. Computing
// it again makes the same bytes, since masks and noise are a function of the slot's secret and ctx
// (A12).
//
// Shares may be recorded before they are asked for where the survivors are known, as with "wait".
// The record binds the query to this slot, context and set earlier than shares that are sent do,
// so at most one sum of the query opens (L8, L10). It costs no retry, since a slot that waits is
// never given up. The shares are sealed with the slot's secret, from which they follow, and are
// erased with it. That they leave on a checked certificate alone, and proofs after them, is the
// agent's to keep (A6, L8): here the record does not tell shares that left from those that wait.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - L1, AG-2: A site MUST NOT set up, upload, sign, send shares, proofs or keys, or answer
//     anything but a refusal for a study that its ledger has not approved, nor contribute to one
//     that it has finished.
//   - L3: A query's ρ MUST be recorded, once, in one transaction with the first of its uploads,
//     and charges MUST NOT pass the approved ρ.
//   - L4: A slot carries at most one upload. It MUST NOT be computed again; the same query, slot
//     and context get the bytes on record (AG-5).
//   - L5: A new upload MUST be for a slot later than every slot on record, and no query may go
//     back.
//   - L7: With `on_dropout = "wait"` a site MUST NOT sign a U other than all sites. It MAY record
//     that signature, and its shares for all sites, with the upload, in one transaction, before it
//     is asked for them. The shares, and proofs of them, MUST NOT leave before it has checked a
//     certificate.
//   - L9: Having signed in a later slot, a site MUST refuse shares, proofs and keys for an earlier
//     one, those already sent included.
//   - L10: Having recorded shares for a query, a site MUST NOT sign or upload in another slot of
//     that query; it returns what the shares are for.
//   - L11: A site MAY send shares for a certified U other than the one it signed in that slot.
//   - L12: A final query MUST be refused everything but its one final result, proofs and keys
//     included.
//   - L13: A secret's wrap key MUST be fsynced before the sealed secret is committed. A slot's
//     upload and shares are sealed under the key of its secret, what a setup leaves but for secrets
//     under that of its announcement.
//   - L14: Erasing MUST overwrite the wrap key with zeros and fsync it before the entry is
//     removed, and MUST NOT begin before the record of the erasure is durable. An erased secret
//     cannot be stored anew.
//   - L15: A final result MUST be recorded before its slots' secrets are erased, and they MUST be
//     erased before `Final` returns (or, of `FinalThenErase`, the next `Erase`). What a crash
//     interrupts is finished when the ledger opens. The same holds for a finished study.
//   - L16, AG-17: The ledger's first I/O error MUST be the last operation on it, with no retry. It
//     ends the agent, which MUST say nothing from then on, not even a refusal: the next process
//     answers what is on disk, with the same bytes.
//   - L17, L18: A ledger with one file lost, damaged or foreign, or with a `ledger.db` or `log`
//     older than `keys`, MUST NOT be used: the site leaves its studies. A log that goes on from a
//     later commit shows a restored `ledger.db`. An item under a zeroed key whose erasure is not
//     on record shows a restored `ledger.db` or `log`.
//   - L19: A study of which the ledger no longer knows all that was sent MUST be finished with its
//     whole approved ρ spent, in one transaction.
//   - L20: `agent ledger recover` MUST keep every budget of a readable `ledger.db` whose key file
//     or log is lost, damaged, or of another ledger or time (so an approval MUST be in `ledger.db`
//     itself), MUST forfeit every unfinished study, MUST erase this ledger's old keys, not
//     another's, and MUST refuse a ledger with nothing wrong, in use, or with an unreadable
//     `ledger.db`. After a crash the ledger opens, or can be recovered again.
//   - L21: `agent ledger recover --from EXPORT` MUST make a ledger only where there is no
//     `ledger.db`, and only from an export whose populations add up to its studies. Unfinished
//     studies count as spent in full; none of the export can be entered again.
//   - L22: On a full file system the ledger MUST fail with a `*StoreError` in the system's words,
//     MUST hold what was answered when it is opened again, full or not, and MUST work once there
//     is space.
//   - L23: A transaction of the log is on record if it is whole and follows the one before it. A
//     record after a gap MUST NOT be taken up. A record that cannot be read, and that a later one
//     reports as durable, MUST be found; the last records look like writes that a power cut tore.
//     Nothing MAY be answered or refused from a transaction before it is durable. An fsync that
//     failed MUST NOT be tried again: the next process writes again what it may have covered.
package ledger
