package ledger

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"covey/internal/chain"
)

func chainOf(steps ...byte) (entries []chain.Entry, head chain.Signed) {
	var l chain.Log
	for _, s := range steps {
		l.Append(chain.Step{s})
		entries = append(entries, chain.Entry{Head: l.Head(), Step: chain.Step{s}})
	}
	return entries, chain.Signed{Head: l.Head(), Signature: []byte{7}}
}

func wantChain(t *testing.T, l *Ledger, want chain.Head, whole bool) {
	t.Helper()
	if last, all, err := l.Chain().Last(); last != want || all != whole || err != nil {
		t.Errorf("kept %v (whole: %v), %v, want %v", last, all, err, want)
	}
}

// TestChainIsKeptByTheNextWrite: what was shown is on disk with the next transaction that succeeds,
// whatever it is about, or by KeepChain, and outlives the process.
func TestChainIsKeptByTheNextWrite(t *testing.T) {
	dir := t.TempDir()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantChain(t, l, chain.Head{}, true)
	entries, head := chainOf(1, 2, 3)
	l.ShownChain(entries, head)
	wantChain(t, l, chain.Head{}, true)
	failed := errors.New("no")
	if err := l.update(of("test", [32]byte{}), func(*bbolt.Tx) error { return failed }); err != failed {
		t.Fatal(err)
	}
	wantChain(t, l, chain.Head{}, true)
	if err := l.update(of("test", [32]byte{}), func(*bbolt.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	wantChain(t, l, head.Head, true)
	more, next := chainOf(1, 2, 3, 4)
	l.ShownChain(more[3:], next)
	for range 2 { // the second time nothing waits
		if err := l.KeepChain(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.KeepChain(); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed ledger keeps a chain: %v", err)
	}
	if l, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	wantChain(t, l, next.Head, true)
	for _, e := range more {
		on, ok, err := l.Chain().At(e.Number)
		has, err2 := l.Chain().Has(e.Step)
		if on != e || !ok || !has || err != nil || err2 != nil {
			t.Errorf("entry %d: %v, %v, %v, %v, %v", e.Number, on, ok, has, err, err2)
		}
	}
	if _, ok, err := l.Chain().At(5); ok || err != nil {
		t.Errorf("entry 5 is kept, %v", err)
	}
	if has, err := l.Chain().Has(chain.Step{5}); has || err != nil {
		t.Errorf("an unknown step is kept, %v", err)
	}
	if signed, ok, err := l.SignedHead(); !ok || err != nil || signed.Head != next.Head || string(signed.Signature) != "\x07" {
		t.Errorf("signed: %v, %v, %v", signed, ok, err)
	}
}

// TestPinChain: the operator's word leaves one link of the chain, and nothing of what waited.
func TestPinChain(t *testing.T) {
	l, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	entries, head := chainOf(1, 2, 3)
	l.ShownChain(entries, head)
	if err := l.KeepChain(); err != nil {
		t.Fatal(err)
	}
	l.ShownChain(entries, head)
	_, pinned := chainOf(1, 9)
	if err := l.PinChain(pinned.Head); err != nil {
		t.Fatal(err)
	}
	if err := l.KeepChain(); err != nil {
		t.Fatal(err)
	}
	wantChain(t, l, pinned.Head, false)
	if _, ok, err := l.SignedHead(); ok || err != nil {
		t.Errorf("a signed head of the chain that was given up is kept, %v", err)
	}
	if err := l.PinChain(chain.Head{}); err != nil {
		t.Fatal(err)
	}
	wantChain(t, l, chain.Head{}, true)
}

// TestDamagedChain: an entry of another length is damage, and no link.
func TestDamagedChain(t *testing.T) {
	l, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.update(of("test", [32]byte{}), func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(chainBucket)
		return errors.Join(err, b.Put(chainKey(1), []byte{1}), tx.Bucket(metaBucket).Put(signedKey, []byte{1}))
	}); err != nil {
		t.Fatal(err)
	}
	_, _, last := l.Chain().Last()
	_, _, at := l.Chain().At(1)
	_, has := l.Chain().Has(chain.Step{})
	_, _, signed := l.SignedHead()
	for what, err := range map[string]error{"last": last, "at": at, "has": has, "signed": signed} {
		if !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestCloseWaitsForAWriter: a transaction under way when the ledger closes ends first, and keeps
// what was shown; neither waits for the other for ever.
func TestCloseWaitsForAWriter(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	entries, head := chainOf(1)
	l.ShownChain(entries, head)
	closed := make(chan error, 1)
	wrote := make(chan error, 1)
	go func() {
		wrote <- l.update(of("chain", [32]byte{}), func(*bbolt.Tx) error {
			go func() { closed <- l.Close() }()
			for l.Err() == nil { // until Close has begun
				runtime.Gosched()
			}
			return nil
		})
	}()
	for _, c := range []chan error{wrote, closed} {
		select {
		case err := <-c:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("the writer and Close wait for each other")
		}
	}
	again := mustOpen(t, dir)
	wantChain(t, again, head.Head, true)
}
