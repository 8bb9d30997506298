package ledger

import (
	"bytes"
	"cmp"
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
	keysMadeKey   = []byte("keys-made") // present once the key file and the log exist
	nextKey       = []byte("next")      // first place of the key file never used
)

// Ledger is one open ledger directory. Its methods may be called from many goroutines.
type Ledger struct {
	dir  string
	db   *bbolt.DB
	keys *keyFile
	log  *commitLog // nil while the ledger is made or recovered: every change is then committed to db

	txMu    sync.Mutex          // held while tx is used
	tx      *bbolt.Tx           // what db holds and the log's changes; nil if it has to be begun (again)
	marks   []place             // in the write under way, for failpoint alone
	changes []byte              // of the write under way, as the log has them
	last    map[[32]byte]uint64 // the log's last record about a study that somebody waits for
	decoded map[[32]byte]*decoded

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
	openDB            func(string, int, os.FileMode) (*os.File, error)
	keysFile, logFile func(*os.File) blockFile
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
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) && leftover(dir) {
		return nil, &LostError{File: dbName, Reason: "is missing"}
	}
	db, err := openDB(path, h)
	if err != nil {
		return nil, err
	}
	l := newLedger(dir, db)
	if err := l.start(h); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// leftover reports whether a directory has a file that is made after ledger.db.
func leftover(dir string) bool {
	_, keys := os.Lstat(filepath.Join(dir, keysName))
	_, log := os.Lstat(filepath.Join(dir, logName))
	return keys == nil || log == nil
}

