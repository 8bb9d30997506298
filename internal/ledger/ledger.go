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

	"covey/internal/bolt"
	"covey/internal/fsync"
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
	store
	keys *keyFile

	journals   map[[32]byte]*Journal // guarded by mu
	finishedMu sync.Mutex            // held while Active looks
	finished   map[[32]byte]bool     // studies that Active has seen finished
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
	if err := bolt.Make(path); err != nil {
		return nil, &StoreError{Op: "made " + dbName, Err: err}
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
	return &Ledger{store: store{dir: dir, db: db, last: map[[32]byte]uint64{}, decoded: map[[32]byte]*decoded{}}, journals: map[[32]byte]*Journal{}}
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
	o := &bbolt.Options{Timeout: lockWait, FreelistType: bbolt.FreelistMapType, InitialMmapSize: mapped, OpenFile: h.openDB}
	db, err = bbolt.Open(path, 0o600, o)
	if errors.Is(err, syscall.ENOMEM) { // a limit of addresses (RLIMIT_AS): the file's length alone
		o.InitialMmapSize = 0
		db, err = bbolt.Open(path, 0o600, o)
	}
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return nil, ErrLocked
	case err == nil:
		if o.InitialMmapSize == mapped {
			db.AllocSize = growBy
		}
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
		if err := errors.Join(fsync.Dir(l.dir), fsync.Dir(filepath.Dir(l.dir)), createKeys(l.dir, id), createLog(l.dir, id)); err != nil {
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
		err = errors.Join(err, l.log.sync(l.log.written.Load())) // for callers that wait, and for buffered changes
	}
	return errors.Join(err, l.log.f.Close())
}

// String names the ledger by its directory; nothing of its content.
func (l *Ledger) String() string { return "ledger " + l.dir }

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
