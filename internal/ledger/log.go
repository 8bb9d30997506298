package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
)

const (
	logName  = "log"
	logMagic = "covey log v1\n\x00\x00\x00" // 16 bytes; the ledger's 16-byte id follows
	logPage  = 4096                         // a record begins at a multiple of it: no write touches another's page
	logGrow  = 64 * logPage                 // zeros are written ahead, so that a record's fsync changes no size
	logHead  = 32 + 16 + 3*8 + 32 + 4
)

// logLimit is how long a log may become before its changes are committed to ledger.db.
const logLimit = 4 << 20

// commitLog is the file of what was done since ledger.db's last commit: a record for each
// transaction, durable with one fsync where a commit of ledger.db takes two. Several that wait
// share one. After a commit of ledger.db it begins anew, over its old records.
//
// A record at a multiple of logPage is the SHA-256 of all that follows, the ledger's id, the
// number of ledger.db's last commit, the record's own number since then, how many of those were
// durable when it was written (8 bytes each), the SHA-256 that the record before begins with, the
// length (4) and the changes. What does not follow was never durable, or is older than ledger.db.
type commitLog struct {
	f    blockFile
	id   [16]byte
	base uint64   // of ledger.db's last commit
	next uint64   // number of the next record
	prev [32]byte // what the record before begins with
	end  int64    // where the next record goes
	size int64    // of the file
	tail []byte   // the records that replay took up and that none of them says are durable
	at   int64    // where they are

	first   uint64 // written before record 0
	written atomic.Uint64
	durable atomic.Uint64 // of those written, over the process's life
	syncing sync.Mutex
	failed  error // of the one fsync that failed: it is not tried again
}

// createLog makes the log of ledger id under dir, durably, in place of any other.
func createLog(dir string, id [16]byte) error {
	head := make([]byte, logPage+logGrow)
	copy(head, append([]byte(logMagic), id[:]...))
	return createFile(dir, logName, head)
}

