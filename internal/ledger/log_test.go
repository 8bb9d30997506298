package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// syncCount counts the fsyncs of a file. They wait at the gate, if there is one.
type syncCount struct {
	*os.File
	n    *atomic.Int64
	gate chan struct{}
}

func (c syncCount) Sync() error {
	c.n.Add(1)
	if c.gate != nil {
		<-c.gate
	}
	return c.File.Sync()
}

// counted is a ledger with an approved study, and a function that returns its fsyncs: a commit of
// ledger.db is two.
func counted(t *testing.T, gate chan struct{}) (l *Ledger, total func() int64) {
	t.Helper()
	var n atomic.Int64
	wrap := func(gate chan struct{}) func(f *os.File) blockFile {
		return func(f *os.File) blockFile { return syncCount{f, &n, gate} }
	}
	l, err := open(filepath.Join(t.TempDir(), "l"), hooks{keysFile: wrap(nil), logFile: wrap(gate)})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	a := approval(1, 1000)
	a.CapRho = 1e6
	must(t, l.Approve(a))
	return l, func() int64 {
		l.txMu.Lock()
		defer l.txMu.Unlock()
		return n.Load() + 2*int64(l.log.base)
	}
}

// TestSyncsOfAQuery: a query costs a site one fsync for its charge, the chain's head and the upload
// together, and one each for the signature and the shares, unless they go on record with the
// upload, for the result and the erasure. A repeated question costs none. A commit of ledger.db,
// which takes two, comes once every few hundred queries.
func TestSyncsOfAQuery(t *testing.T) {
	t.Run("survivors known later", func(t *testing.T) {
		if testing.Short() {
			t.Skip("as the other, without what goes on record at once")
		}
		syncsOfAQuery(t, 5)
	})
	t.Run("survivors known with the upload", func(t *testing.T) {
		syncsOfAQuery(t, 3, Opening{[]byte("U"), value("v"), value("v")})
	})
}

func syncsOfAQuery(t *testing.T, each int64, with ...Opening) {
	l, total := counted(t, nil)
	j := l.Journal(study(1))
	slots := map[int][]byte{}
	for slot := range 400 {
		slots[slot] = []byte("slot")
	}
	must(t, j.PutSlots(slots))
	most, all := int64(0), total()
	for q := range 400 {
		before := total()
		entries, head := chainOf(byte(q))
		ask := func(again bool) {
			l.ShownChain(entries, head)
			c := value("v")
			if again {
				c = never(t)
			}
			_, err := j.Upload(q, q, context("c"), 1, c, with...)
			must(t, errors.Join(err, l.KeepChain()))
			_, err = j.Sign(q, q, context("c"), []byte("U"), c)
			must(t, errors.Join(err, l.KeepChain()))
			_, err = j.OpenShares(q, q, context("c"), []byte("U"), c)
			must(t, errors.Join(err, l.KeepChain()))
		}
		ask(false)
		once := total() - before
		ask(true)
		l.ShownChain(nil, head)
		must(t, l.KeepChain())
		if again := total() - before - once; again != 0 {
			t.Errorf("query %d: what was asked again is %d fsyncs", q, again)
		}
		must(t, j.FinalThenErase(q, q, []byte("z")))
		must(t, j.Erase())
		most = max(most, total()-before)
	}
	if most > each+1 || total()-all > 400*each+10 {
		t.Errorf("a query is up to %d fsyncs, 400 are %d; want %d each, and a commit now and then", most, total()-all, each)
	}
	if l.log.base < 4 {
		t.Error("the log was never committed")
	}
	if p := mustOpen(t, crash(t, l.dir)).Populations()[0]; p.SpentRho != 400 {
		t.Errorf("%g spent, want 400", p.SpentRho)
	}
}

// TestWaitersShareASync: callers that wait while an fsync is under way share the next one.
func TestWaitersShareASync(t *testing.T) {
	l, gate, since, under := gated(t)
	var work sync.WaitGroup
	put := func(n byte) {
		work.Go(func() {
			if err := l.Reject(study(n), "operator", at); err != nil {
				t.Error(err)
			}
		})
	}
	written := l.log.written.Load()
	put(10)
	under()
	for n := byte(11); n < 20; n++ {
		put(n)
	}
	for l.log.written.Load() < written+10 {
	}
	close(gate)
	work.Wait()
	if n := since(); n != 2 {
		t.Errorf("ten that wait are %d fsyncs, want 2", n)
	}
}

