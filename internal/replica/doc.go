// Package replica keeps one state machine the same on every coordinator, by
// hashicorp/raft (docs/protocol.md). It is the only package that sees raft.
// One node is a cluster of one, through the same code; its transport is then
// in memory.
//
// # Guarantee
//
// An entry whose Apply returned without an error is fsynced on a majority and
// is applied, once and in the same order, by every machine, now and after any
// restart. A leader that has called Barrier has applied everything committed.
//
// # Failure
//
// The first I/O error of a store latches, as etcd and PostgreSQL learnt to do
// with fsync: raft is stopped, Failed delivers the error, every call returns
// it. Nothing is retried, because a retried fsync may report success for pages
// that the kernel has dropped. The process must end; the next one starts from
// what is on disk.
package replica