// openLog opens the log of ledger id: another ledger's is a *LostError.
func openLog(dir string, id [16]byte, wrap func(*os.File) blockFile) (*commitLog, error) {
	f, err := os.OpenFile(filepath.Join(dir, logName), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, lostLog("is missing")
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Chmod(0o600)
	}
	var head [32]byte
	if err == nil {
		if _, err = f.ReadAt(head[:], 0); err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !bytes.Equal(head[:], append([]byte(logMagic), id[:]...)) {
		return nil, errors.Join(lostLog("is damaged or belongs to another ledger"), f.Close())
	}
	c := &commitLog{f: dataFile{f}, id: id, size: info.Size()}
	if wrap != nil {
		c.f = wrap(f)
	}
	return c, nil
}

// lostLog returns the error for a log that does not fit ledger.db. What is lost with it belongs to
// studies that Recover finishes with their whole ρ, since Finish does not need the log.
func lostLog(reason string) *LostError {
	return &LostError{File: logName, Reason: reason, Budgets: true}
}

// begin starts the log after a commit of ledger.db, whose number is base: everything written is
// durable.
func (c *commitLog) begin(base uint64) {
	c.base, c.next, c.prev, c.end = base, 0, [32]byte{}, logPage
	c.first = c.written.Load()
	c.durable.Store(c.first)
}

// begun reports whether the log began anew with db's commit base, and has no record since: there is
// nothing to replay.
func (c *commitLog) begun(base uint64) bool { return c.taken() && c.base == base && c.next == 0 }

// fits reports whether a record may be appended; if not, its changes are committed to ledger.db.
func (c *commitLog) fits(record []byte) bool { return c.end+pages(len(record)) <= logLimit }

func pages(n int) int64 { return (int64(n) + logPage - 1) / logPage * logPage }

// append writes a record of changes, before which it has room for the head, and which it fills in.
// It is durable once sync of the number that is returned has returned. One at a time.
func (c *commitLog) append(record []byte) (uint64, error) {
	n, whole := len(record), int(pages(len(record)))
	b := slices.Grow(record, whole-n)[:whole]
	clear(b[n:])
	copy(b[32:], c.id[:])
	binary.BigEndian.PutUint64(b[48:], c.base)
	binary.BigEndian.PutUint64(b[56:], c.next)
	binary.BigEndian.PutUint64(b[64:], max(c.durable.Load(), c.first)-c.first)
	copy(b[72:], c.prev[:])
	binary.BigEndian.PutUint32(b[104:], uint32(n-logHead))
	sum := sha256.Sum256(b[32:n])
	copy(b, sum[:])
	if need := c.end + int64(len(b)); need > c.size {
		grown := make([]byte, max(logGrow, int(need-c.size)))
		if _, err := c.f.WriteAt(grown, c.size); err != nil {
			return 0, err
		}
		c.size += int64(len(grown))
	}
	if _, err := c.f.WriteAt(b, c.end); err != nil {
		return 0, err
	}
	c.prev, c.next, c.end = sum, c.next+1, c.end+int64(len(b))
	return c.written.Add(1), nil
}

// sync returns once the first n records that were written are durable: of those that wait one
// fsyncs for all.
func (c *commitLog) sync(n uint64) error {
	if c.durable.Load() >= n {
		return nil
	}
	c.syncing.Lock()
	defer c.syncing.Unlock()
	if c.durable.Load() >= n || c.failed != nil {
		return c.failed
	}
	written := c.written.Load()
	if c.failed = c.f.Sync(); c.failed == nil {
		c.durable.Store(written)
	}
	return c.failed
}

// taken reports whether the log's records have been taken up.
func (c *commitLog) taken() bool { return c.end > 0 }

// confirm makes what the first replay took up durable. A process that was killed may have left it
// in the system's memory alone; so does an fsync that failed, after which that memory counts as
// written, so that it is written again.
func (c *commitLog) confirm() error {
	if _, err := c.f.WriteAt(c.tail, c.at); err != nil {
		return err
	}
	c.tail = nil
	return c.f.Sync()
}

// replay hands the changes since ledger.db's commit base to apply, in order. A *LostError is a
// ledger.db that is older than the log, or a record that was durable and is not there.
func (c *commitLog) replay(base uint64, apply func(changes []byte) error) error {
	raw := make([]byte, c.size)
	if n, err := c.f.ReadAt(raw, 0); err != nil && err != io.EOF {
		return &StoreError{Op: "read the log", Err: err}
	} else {
		raw = raw[:n]
	}
	c.begin(base)
	broken := false
	var from []int64 // of each record
	sure := uint64(0)
	for at := int64(logPage); at < int64(len(raw)); {
		r, ok := c.parse(raw[at:])
		switch {
		case !ok:
			broken = true
			at += logPage
			continue
		case r.base > base:
			return olderThan(logName)
		case r.base == base && !broken && r.number == c.next && r.prev == c.prev:
			if err := apply(r.changes); err != nil {
				return err
			}
			c.prev, c.next, c.end = r.sum, c.next+1, at+pages(logHead+len(r.changes))
			from, sure = append(from, at), r.durable
		case r.base == base && r.durable > c.next:
			return lostLog("is damaged")
		default:
			broken = true // from before ledger.db's last commit, or never durable
		}
		at += pages(logHead + len(r.changes))
	}
	if sure < c.next {
		c.at = from[sure]
		c.tail = raw[c.at:min(c.end, int64(len(raw)))]
	}
	c.written.Add(c.next)
	c.durable.Store(c.written.Load())
	return nil
}

type logRecord struct {
	sum, prev             [32]byte
	base, number, durable uint64
	changes               []byte
}

// parse reads the record at the beginning of b; false if none of this ledger is there, whole.
func (c *commitLog) parse(b []byte) (r logRecord, ok bool) {
	if len(b) < logHead || [16]byte(b[32:48]) != c.id {
		return r, false
	}
	n := int64(binary.BigEndian.Uint32(b[104:]))
	if n > int64(len(b)-logHead) {
		return r, false
	}
	r.sum, r.prev, r.changes = [32]byte(b), [32]byte(b[72:]), b[logHead:logHead+n]
	r.base, r.number, r.durable = binary.BigEndian.Uint64(b[48:]), binary.BigEndian.Uint64(b[56:]), binary.BigEndian.Uint64(b[64:])
	return r, sha256.Sum256(b[32:logHead+n]) == r.sum
}

// What is done to ledger.db, in a record's changes: an op, a path of buckets behind its length (1),
// a key and, of a put, a value. Each name, key and value is behind its length (4).
const (
	opPut    byte = iota + 1
	opDelete      // a key
	opMake        // the bucket of the path
	opDrop        // the bucket of the path
)

func appendChange(b []byte, op byte, path [][]byte, rest ...[]byte) []byte {
	parts := append(path[:len(path):len(path)], rest...)
	size := 2 + 4*len(parts)
	for _, part := range parts {
		size += len(part)
	}
	if cap(b)-len(b) < size {
		b = slices.Grow(b, size+logPage) // small changes follow a large one
	}
	b = append(b, op, byte(len(path)))
	for _, part := range parts {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(part))), part...)
	}
	return b
}

// change is one of a record's changes.
type change struct {
	op         byte
	path       [][]byte
	key, value []byte
}

// cutChange reads the first change of b. It aliases b.
func cutChange(b []byte) (c change, rest []byte, ok bool) {
	if len(b) < 2 {
		return c, nil, false
	}
	var parts [][]byte
	n := int(b[1])
	c.op = b[0]
	switch c.op {
	case opPut:
		n += 2
	case opDelete:
		n++
	case opMake, opDrop:
	default:
		return c, nil, false
	}
	depth := int(b[1])
	for b = b[2:]; len(parts) < n; {
		if len(b) < 4 || uint64(len(b)-4) < uint64(binary.BigEndian.Uint32(b)) {
			return c, nil, false
		}
		end := 4 + int(binary.BigEndian.Uint32(b))
		parts, b = append(parts, b[4:end:end]), b[end:]
	}
	if depth == 0 || len(parts) < depth {
		return c, nil, false
	}
	c.path, parts = parts[:depth:depth], parts[depth:]
	if len(parts) > 0 {
		c.key = parts[0]
	}
	if len(parts) > 1 {
		c.value = parts[1]
	}
	return c, b, true
}