// TestReadsWait: nothing is answered from a record before it is durable.
func TestReadsWait(t *testing.T) {
	l, gate, _, under := gated(t)
	j := l.Journal(study(1))
	signed := make(chan error, 1)
	go func() {
		_, err := j.Sign(0, 0, context("c"), []byte("U"), value("sig"))
		signed <- err
	}()
	under()
	read := make(chan bool, 2)
	go func() {
		_, ok := j.Signed(0)
		read <- ok
	}()
	select {
	case ok := <-read:
		read <- ok
		t.Error("a signature was answered from before it was durable")
	case <-time.After(100 * time.Millisecond): // a run without the rule reads at once
	}
	close(gate)
	must(t, <-signed)
	if !<-read {
		t.Error("the signature is not on record")
	}
}

// records makes a ledger of n rejected studies, its ledger.db older than all of them, and returns
// the log.
func records(t *testing.T, n byte) (dir string, log []byte) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	for k := range n {
		must(t, l.Reject(study(k), "operator", at))
	}
	must(t, l.Close())
	log, err := os.ReadFile(filepath.Join(dir, logName))
	must(t, err)
	return dir, log
}

func putLog(t *testing.T, dir string, log []byte) string {
	t.Helper()
	d := crash(t, dir)
	must(t, os.WriteFile(filepath.Join(d, logName), log, 0o600))
	return d
}

// TestTornRecord: a last record that a power cut tore at any byte was never answered from: the
// ledger is that of the record before, and what is written next is found.
func TestTornRecord(t *testing.T) {
	dir, log := records(t, 3)
	for _, keep := range []int{0, 1, 31, 60, 104, 200, 4095} {
		torn := bytes.Clone(log)
		clear(torn[3*logPage+keep : 4*logPage])
		d := putLog(t, dir, torn)
		for k := range 2 {
			l := mustOpen(t, d)
			want := 2 + k
			if keep == 4095 { // the record is shorter
				want++
			}
			if n := len(l.Studies()); n != want {
				t.Errorf("cut at %d: %d studies, want %d", keep, n, want)
			}
			must(t, l.Reject(study(100), "operator", at))
			must(t, l.Close())
		}
	}
}

// TestLateRecord: a record that reached the disk while the one before it did not is never taken up,
// not even once the missing one's place is written again.
func TestLateRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	reject := func(n byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			r := l.record(tx, study(n))
			return errors.Join(r.create(), l.record(tx, study(n)).save(nil, entryKey, entry{State: Rejected, By: "operator"}))
		}
	}
	must(t, l.Reject(study(0), "operator", at))
	must(t, l.updateLater(of("test", study(1)), reject(1)))
	must(t, l.updateLater(of("test", study(2)), reject(2)))
	d := crash(t, dir)
	log, err := os.ReadFile(filepath.Join(d, logName))
	must(t, err)
	clear(log[2*logPage : 3*logPage]) // of studies 1 and 2 the second alone is there
	d = putLog(t, dir, log)
	l = mustOpen(t, d)
	if n := len(l.Studies()); n != 1 {
		t.Errorf("%d studies, want 1", n)
	}
	must(t, l.Reject(study(3), "operator", at))
	must(t, l.Close())
	l = mustOpen(t, d)
	if all := l.Studies(); len(all) != 2 || all[0].Study == study(2) || all[1].Study == study(2) {
		t.Errorf("%+v: want studies 0 and 3", all)
	}
}

// TestDamagedLog: the records after a lost durable record show that it is missing. A log that is
// missing, cut, of another ledger, or newer than ledger.db is found too.
func TestDamagedLog(t *testing.T) {
	dir, log := records(t, 4)
	other, _ := records(t, 4)
	older := crash(t, dir)
	l := mustOpen(t, dir)
	must(t, commitAll(l))
	must(t, l.Reject(study(50), "operator", at))
	must(t, l.Close())
	for name, harm := range map[string]func(d string) error{
		"a bit": func(d string) error {
			return os.WriteFile(filepath.Join(d, logName), flipped(log, 2*logPage+150), 0o600)
		},
		"its number": func(d string) error {
			return os.WriteFile(filepath.Join(d, logName), flipped(log, 2*logPage+60), 0o600)
		},
		"missing":   func(d string) error { return os.Remove(filepath.Join(d, logName)) },
		"empty":     func(d string) error { return os.Truncate(filepath.Join(d, logName), 0) },
		"another's": func(d string) error { return os.Rename(filepath.Join(other, logName), filepath.Join(d, logName)) },
		"newer": func(d string) error {
			b, err := os.ReadFile(filepath.Join(dir, logName))
			return errors.Join(err, os.WriteFile(filepath.Join(d, logName), b, 0o600))
		},
	} {
		d := crash(t, older)
		must(t, harm(d))
		l, err := Open(d)
		if l != nil {
			l.Close()
		}
		if lost, ok := errors.AsType[*LostError](err); !ok || !lost.Budgets {
			t.Errorf("%s: %v, want a *LostError with budgets", name, err)
		}
		if name == "newer" {
			continue // its ledger.db is what is lost
		}
		if rec, err := Recover(d, nil); err != nil || rec.Found == nil || rec.Found.File != logName {
			t.Errorf("%s: %+v, %v", name, rec.Found, err)
		}
		must(t, mustOpen(t, d).Close())
	}
}