func newLedger(dir string, db *bbolt.DB) *Ledger {
	return &Ledger{dir: dir, db: db, last: map[[32]byte]uint64{}, decoded: map[[32]byte]*decoded{}, journals: map[[32]byte]*Journal{}}
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
// First start: the id is committed, the key file and the log made, their being
// made committed; a crash before the last step leaves no secret and no charge,
// and the next start makes both anew.
func (l *Ledger) start(h hooks) error {
	if err := os.Chmod(filepath.Join(l.dir, dbName), 0o600); err != nil {
		return &StoreError{Op: "narrowed " + dbName + "'s mode", Err: err}
	}
	id, made, err := l.identity()
	if err != nil {
		return err
	}
	if id == ([16]byte{}) {
		if leftover(l.dir) {
			return &LostError{File: dbName, Reason: "is empty, next to a key file or a log"}
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
		if err := errors.Join(syncDir(l.dir), syncDir(filepath.Dir(l.dir)), createKeys(l.dir, id), createLog(l.dir, id)); err != nil {
			return l.latch(&StoreError{Op: "made the key file and the log", Err: err})
		}
		err := l.update(place{name: "made"}, func(tx *bbolt.Tx) error {
			return l.put(tx, keysMadeKey, []byte{1}, metaBucket)
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
	if err := l.openLog(id, h.logFile); err != nil {
		return err
	}
	return l.finishErasures()
}

// openLog takes the log's changes in, and makes them durable before anything is answered from them.
func (l *Ledger) openLog(id [16]byte, wrap func(*os.File) blockFile) error {
	log, err := openLog(l.dir, id, wrap)
	if err == nil {
		l.txMu.Lock()
		l.undo()
		l.log = log
		l.txMu.Unlock()
		if err = l.view(func(*bbolt.Tx) error { return nil }); err == nil {
			err = log.confirm()
		}
	}
	_, lost := errors.AsType[*LostError](err)
	if _, failed := errors.AsType[*StoreError](err); err == nil || lost || failed {
		return err
	}
	return l.latch(&StoreError{Op: "opened the log", Err: err})
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
	again := l.closed
	l.closed = true
	failed := l.failed
	if l.failed == nil {
		l.failed = ErrClosed
	}
	l.mu.Unlock()
	if again {
		return nil
	}
	l.txMu.Lock() // a change under way ends first
	defer l.txMu.Unlock()
	l.undo()
	err := l.db.Close()
	if l.keys != nil {
		err = errors.Join(err, l.keys.close())
	}
	if l.log == nil {
		return err
	}
	if failed == nil {
		err = errors.Join(err, l.log.sync(l.log.written.Load())) // for who waits, and what waited for the next
	}
	return errors.Join(err, l.log.f.Close())
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

// view runs fn on what the ledger holds. fn's own errors pass through, except *StoreError, which
// latches as the files' own errors do.
func (l *Ledger) view(fn func(*bbolt.Tx) error) error { return l.transact("read", fn) }

// update runs fn and makes what it changes durable, all of it or nothing, before update returns:
// with one fsync, which others that wait share. fn's own errors take back what it did.
func (l *Ledger) update(at place, fn func(*bbolt.Tx) error) error {
	return l.write(at, durable, fn)
}

// updateWhole is update that leaves ledger.db whole: all that it holds was in it, not in the log.
func (l *Ledger) updateWhole(at place, fn func(*bbolt.Tx) error) error {
	return l.write(at, whole, fn)
}

// updateLater is update of what is found again after a crash: it becomes durable with the next
// update, or not at all.
func (l *Ledger) updateLater(at place, fn func(*bbolt.Tx) error) error {
	return l.write(at, later, fn)
}

// how a change is written: into the log, and with or without waiting for it, or into ledger.db.
type how int

const (
	later how = iota
	durable
	whole
)

func (l *Ledger) write(at place, how how, fn func(*bbolt.Tx) error) error {
	if err := l.hit(at, failpoint.Before); err != nil {
		return err
	}
	var n uint64      // of the record to wait for
	var marks []place // for failpoint
	kept := func() {}
	err := l.transact("wrote", func(tx *bbolt.Tx) error {
		l.changes, l.marks = nil, nil
		if how == durable {
			n = l.last[at.study] // what fn finds, written by another: a refusal rests on it, too
		}
		err := fn(tx)
		marks = l.marks
		own := len(l.changes)
		if err == nil && how != later {
			kept, err = l.putShown(tx)
		}
		for _, c := range marks {
			if err == nil {
				err = l.hit(c, failpoint.Before)
			}
		}
		if err != nil {
			if l.changes != nil {
				l.undo()
			}
			return err
		}
		if l.log == nil || how == whole || !l.log.fits(l.changes) {
			return l.commit()
		}
		if l.changes != nil {
			number, err := l.log.append(l.changes)
			if err != nil {
				return &StoreError{Op: "wrote the log", Err: err}
			}
			if how == durable {
				l.last[at.study] = number
			}
			if len(l.changes) > own {
				l.last[ofChain] = number
			}
		}
		if how == durable { // the chain's head may be another's, too
			n = max(l.last[at.study], l.last[ofChain])
		}
		return nil
	})
	if _, failed := errors.AsType[*StoreError](err); !failed {
		if failed := l.sync(n); failed != nil {
			return failed
		}
	}
	if err != nil {
		return err
	}
	kept()
	for _, c := range append(marks, at) { // all are durable, also where one ends the process
		err = cmp.Or(err, l.hit(c, failpoint.After))
	}
	return err
}

// sync returns once the log's first n records are durable.
func (l *Ledger) sync(n uint64) error {
	if l.log == nil {
		return nil
	}
	if err := l.log.sync(n); err != nil {
		return l.latch(&StoreError{Op: "wrote the log", Err: err})
	}
	return nil
}

// settle returns once everything that was written is durable.
func (l *Ledger) settle() error {
	if l.log == nil {
		return nil
	}
	return l.sync(l.log.written.Load())
}

// begin takes up what db and the log hold. Called with txMu held.
func (l *Ledger) begin() error {
	if l.log != nil && l.log.taken() { // once more, after an undo: what is taken up is answered from
		if err := l.log.sync(l.log.written.Load()); err != nil {
			return err
		}
	}
	tx, err := l.db.Begin(true)
	if err != nil {
		return err
	}
	l.tx = tx
	if l.log == nil {
		return nil
	}
	base := uint64(tx.ID()) - 1 // bbolt numbers a transaction by those that were committed before it
	if l.log.begun(base) {
		return nil
	}
	return l.log.replay(base, func(changes []byte) error {
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
func (l *Ledger) undo() {
	if l.tx != nil {
		l.tx.Rollback()
		l.tx = nil
	}
}

// commit makes db hold all of it, and the log begin anew. Called with txMu held.
func (l *Ledger) commit() error {
	tx := l.tx
	base := uint64(tx.ID())
	l.tx = nil
	if err := tx.Commit(); err != nil {
		return stored("wrote", err)
	}
	if l.log != nil {
		l.log.begin(base)
	}
	return nil
}

// do makes a change, and notes it for the log.
func (l *Ledger) do(tx *bbolt.Tx, c change) error {
	switch c.op {
	case opPut:
		l.changes = appendChange(l.changes, c.op, c.path, c.key, c.value)
		c.value = bytes.Clone(c.value) // bbolt keeps it
	case opDelete:
		l.changes = appendChange(l.changes, c.op, c.path, c.key)
	default:
		l.changes = appendChange(l.changes, c.op, c.path)
	}
	return stored("wrote", apply(tx, c))
}

// put sets a key of the bucket that a path leads to.
func (l *Ledger) put(tx *bbolt.Tx, key, value []byte, path ...[]byte) error {
	return l.do(tx, change{opPut, path, key, value})
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
func (l *Ledger) transact(op string, fn func(*bbolt.Tx) error) (err error) {
	l.txMu.Lock()
	defer l.txMu.Unlock()
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
	if l.tx == nil {
		again := l.log != nil && l.log.taken()
		if err = l.begin(); err != nil {
			l.undo() // half of the log
			if _, lost := errors.AsType[*LostError](err); again || !lost {
				err = &StoreError{Op: op, Err: err}
			}
		}
	}
	if err == nil {
		err = fn(l.tx)
	}
	if s, ok := errors.AsType[*StoreError](err); ok {
		return l.latch(s)
	}
	return err
}

// newPlaces takes n fresh places of the key file within tx.
func (l *Ledger) newPlaces(tx *bbolt.Tx, n int) (uint64, error) {
	meta := tx.Bucket(metaBucket)
	v := meta.Get(nextKey)
	if len(v) != 8 {
		return 0, &LostError{File: dbName, Reason: "is damaged"}
	}
	first := binary.BigEndian.Uint64(v)
	return first, l.put(tx, nextKey, binary.BigEndian.AppendUint64(nil, first+uint64(n)), metaBucket)
}
