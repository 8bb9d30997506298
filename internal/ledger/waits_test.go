package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// gated is a ledger with an approved study whose log's fsyncs wait until the gate is closed. since
// returns how many there were since then; under returns once one waits.
func gated(t *testing.T) (l *Ledger, gate chan struct{}, since func() int64, under func()) {
	t.Helper()
	gate = make(chan struct{}, 100)
	for range 100 {
		gate <- struct{}{}
	}
	l, total := counted(t, gate)
	for len(gate) > 0 {
		<-gate
	}
	before := total()
	since = func() int64 { return total() - before }
	return l, gate, since, func() {
		for since() == 0 {
		}
	}
}

// TestWaitsForAnother: MUST: before another caller's record is durable, it is neither reported as
// kept nor a reason to refuse.
func TestWaitsForAnother(t *testing.T) {
	for name, c := range map[string]struct {
		write, ask func(*Ledger) error
		refused    bool
	}{
		"the chain's head": {func(l *Ledger) error {
			l.ShownChain(chainOf(1))
			_, err := l.Journal(study(1)).Sign(0, 0, context("c"), []byte("U"), value("sig"))
			return err
		}, (*Ledger).KeepChain, false},
		"the chain's head, by another's answer": {func(l *Ledger) error {
			l.ShownChain(chainOf(1))
			_, err := l.Journal(study(1)).Sign(0, 0, context("c"), []byte("U"), value("sig"))
			return err
		}, func(l *Ledger) error { return errors.Join(l.Reject(study(2), "operator", at), l.KeepChain()) }, false},
		"the end of a study": {func(l *Ledger) error { return l.Finish(study(1), "aborted") },
			func(l *Ledger) error { return l.Reject(study(1), "operator", at) }, true},
	} {
		l, gate, _, under := gated(t)
		must(t, l.updateLater(of("test", study(2)), func(tx *bbolt.Tx) error {
			r := l.record(tx, study(2))
			return errors.Join(r.create(), l.record(tx, study(2)).save(nil, entryKey, entry{State: Rejected, By: "operator"}))
		}))
		written, answered := make(chan error, 1), make(chan error, 1)
		go func() { written <- c.write(l) }()
		under()
		go func() { answered <- c.ask(l) }()
		select {
		case err := <-answered:
			answered <- err
			t.Errorf("%s: answered before it was durable", name)
		case <-time.After(100 * time.Millisecond): // a run without the rule answers at once
		}
		close(gate)
		must(t, <-written)
		if err := <-answered; (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUndoneIsNotDurable: MUST: after a change that fails nobody is told that what was written
// before it is durable.
func TestUndoneIsNotDurable(t *testing.T) {
	l, total := counted(t, nil)
	before := total()
	put := func(tx *bbolt.Tx) error { return l.put(tx, []byte("test"), []byte{1}, metaBucket) }
	must(t, l.updateLater(of("test", study(1)), put))
	no := errors.New("no")
	if err := l.update(of("test", study(1)), func(tx *bbolt.Tx) error { return errors.Join(put(tx), no) }); !errors.Is(err, no) {
		t.Error(err)
	}
	l.Studies() // takes the log up again
	must(t, l.settle())
	if total() == before {
		t.Error("what was never fsynced counts as durable")
	}
}

// TestDamagedWhileOpen: MUST: a log that cannot be taken up again after an undo ends the ledger:
// nothing goes on from half of it.
func TestDamagedWhileOpen(t *testing.T) {
	l, _ := counted(t, nil)
	for n := range byte(4) {
		must(t, l.Reject(study(10+n), "operator", at))
	}
	path := filepath.Join(l.dir, logName)
	log, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, flipped(log, 2*logPage+150), 0o600))
	no := errors.New("no")
	if err := l.update(of("test", study(1)), func(tx *bbolt.Tx) error {
		return errors.Join(l.put(tx, []byte("test"), []byte{1}, metaBucket), no)
	}); !errors.Is(err, no) {
		t.Error(err)
	}
	for range 2 {
		if _, ok := errors.AsType[*StoreError](l.Reject(study(20), "operator", at)); !ok || l.Err() == nil {
			t.Fatal("a ledger goes on from half of its log")
		}
	}
}

// forgetfulFile is a file whose fsync fails: the system then counts what it holds in memory as
// written, though the disk does not have it.
type forgetfulFile struct {
	*os.File
	disk  *os.File
	dirty *map[int64][]byte
	fail  *error
}

func (f forgetfulFile) WriteAt(p []byte, at int64) (int, error) {
	(*f.dirty)[at] = append([]byte(nil), p...)
	return f.File.WriteAt(p, at)
}

func (f forgetfulFile) Sync() error {
	defer clear(*f.dirty)
	if *f.fail != nil {
		return *f.fail
	}
	for at, p := range *f.dirty {
		if _, err := f.disk.WriteAt(p, at); err != nil {
			return err
		}
	}
	return nil
}

// TestFailedSyncIsWrittenAgain: MUST: what an earlier process's failed fsync left is on the disk
// before the next process answers from it.
func TestFailedSyncIsWrittenAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 1)))
	must(t, l.Close())
	log, err := os.ReadFile(filepath.Join(dir, logName))
	must(t, err)
	image := filepath.Join(t.TempDir(), "disk")
	must(t, os.WriteFile(image, log, 0o600))
	disk, err := os.OpenFile(image, os.O_RDWR, 0)
	must(t, err)
	defer disk.Close()
	var fail error
	h := hooks{logFile: func(f *os.File) blockFile { return forgetfulFile{f, disk, &map[int64][]byte{}, &fail} }}
	l, err = open(dir, h)
	must(t, err)
	must(t, l.Reject(study(2), "operator", at))
	fail = errors.New("input/output error")
	if _, err := l.Journal(study(1)).Sign(0, 0, context("c"), []byte("U"), value("sig")); err == nil {
		t.Error("a failed fsync is no error")
	}
	l.Close()
	fail = nil
	l, err = open(dir, h)
	must(t, err)
	defer l.Close()
	_, answered := l.Journal(study(1)).Signed(0)
	on, err := os.ReadFile(image)
	must(t, err)
	if _, kept := mustOpen(t, putLog(t, dir, on)).Journal(study(1)).Signed(0); kept != answered {
		t.Errorf("signed: answered %v, on disk %v", answered, kept)
	}
}

// TestLogAlone: MUST: a directory that has a log and neither ledger.db nor keys is not taken for a
// new one.
func TestLogAlone(t *testing.T) {
	for _, empty := range []bool{false, true} {
		dir, _ := records(t, 1)
		must(t, errors.Join(os.Remove(filepath.Join(dir, dbName)), os.Remove(filepath.Join(dir, keysName))))
		if empty {
			must(t, os.WriteFile(filepath.Join(dir, dbName), nil, 0o600))
		}
		l, err := Open(dir)
		if l != nil {
			l.Close()
		}
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.Budgets {
			t.Errorf("empty ledger.db %v: %v, want a *LostError", empty, err)
		}
	}
}
