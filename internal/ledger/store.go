package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"covey/internal/failpoint"
)

// store is what a ledger is written to: ledger.db, and the log of what is not in it yet. A change
// is durable with the log's fsync, all of it or nothing. The first failure latches.
type store struct {
	dir string
	db  *bbolt.DB
	log *commitLog // nil while the ledger is made or recovered: every change is then committed to db

	txMu    sync.Mutex          // held while tx is used
	tx      *bbolt.Tx           // what db holds and the log's changes; nil if it has to be begun (again)
	marks   []place             // in the write under way, for failpoint alone
	changes []byte              // the log's record of the write under way; nil if it changes nothing
	read    int                 // bytes of ledger.db, since its pages were given back
	last    map[[32]byte]uint64 // the log's last record about a study that somebody waits for
	decoded map[[32]byte]*decoded

	mu      sync.Mutex
	failed  error // the latched *StoreError, or ErrClosed
	closed  bool
	shownMu sync.Mutex // of shown alone: a transaction takes it, and Close waits for that with mu held
	shown   *staged    // of the coordinator's chain, for the next transaction; nil if nothing waits
}

// Err returns the latched *StoreError, ErrClosed, or nil while the ledger works.
func (s *store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// latch keeps the first failure; it returns the one that is kept.
func (s *store) latch(err *StoreError) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	return s.failed
}

// stored wraps an error of bbolt or of the key file so that update latches it.
func stored(op string, err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Op: op, Err: err}
}

// view runs fn on what the ledger holds. fn's own errors pass through, except *StoreError, which
// latches as the files' own errors do.
func (s *store) view(fn func(*bbolt.Tx) error) error { return s.transact("read", fn) }

// update runs fn and makes its changes durable, all or none, before it returns. One fsync serves
// all updates that wait for it. If fn fails, its changes are undone.
func (s *store) update(at place, fn func(*bbolt.Tx) error) error {
	return s.write(at, durable, fn)
}

// updateWhole is update that leaves ledger.db whole: all that it holds was in it, not in the log.
func (s *store) updateWhole(at place, fn func(*bbolt.Tx) error) error {
	return s.write(at, whole, fn)
}

// updateLater is update of what is found again after a crash: it becomes durable with the next
// update, or not at all.
func (s *store) updateLater(at place, fn func(*bbolt.Tx) error) error {
	return s.write(at, later, fn)
}

// how a change is written: into the log, and with or without waiting for it, or into ledger.db.
type how int

const (
	later how = iota
	durable
	whole
)

func (s *store) write(at place, how how, fn func(*bbolt.Tx) error) error {
	if err := s.hit(at, failpoint.Before); err != nil {
		return err
	}
	var n uint64      // of the record to wait for
	var marks []place // for failpoint
	kept := func() {}
	err := s.transact("wrote", func(tx *bbolt.Tx) error {
		s.changes, s.marks = nil, nil
		if how == durable {
			n = s.last[at.study] // what fn finds, written by another: a refusal depends on it, too
		}
		err := fn(tx)
		marks = s.marks
		own := len(s.changes)
		if err == nil && how != later {
			kept, err = s.putShown(tx)
		}
		for _, c := range marks {
			if err == nil {
				err = s.hit(c, failpoint.Before)
			}
		}
		if err != nil {
			if s.changes != nil {
				s.undo()
			}
			return err
		}
		if s.log == nil || how == whole || !s.log.fits(s.changes) {
			return s.commit()
		}
		if s.changes != nil {
			number, err := s.log.append(s.changes)
			if err != nil {
				return &StoreError{Op: "wrote the log", Err: err}
			}
			if how == durable {
				s.last[at.study] = number
			}
			if len(s.changes) > own {
				s.last[ofChain] = number
			}
		}
		if how == durable { // the chain's head may be another's, too
			n = max(s.last[at.study], s.last[ofChain])
		}
		return nil
	})
	if _, failed := errors.AsType[*StoreError](err); !failed {
		if failed := s.sync(n); failed != nil {
			return failed
		}
	}
	if err != nil {
		return err
	}
	kept()
	for _, c := range append(marks, at) { // all are durable, also where one ends the process
		err = cmp.Or(err, s.hit(c, failpoint.After))
	}
	return err
}

// sync returns once the log's first n records are durable.
func (s *store) sync(n uint64) error {
	if s.log == nil {
		return nil
	}
	if err := s.log.sync(n); err != nil {
		return s.latch(&StoreError{Op: "wrote the log", Err: err})
	}
	return nil
}

// settle returns once everything that was written is durable.
func (s *store) settle() error {
	if s.log == nil {
		return nil
	}
	return s.sync(s.log.written.Load())
}

