package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"covey/internal/failpoint"
)

const (
	dbName   = "ledger.db"
	format   = "covey ledger v1"
	lockWait = 300 * time.Millisecond
)

// Top-level buckets, and the keys of metaBucket.
var (
	metaBucket    = []byte("meta")
	studiesBucket = []byte("studies")
	formatKey     = []byte("format")
	idKey         = []byte("id")
	keysMadeKey   = []byte("keys-made") // present once the key file exists
	nextKey       = []byte("next")      // first place of the key file never used
)

// Ledger is one open ledger directory. Its methods may be called from many
// goroutines.
type Ledger struct {
	dir  string
	db   *bbolt.DB
	keys *keyFile

	erasing  sync.Mutex // held while finishErasures looks and erases
	mu       sync.Mutex
	failed   error // the latched *StoreError, or ErrClosed
	closed   bool
	journals map[[32]byte]*Journal
	shownMu  sync.Mutex // of shown alone: a transaction takes it, and Close waits for that with mu held
	shown    *staged    // of the coordinator's chain, for the next transaction; nil if nothing waits

	finishedMu sync.Mutex        // held while Active looks
	finished   map[[32]byte]bool // studies that Active has seen finished
}

// hooks let this package's tests stand between the ledger and its files.
type hooks struct {
	openDB   func(string, int, os.FileMode) (*os.File, error)
	keysFile func(*os.File) blockFile
}

// Open opens the ledger in dir, making both if they do not exist; dir is
// narrowed to 0700 and the files to 0600. It finishes any erasure that a crash
// cut short. Errors: ErrLocked; *LostError when one of the two files is gone or
// not of this ledger; *StoreError.
func Open(dir string) (*Ledger, error) { return open(dir, hooks{}) }

func open(dir string, h hooks) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &StoreError{Op: "made its directory", Err: err}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, &StoreError{Op: "narrowed its directory's mode", Err: err}
	}
	path := filepath.Join(dir, dbName)
	_, keysErr := os.Lstat(filepath.Join(dir, keysName))
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) && keysErr == nil {
		return nil, &LostError{File: dbName, Reason: "is missing"}
	}
	db, err := openDB(path, h)
	if err != nil {
		return nil, err
	}
	l := &Ledger{dir: dir, db: db, journals: map[[32]byte]*Journal{}}
	if err := l.start(h); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// openDB opens the bbolt file; bbolt panics on some damaged files, which here
// is an error like any other.
func openDB(path string, h hooks) (db *bbolt.DB, err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, &LostError{File: dbName, Reason: fmt.Sprintf("is damaged (%v)", p)}
		}
	}()
	db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, OpenFile: h.openDB})
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, ErrLocked
	case err == nil:
		return db, nil
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &StoreError{Op: "opened " + dbName, Err: err}
	}
	if _, ok := errors.AsType[syscall.Errno](err); ok {
		return nil, &StoreError{Op: "opened " + dbName, Err: err}
	}
	return nil, &LostError{File: dbName, Reason: fmt.Sprintf("is damaged or not a ledger (%v)", err)}
}

// start brings a ledger from any state a crash can leave to a usable one.
// First start: the id is committed, the key file made, its being made
// committed; a crash before the last step leaves no secret and no charge, and
// the next start makes the key file anew.
func (l *Ledger) start(h hooks) error {
	if err := os.Chmod(filepath.Join(l.dir, dbName), 0o600); err != nil {
		return &StoreError{Op: "narrowed " + dbName + "'s mode", Err: err}
	}
	id, made, err := l.identity()
	if err != nil {
		return err
	}
	if id == ([16]byte{}) {
		if _, err := os.Lstat(filepath.Join(l.dir, keysName)); err == nil {
			return &LostError{File: dbName, Reason: "is empty, next to a key file"}
		}
		if err := l.update(place{name: "make"}, makeMeta); err != nil {
			return err
		}
		if id, made, err = l.identity(); err != nil {
			return err
		}
	}
	if !made {
		// bbolt fsyncs the file, not its name.
		if err := errors.Join(syncDir(l.dir), syncDir(filepath.Dir(l.dir)), createKeys(l.dir, id)); err != nil {
			return l.latch(&StoreError{Op: "made the key file", Err: err})
		}
		err := l.update(place{name: "made"}, func(tx *bbolt.Tx) error {
			return stored("made the ledger", tx.Bucket(metaBucket).Put(keysMadeKey, []byte{1}))
		})
		if err != nil {
			return err
		}
	}
	if l.keys, err = openKeys(l.dir, id, h.keysFile); err != nil {
		if _, ok := errors.AsType[*LostError](err); ok {
			return err
		}
		return &StoreError{Op: "opened the key file", Err: err}
	}
	return l.finishErasures()
}

