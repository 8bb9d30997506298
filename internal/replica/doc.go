// Package replica keeps one state machine the same on every coordinator, by
// hashicorp/raft (docs/protocol.md). It is the only package that sees raft.
// One node is a cluster of one, through the same code; its transport is then
// in memory.
//
// # Guarantee
//
// An entry whose Apply returned without an error is fsynced on a majority and
// is applied, once and in the same order, by every machine, now and after any
// restart. A leader that has called Barrier has applied everything committed. Where most nodes were
// restored from an older backup, another one ends rather than delete what it has applied.
//
// # Failure
//
// The first I/O error of a store latches, as etcd and PostgreSQL learnt to do
// with fsync: raft is stopped, Failed delivers the error, every call returns
// it. Nothing is retried, because a retried fsync may report success for pages
// that the kernel has dropped. The process must end; the next one starts from
// what is on disk.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - LOG-1: An entry is acknowledged only after it is fsynced on a majority and applied, once, in
//     order, on every node, from the log, a snapshot, or both.
//   - LOG-2, LOG-3: `Apply` is deterministic: no clock, no randomness, no noise. A node that
//     begins to lead calls Barrier before it acts.
//   - LOG-4, O5: The first I/O error of the log, the term and vote store or the snapshot store
//     MUST be the last operation on any of them: raft stops, every call returns what failed, the
//     process ends. Where raft would panic, its goroutine ends instead.
//   - LOG-5: A snapshot is durable, names included, before its log is dropped. A missing or
//     damaged snapshot, a gap in the log, a new `raft.db` next to old snapshots, one that lacks
//     applied entries, or one that was cut short is an error at start.
//   - LOG-6: Raft logs to slog at debug level. Values that can hold an entry show as their type
//     only.
//   - LOG-7: Replication MUST NOT be pipelined: raft v1.7.3 can leave a follower without entries
//     forever.
//   - LOG-8: A copied log MUST begin a term that the log it was copied from never has: raft takes
//     entries of one index and term for the same. (Linux, where files have a time of birth.)
package replica
