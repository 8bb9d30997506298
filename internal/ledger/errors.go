package ledger

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

var (
	// ErrLocked is returned by Open while another process holds the ledger.
	ErrLocked = errors.New("ledger: another agent runs on this ledger")
	// ErrClosed is returned by every call after Close.
	ErrClosed = errors.New("ledger: closed")
	// ErrErased is returned for a secret that was erased: it cannot come back.
	ErrErased = errors.New("ledger: the secret was erased")
	// ErrAbsent is returned for a slot that never held a secret.
	ErrAbsent = errors.New("ledger: no such secret was stored")
	// ErrHealthy is returned by Recover for a ledger whose files fit together.
	ErrHealthy = errors.New("ledger: its files fit together, so nothing was changed; if they are from a backup, later charges are missing: move the folder away, and give --from the latest export")
	// ErrExists is returned by Restore where a ledger.db is.
	ErrExists = errors.New("ledger: there is a ledger.db, so nothing was changed; without --from its budgets are kept, and a damaged one has to be moved away first")
)

// StoreError is the first I/O error of the ledger's files. It latches: every
// later call returns it too, and the process must end.
type StoreError struct {
	Op  string // what was being done
	Err error
}

func (e *StoreError) Error() string {
	text := "ledger: the store failed while it " + e.Op + ": " + e.Err.Error()
	is := func(e syscall.Errno) bool { return strings.Contains(text, e.Error()) } // bbolt keeps its words, not always the error
	switch {
	case is(syscall.ENOSPC), is(syscall.EDQUOT):
		text += "; free some space and start the agent again, and delete nothing in ledger/: studies wait"
	case is(syscall.EROFS), is(syscall.EIO):
		text += "; the kernel's log (dmesg) may say more: once the disk can be written, start the agent again, and restore no older ledger: studies wait"
	}
	return text
}

func (e *StoreError) Unwrap() error { return e.Err }

// LostError is a ledger of which one file is missing, damaged, or of another
// ledger or time. Nothing can be continued from it: the site must leave the
// studies it was in.
type LostError struct {
	File   string // the file's name in the ledger's directory
	Reason string
	// Budgets reports whether ledger.db can be read: Recover keeps its budgets.
	Budgets bool
}

// Error names the command that goes on from here, for the operator who reads it.
func (e *LostError) Error() string {
	next := `its budgets are lost too; "agent ledger recover --from EXPORT" starts a ledger from what "agent ledger export" wrote`
	if e.Budgets {
		next = `"agent ledger recover" keeps the budgets and leaves the studies`
	}
	return "ledger: " + e.File + " " + e.Reason + ": the site must leave its studies: " + next
}

// olderThan is a ledger.db of an earlier time than another file. Recover keeps the budgets of that
// time, so it tells what they lack.
func olderThan(file string) *LostError {
	return &LostError{File: dbName, Reason: "is older than " + file + " (restored alone?) and lacks what was approved since", Budgets: true}
}

// FieldError is an argument that cannot be stored.
type FieldError struct {
	Field  string
	Reason string
}

func (e *FieldError) Error() string { return "ledger: " + e.Field + " " + e.Reason }

// BudgetError is an approval that would pass the population's cap, or what its proposer's studies
// may be charged of it. All values are ρ; Cap is the one that bound the approval (Population.Cap).
type BudgetError struct {
	Population                  string
	Proposer                    string // where the cap is the proposer's
	Cap, Spent, Reserved, Asked float64
}

func (e *BudgetError) Error() string {
	if e.Proposer != "" {
		return fmt.Sprintf("ledger: population %q: %g spent and %g reserved by studies of %q, who may be charged %g: a study of %g does not fit (ρ)",
			e.Population, e.Spent, e.Reserved, e.Proposer, e.Cap, e.Asked)
	}
	return fmt.Sprintf("ledger: population %q: %g spent and %g reserved of a budget of %g: a study of %g does not fit (ρ)",
		e.Population, e.Spent, e.Reserved, e.Cap, e.Asked)
}

// ChargeError is a charge beyond the ρ its study was approved for.
type ChargeError struct {
	Study                  [32]byte
	Query                  int
	Approved, Spent, Asked float64
}

func (e *ChargeError) Error() string {
	return fmt.Sprintf("ledger: study %s: query %d: %g spent of the %g approved: a charge of %g does not fit (ρ)",
		short(e.Study), e.Query, e.Spent, e.Approved, e.Asked)
}

// StateError is a call that the study's state forbids: not approved, rejected,
// finished.
type StateError struct {
	Study [32]byte
	State State
}

func (e *StateError) Error() string {
	return "ledger: study " + short(e.Study) + " is " + string(e.State)
}

// ConflictError is a second, different value where the ledger holds a first.
type ConflictError struct {
	Study [32]byte
	What  string // "approval", "charge", "slot secret", "upload", "final result", "confirmation", "result"
	Query int    // -1 where none
	Slot  int    // -1 where none
}

func (e *ConflictError) Error() string {
	s := "ledger: study " + short(e.Study) + ": another " + e.What + " is on record"
	if e.Query >= 0 {
		s += fmt.Sprintf(" for query %d", e.Query)
	}
	if e.Slot >= 0 {
		s += fmt.Sprintf(" in slot %d", e.Slot)
	}
	return s
}

// Rule names the once-only rule that a refused request would have broken.
type Rule string

const (
	// QueryFinal: the query's final result is on record; return that instead.
	QueryFinal Rule = "the query is final"
	// QueryOrder: a later query has been worked on or is final.
	QueryOrder Rule = "a later query has begun"
	// SlotOrder: this slot or a later one is in use, signed or erased.
	SlotOrder Rule = "the slot is past"
	// NoShares: no shares went out, which alone let more be said about an opening.
	NoShares Rule = "no shares were sent"
)

// RuleError is a request that the once-only rules refuse. LatestQuery and
// LatestSlot are the largest on record, so that a leader that fell behind can
// tell how far.
type RuleError struct {
	Study                   [32]byte
	Rule                    Rule
	Query, Slot             int
	LatestQuery, LatestSlot int
}

func (e *RuleError) Error() string {
	return fmt.Sprintf("ledger: study %s: query %d, slot %d refused: %s (latest query %d, latest slot %d)",
		short(e.Study), e.Query, e.Slot, e.Rule, e.LatestQuery, e.LatestSlot)
}

// Signed is a survivor set this site signed, or sent shares for: all of it is
// public within the study. Signature is empty where shares were sent on the
// strength of others' signatures only.
type Signed struct {
	Query, Slot int
	Context     [32]byte
	Survivors   []byte // canonical encoding, the caller's
	Signature   []byte
}

// HeldError refuses a request because the site is bound to another survivor
// set; it carries what is held so that a rolled-back leader can adopt it.
type HeldError struct{ Signed }

func (e *HeldError) Error() string {
	return fmt.Sprintf("ledger: bound to another survivor set, for query %d in slot %d", e.Query, e.Slot)
}

func short(study [32]byte) string { return fmt.Sprintf("%x", study[:6]) }