// identity reads the ledger's id, zero if the database is new, and whether its
// key file was made.
func (l *Ledger) identity() (id [16]byte, made bool, err error) {
	err = l.view(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if meta == nil {
			return nil
		}
		if f := meta.Get(formatKey); string(f) != format {
			return &LostError{File: dbName, Reason: fmt.Sprintf("has the unknown format %.40q", f)}
		}
		if copy(id[:], meta.Get(idKey)) != len(id) || tx.Bucket(studiesBucket) == nil || len(meta.Get(nextKey)) != 8 {
			return &LostError{File: dbName, Reason: "is damaged"}
		}
		made = meta.Get(keysMadeKey) != nil
		return nil
	})
	return id, made, err
}

// makeMeta makes an empty database a ledger's, its key file still to be made.
func makeMeta(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists(metaBucket)
	if err == nil {
		_, err = tx.CreateBucketIfNotExists(studiesBucket)
	}
	if err == nil {
		err = meta.Put(formatKey, []byte(format))
	}
	if err != nil {
		return stored("made the ledger", err)
	}
	return fresh(tx)
}

// Close releases the files. It is safe to call twice.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	if l.failed == nil {
		l.failed = ErrClosed
	}
	err := l.db.Close()
	if l.keys != nil {
		err = errors.Join(err, l.keys.close())
	}
	return err
}

// String names the ledger by its directory; nothing of its content.
func (l *Ledger) String() string { return "ledger " + l.dir }

// Err returns the latched *StoreError, ErrClosed, or nil while the ledger works.
func (l *Ledger) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// latch keeps the first failure; it returns the one that is kept.
func (l *Ledger) latch(err *StoreError) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
	return l.failed
}

// stored wraps an error of bbolt or of the key file so that update latches it.
func stored(op string, err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{Op: op, Err: err}
}

// view runs fn in a read transaction, update in a write transaction that is
// fsynced before update returns. fn's own errors roll back and pass through,
// except *StoreError, which latches as the transaction's own errors do.
func (l *Ledger) view(fn func(*bbolt.Tx) error) error {
	return l.transact("read", l.db.View, fn)
}

func (l *Ledger) update(at place, fn func(*bbolt.Tx) error) error {
	if err := l.hit(at, failpoint.Before); err != nil {
		return err
	}
	var kept func()
	err := l.transact("wrote", l.db.Update, func(tx *bbolt.Tx) error {
		err := fn(tx)
		if err == nil {
			kept, err = l.putShown(tx)
		}
		return err
	})
	if err != nil {
		return err
	}
	kept()
	return l.hit(at, failpoint.After)
}

// place names an update for failpoint.
type place struct {
	name        string
	study       [32]byte
	query, slot int
}

// of is a place about a study as a whole.
func of(name string, study [32]byte) place { return place{name, study, -1, -1} }

// hit passes one side of an update; it does nothing in a release build.
func (l *Ledger) hit(at place, phase failpoint.Phase) error {
	if !failpoint.Enabled {
		return nil
	}
	err := failpoint.Hit(failpoint.Event{
		Point: failpoint.LedgerPrefix + at.name, Phase: phase, Owner: l.dir, Study: at.study, Query: at.query, Slot: at.slot,
	})
	if err != nil {
		return l.latch(&StoreError{Op: "wrote", Err: err})
	}
	return nil
}

func (l *Ledger) transact(op string, run func(func(*bbolt.Tx) error) error, fn func(*bbolt.Tx) error) (err error) {
	if err := l.Err(); err != nil {
		return err
	}
	// bbolt reads through a memory map: a read error is a fault, and a damaged
	// page may be a panic. Both are this store's failure, not the caller's.
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if p := recover(); p != nil {
			err = l.latch(&StoreError{Op: op, Err: fmt.Errorf("the database is damaged: %v", p)})
		}
	}()
	var inner error
	err = run(func(tx *bbolt.Tx) error {
		inner = fn(tx)
		return inner
	})
	if s, ok := errors.AsType[*StoreError](inner); ok {
		return l.latch(s)
	}
	switch {
	case inner != nil:
		return inner
	case errors.Is(err, berrors.ErrDatabaseNotOpen) && errors.Is(l.Err(), ErrClosed):
		return ErrClosed
	case err != nil:
		return l.latch(&StoreError{Op: op, Err: err})
	}
	return nil
}

// newPlaces takes n fresh places of the key file within tx.
func newPlaces(tx *bbolt.Tx, n int) (uint64, error) {
	meta := tx.Bucket(metaBucket)
	v := meta.Get(nextKey)
	if len(v) != 8 {
		return 0, &LostError{File: dbName, Reason: "is damaged"}
	}
	first := binary.BigEndian.Uint64(v)
	return first, stored("wrote", meta.Put(nextKey, binary.BigEndian.AppendUint64(nil, first+uint64(n))))
}