// begin takes up what db and the log hold. Called with txMu held.
func (s *store) begin() error {
	if s.log != nil && s.log.taken() { // once more, after an undo: what is taken up is answered from
		if err := s.log.sync(s.log.written.Load()); err != nil {
			return err
		}
	}
	tx, err := s.db.Begin(true)
	if err != nil {
		return err
	}
	s.tx = tx
	if s.log == nil {
		return nil
	}
	base := uint64(tx.ID()) - 1 // bbolt numbers a transaction by those that were committed before it
	if s.log.begun(base) {
		return nil
	}
	return s.log.replay(base, func(changes []byte) error {
		for len(changes) > 0 {
			c, rest, ok := cutChange(changes)
			if !ok {
				return lostLog("is damaged")
			}
			if err := apply(tx, c); err != nil {
				return err
			}
			changes = rest
		}
		return nil
	})
}

// undo takes back what is not in the log. Called with txMu held.
func (s *store) undo() {
	if s.tx != nil {
		s.tx.Rollback()
		s.tx = nil
	}
}

// commit makes db hold all of it, and the log begin anew. Called with txMu held.
func (s *store) commit() error {
	tx := s.tx
	base := uint64(tx.ID())
	s.tx = nil
	if err := tx.Commit(); err != nil {
		return stored("wrote", err)
	}
	s.read += restAfter // the pages that it went through
	if s.log != nil {
		s.log.begin(base)
	}
	return nil
}

// growBy is how much longer than it has to be ledger.db gets, where all of it is mapped.
const growBy = 1 << 20

// restAfter is how many bytes of ledger.db are read before its pages are given back.
const restAfter = 256 << 10

// do makes a change, and notes it for the log.
func (s *store) do(tx *bbolt.Tx, c change) error {
	if s.changes == nil {
		s.changes = make([]byte, logHead, logPage)
	}
	switch c.op {
	case opPut:
		s.changes = appendChange(s.changes, c.op, c.path, c.key, c.value)
		// bbolt keeps the value until ledger.db is written: a large one is that in the record,
		// which nobody changes there; a small one would keep a page.
		if n := len(c.value); n < logPage {
			c.value = bytes.Clone(c.value)
		} else {
			c.value = slices.Clip(s.changes[len(s.changes)-n:])
		}
	case opDelete:
		s.changes = appendChange(s.changes, c.op, c.path, c.key)
	default:
		s.changes = appendChange(s.changes, c.op, c.path)
	}
	return stored("wrote", apply(tx, c))
}

// put sets a key of the bucket that a path leads to.
func (s *store) put(tx *bbolt.Tx, key, value []byte, path ...[]byte) error {
	return s.do(tx, change{opPut, path, key, value})
}

// apply makes a change in db's transaction. Making what is there and dropping what is not is fine.
func apply(tx *bbolt.Tx, c change) error {
	if c.op == opDrop {
		if err := tx.DeleteBucket(c.path[0]); !errors.Is(err, berrors.ErrBucketNotFound) {
			return err
		}
		return nil
	}
	b, err := tx.CreateBucketIfNotExists(c.path[0])
	for _, name := range c.path[1:] {
		if err == nil {
			b, err = b.CreateBucketIfNotExists(name)
		}
	}
	switch {
	case err != nil:
		return err
	case c.op == opPut:
		return b.Put(c.key, c.value)
	case c.op == opDelete:
		return b.Delete(c.key)
	}
	return nil
}

// transact runs fn on db's transaction, one at a time.
func (s *store) transact(op string, fn func(*bbolt.Tx) error) (err error) {
	s.txMu.Lock()
	defer s.txMu.Unlock()
	if err := s.Err(); err != nil {
		return err
	}
	// bbolt reads through a memory map: a read error is a fault, and a damaged
	// page may be a panic. Both are this store's failure, not the caller's.
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if p := recover(); p != nil {
			err = s.latch(&StoreError{Op: op, Err: fmt.Errorf("the database is damaged: %v", p)})
		}
	}()
	if s.tx == nil {
		again := s.log != nil && s.log.taken()
		if err = s.begin(); err != nil {
			s.undo() // half of the log
			if _, lost := errors.AsType[*LostError](err); again || !lost {
				err = &StoreError{Op: op, Err: err}
			}
		}
	}
	if err == nil {
		err = fn(s.tx)
	}
	if s.read >= restAfter && s.tx != nil {
		rest(s.tx)
		s.read = 0
	}
	if e, ok := errors.AsType[*StoreError](err); ok {
		return s.latch(e)
	}
	return err
}