// TestAnothersRecords: a disk may show in a log what another ledger's left there. Its records fit
// this one's from the first on, and none is taken up.
func TestAnothersRecords(t *testing.T) {
	dir, log := records(t, 1)
	_, other := records(t, 4)
	l := mustOpen(t, putLog(t, dir, append(log[:logPage:logPage], other[logPage:]...)))
	if all := l.Studies(); len(all) != 0 {
		t.Errorf("another ledger's records are taken up: %+v", all)
	}
}

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

// TestRestoredAlone: any one file restored alone after a slot was erased is found at start (a key
// file when a secret is read), or leads to all that was. The budgets can be kept.
func TestRestoredAlone(t *testing.T) {
	for _, committed := range []bool{false, true} { // whether ledger.db was committed since
		for _, name := range []string{dbName, logName, keysName} {
			dir := filepath.Join(t.TempDir(), "ledger")
			l := mustOpen(t, dir)
			must(t, l.Approve(approval(1, 2)))
			j := l.Journal(study(1))
			must(t, j.PutSlots(map[int][]byte{0: []byte("zero"), 1: []byte("one")}))
			query := func(q int) {
				_, err := j.Upload(q, q, context("c"), 0.5, value("v"))
				must(t, err)
			}
			query(0)
			before := crash(t, dir)
			must(t, j.Final(0, 0, []byte("z")))
			if committed {
				must(t, commitAll(l))
			}
			must(t, j.PutSlot(2, []byte("two"))) // a key that the older file has not
			query(1)
			must(t, j.Final(1, 1, []byte("z")))
			must(t, l.Close())
			must(t, os.Rename(filepath.Join(before, name), filepath.Join(dir, name)))
			l, err := Open(dir)
			if err == nil {
				if name == dbName && !committed { // the log leads from there to all that was
					if p := l.Populations()[0]; p.SpentRho != 1 {
						t.Errorf("%s alone: %+v", name, p)
					}
					must(t, l.Close())
					continue
				}
				_, err = l.Journal(study(1)).Slot(2)
				must(t, l.Close())
			}
			if lost, ok := errors.AsType[*LostError](err); !ok || !lost.Budgets {
				t.Errorf("%s alone, committed %v: %v, want a *LostError with budgets", name, committed, err)
				continue
			}
			rec, err := Recover(dir, nil)
			must(t, err)
			if len(rec.Populations) != 1 || rec.Populations[0].SpentRho != 2 || rec.Populations[0].ReservedRho != 0 {
				t.Errorf("%s alone: %+v, want the whole ρ of 2 spent", name, rec.Populations)
			}
			must(t, mustOpen(t, dir).Close())
		}
	}
}

// TestCommittedLog: records of the log from before ledger.db's commit are not applied again.
func TestCommittedLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	put := func(v byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return l.put(tx, []byte("test"), []byte{v}, metaBucket) }
	}
	must(t, l.update(of("test", study(1)), put(1)))
	must(t, l.updateWhole(of("test", study(1)), put(2)))
	must(t, l.Close())
	l = mustOpen(t, dir)
	must(t, l.view(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(metaBucket).Get([]byte("test")); !bytes.Equal(v, []byte{2}) {
			t.Errorf("%v is on record, want 2", v)
		}
		return nil
	}))
}

// TestUndone: a change that fails halfway leaves everything as it was.
func TestUndone(t *testing.T) {
	l, _ := counted(t, nil)
	must(t, l.Reject(study(2), "operator", at))
	no := errors.New("no")
	err := l.update(of("test", study(3)), func(tx *bbolt.Tx) error {
		r := l.record(tx, study(3))
		return errors.Join(r.create(), l.record(tx, study(3)).save(nil, entryKey, entry{State: Rejected}), no)
	})
	if !errors.Is(err, no) || len(l.Studies()) != 2 {
		t.Errorf("%v, %d studies", err, len(l.Studies()))
	}
	must(t, l.Reject(study(4), "operator", at))
	if again := mustOpen(t, crash(t, l.dir)); len(l.Studies()) != 3 || len(again.Studies()) != 3 {
		t.Errorf("%d studies, %d after a crash; want 3", len(l.Studies()), len(again.Studies()))
	}
}

