package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// powerCut is a ledger whose log reaches the disk only by an fsync, with an approved study of two
// slots.
func powerCut(t *testing.T) (*Ledger, *shadowFile) {
	t.Helper()
	var s *shadowFile
	l, err := open(filepath.Join(t.TempDir(), "l"), hooks{logFile: func(f *os.File) blockFile {
		s = &shadowFile{File: f, pending: map[int64][]byte{}}
		return s
	}})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	must(t, l.Approve(approval(1, 1)))
	must(t, l.Journal(study(1)).PutSlots(map[int][]byte{0: []byte("zero"), 1: []byte("one")}))
	return l, s
}

// TestUploadCharges: MUST: an upload and its query's charge are on record together or not at all,
// whenever the power is cut, and once the upload is returned they are.
func TestUploadCharges(t *testing.T) {
	l, s := powerCut(t)
	j := l.Journal(study(1))
	var cut string
	s.before = func() { cut = crash(t, l.dir) }
	upload := func(j *Journal, query, slot int, rho float64) error {
		_, err := j.Upload(query, slot, context("c"), rho, value("v"))
		return err
	}
	must(t, upload(j, 0, 0, 0.75))
	for dir, want := range map[string]int{cut: 0, crash(t, l.dir): 1} {
		at := mustOpen(t, dir)
		_, on, err := at.Journal(study(1)).UploadedIn(0)
		if e := at.Studies()[0]; err != nil || on != (want == 1) || e.Queries != want || e.SpentRho != 0.75*float64(want) {
			t.Errorf("an upload on record: %v, %d queries charged %g (%v); want %d", on, e.Queries, e.SpentRho, err, want)
		}
	}
	if c, ok := errors.AsType[*ConflictError](upload(j, 0, 1, 0.5)); !ok || c.What != "charge" {
		t.Error("a query was charged two amounts")
	}
	if c, ok := errors.AsType[*ChargeError](second(j.Upload(1, 1, context("c"), 0.5, never(t)))); !ok || c.Spent != 0.75 {
		t.Error("more was charged than was approved")
	}
	must(t, upload(j, 0, 1, 0.75))
	if e := l.Studies()[0]; e.Queries != 1 || e.SpentRho != 0.75 {
		t.Errorf("two uploads of one query: %d charged, %g", e.Queries, e.SpentRho)
	}
}

// TestDurableWhenAnswered: MUST: what a call returned is there after a power cut.
func TestDurableWhenAnswered(t *testing.T) {
	l, _ := powerCut(t)
	j := l.Journal(study(1))
	_, err := j.Sign(0, 0, context("c"), []byte("U"), value("sig"))
	must(t, err)
	_, ok := mustOpen(t, crash(t, l.dir)).Journal(study(1)).Signed(0)
	if !ok {
		t.Error("a signature that was returned is not on disk")
	}
}

// TestErasureWaits: MUST: no key is erased before the record of its erasure is durable. Otherwise a
// power cut in between would leave a ledger older than its keys.
func TestErasureWaits(t *testing.T) {
	l, s := powerCut(t)
	j := l.Journal(study(1))
	under, goOn := make(chan struct{}), make(chan struct{})
	s.before = func() { s.before = nil; close(under); <-goOn }
	final, erased := make(chan error, 1), make(chan error, 1)
	go func() { final <- j.FinalThenErase(0, 0, []byte("z")) }()
	<-under
	go func() { erased <- l.finishErasures(study(1)) }()
	select {
	case err := <-erased:
		erased <- err
		t.Errorf("erased before the result was durable (%v)", err)
	case <-time.After(time.Second): // a run without the rule fails after a few fsyncs
	}
	if again, err := Open(crash(t, l.dir)); err != nil {
		t.Errorf("a key is gone: %v", err)
	} else {
		must(t, again.Close())
	}
	close(goOn)
	must(t, <-final)
	must(t, <-erased)
}

// TestLostLog: the budgets outlive a log that is lost: what was approved is in ledger.db.
func TestLostLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 2)))
	must(t, l.Journal(study(1)).PutSlot(0, []byte("zero")))
	_, err := l.Journal(study(1)).Upload(0, 0, context("c"), 0.5, value("v"))
	must(t, err)
	must(t, l.Close())
	must(t, os.Remove(filepath.Join(dir, logName)))
	if _, err := Open(dir); err == nil {
		t.Fatal("a ledger without its log opens")
	}
	rec, err := Recover(dir, nil)
	must(t, err)
	if len(rec.Populations) != 1 || rec.Populations[0].SpentRho != 2 {
		t.Errorf("%+v, want the whole ρ of 2 spent", rec.Populations)
	}
}
