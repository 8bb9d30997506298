// Package failpoint marks the places where a crash matters: just before and
// just after each write that must be durable, and where an agent's messages leave and
// arrive. With the build tag "failpoint" a test can watch these places, make one
// fail, or stop a process there; without it Hit is an empty function, and nothing of
// this is in a release build.
//
// What passes is the history that test/history checks. It holds what the
// places hold, masked uploads and shares included, so a build with the tag must
// never see real data.
package failpoint

import "time"

// Phase says on which side of the write a place is.
type Phase string

// The phases. A message has only one place: Before it is sent, After it arrived.
const (
	Before Phase = "before"
	After  Phase = "after" // the write is durable
)

// The points. A ledger's and a log's have both phases.
const (
	// LedgerPrefix begins the points of an agent's ledger: ledger.approve, .reject,
	// .charge, .upload, .sign, .shares, .final, .finish, .erase, .slots, and
	// .setup.KIND for each kind of setup item.
	LedgerPrefix = "ledger."
	// Log is one command stored in a coordinator's raft log; Data is the command, Slot
	// its index.
	Log = "raft.log"
	// Snapshot is a coordinator's snapshot; Data is all of it.
	Snapshot = "raft.snapshot"
	// Vote is a term or a vote stored by raft.
	Vote = "raft.vote"
	// Send is a serialized SiteMessage that an agent is about to send.
	Send = "link.send"
	// Receive is a serialized CoordinatorMessage that an agent received.
	Receive = "link.receive"
)

// Event is one passage of a place.
type Event struct {
	Point string    `json:"point"`
	Phase Phase     `json:"phase"`
	Owner string    `json:"owner"` // the data folder
	Time  time.Time `json:"time"`  // of the machine; filled in by Hit
	// Study, Query and Slot are set where the place knows them; Query and Slot are
	// -1 where they mean nothing.
	Study [32]byte `json:"study"`
	Query int      `json:"query"`
	Slot  int      `json:"slot"`
	Data  []byte   `json:"data,omitempty"`
}