// TestLogSyncFails: no caller tries an fsync again that failed.
func TestLogSyncFails(t *testing.T) {
	var s *shadowFile
	l, err := open(filepath.Join(t.TempDir(), "l"), hooks{logFile: func(f *os.File) blockFile {
		s = &shadowFile{File: f, pending: map[int64][]byte{}}
		return s
	}})
	must(t, err)
	defer l.Close()
	must(t, l.Approve(approval(1, 1)))
	syncs := 0
	s.before, s.fail = func() { syncs++ }, errors.New("input/output error")
	for range 3 {
		_, err := l.Journal(study(1)).Sign(0, 0, context("c"), []byte("U"), value("sig"))
		if e, ok := errors.AsType[*StoreError](err); !ok || e.Err != s.fail {
			t.Errorf("%v", err)
		}
		if err := l.log.sync(l.log.written.Load()); err != s.fail {
			t.Errorf("one that waited: %v", err)
		}
	}
	if syncs != 1 {
		t.Errorf("%d fsyncs after one failed", syncs)
	}
}

// FuzzLog: whatever a log holds, only whole records of this ledger are taken up, or it is refused.
func FuzzLog(f *testing.F) {
	f.Add([]byte{}, uint16(0))
	f.Add(appendChange(nil, opPut, [][]byte{[]byte("b")}, []byte("k"), []byte("v")), uint16(70))
	f.Add(appendChange(appendChange(nil, opMake, [][]byte{[]byte("b"), []byte("c")}), opDrop, [][]byte{[]byte("b")}), uint16(4096))
	f.Fuzz(func(t *testing.T, raw []byte, at uint16) {
		n := 0
		for b := raw; len(b) > 0; n++ {
			c, rest, ok := cutChange(b)
			if !ok {
				break
			}
			var again []byte
			switch c.op {
			case opPut:
				again = appendChange(nil, c.op, c.path, c.key, c.value)
			case opDelete:
				again = appendChange(nil, c.op, c.path, c.key)
			default:
				again = appendChange(nil, c.op, c.path)
			}
			if !bytes.Equal(again, b[:len(b)-len(rest)]) {
				t.Fatalf("change %d is read and written as other bytes", n)
			}
			b = rest
		}
		path := filepath.Join(t.TempDir(), "log")
		must(t, os.WriteFile(path, nil, 0o600))
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		defer file.Close()
		c := &commitLog{f: file, id: [16]byte{1}, size: 0}
		c.begin(7)
		for range 2 {
			_, err := c.append(append(make([]byte, logHead), "good"...))
			must(t, err)
		}
		_, err = file.WriteAt(raw, 3*logPage+int64(at))
		must(t, err)
		info, err := file.Stat()
		must(t, err)
		again, whole := &commitLog{f: file, id: c.id, size: info.Size()}, 0
		must(t, again.replay(7, func(b []byte) error {
			if whole++; string(b) != "good" {
				t.Errorf("took up %q", b)
			}
			return nil
		}))
		if whole != 2 {
			t.Errorf("%d of 2 records", whole)
		}
	})
}

// TestRecordHoldsValues: a value is what it was when it was put, in this transaction, in later ones
// and after a restart, whatever its size and whatever its caller does with its bytes; and another
// change of the same record leaves it alone.
func TestRecordHoldsValues(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "l")
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 1)))
	id := approval(1, 1).Study
	sizes := []int{0, 1, logPage - 1, logPage, 3*logPage + 5, 100_000}
	check := func(when string) {
		t.Helper()
		must(t, l.view(func(tx *bbolt.Tx) error {
			for _, n := range sizes {
				if got := l.record(tx, id).get(finalBucket, index(n)); !bytes.Equal(got, bytes.Repeat([]byte{byte(n%250 + 1)}, n)) {
					t.Errorf("%s: %d bytes are others", when, n)
				}
			}
			return nil
		}))
	}
	must(t, l.update(of("test", id), func(tx *bbolt.Tx) error {
		for _, n := range sizes {
			value := bytes.Repeat([]byte{byte(n%250 + 1)}, n)
			if err := l.record(tx, id).put(finalBucket, index(n), value); err != nil {
				return err
			}
			clear(value)
		}
		return nil
	}))
	check("in the log")
	must(t, l.Close())
	l = mustOpen(t, dir)
	check("after a restart")
	must(t, l.Approve(approval(2, 1))) // which writes ledger.db
	check("in ledger.db")
	must(t, l.Close())
}
