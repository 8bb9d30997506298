package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// study returns a digest for tests.
func study(n byte) [32]byte { return [32]byte{n, 0xc0} }

func approval(n byte, rho float64) Approval {
	return Approval{Study: study(n), Name: "lipids", Population: "icu-patients", Proposal: []byte{n, 'p'},
		Rho: rho, CapRho: 10, DataSHA256: [32]byte{n, 0xda}, By: "operator", Time: at}
}

func mustOpen(t testing.TB, dir string) *Ledger {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// crash copies the ledger's files as they are at this moment, as a power cut
// would leave them, into a new directory.
func crash(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "ledger")
	must(t, os.MkdirAll(to, 0o700))
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(to, e.Name()), b, 0o600))
	}
	return to
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "ledger")
	mustOpen(t, dir).Close()
	must(t, os.Chmod(dir, 0o755))
	for _, name := range []string{dbName, keysName} {
		must(t, os.Chmod(filepath.Join(dir, name), 0o644))
	}
	mustOpen(t, dir)
	for name, want := range map[string]os.FileMode{".": 0o700, dbName: 0o600, keysName: 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", name, info.Mode().Perm(), want)
		}
	}
	if l := mustOpen(t, filepath.Join(t.TempDir(), "b")); l.db.NoSync || l.db.NoGrowSync {
		t.Error("bbolt does not fsync")
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	if _, err := Open(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("second Open: %v", err)
	}
	must(t, l.Close())
	must(t, l.Close())
	if err := l.Charge(study(1), 0, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("Charge after Close: %v", err)
	}
	mustOpen(t, dir)
}

// A start cut short at any step is a fresh ledger; a file lost later is not.
func TestStartCutShort(t *testing.T) {
	dir := t.TempDir()
	mustOpen(t, dir).Close()
	edit := func(dir string, fn func(*bbolt.Tx) error) {
		db, err := bbolt.Open(filepath.Join(dir, dbName), 0o600, nil)
		must(t, err)
		must(t, errors.Join(db.Update(fn), db.Close()))
	}
	unmade := crash(t, dir)
	edit(unmade, func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Delete(keysMadeKey) })
	noKeys := crash(t, unmade)
	must(t, os.Remove(filepath.Join(noKeys, keysName)))
	empty := filepath.Join(t.TempDir(), "l")
	must(t, os.MkdirAll(empty, 0o700))
	edit(empty, func(*bbolt.Tx) error { return nil })
	for name, dir := range map[string]string{"keys not recorded": unmade, "keys not made": noKeys, "database empty": empty} {
		l, err := Open(dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		must(t, l.Approve(approval(1, 1)))
		must(t, l.Journal(study(1)).PutSlot(0, []byte("s")))
		must(t, l.Close())
	}
}

func TestLost(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 1)))
	must(t, l.Journal(study(1)).PutSlot(0, []byte("secret")))
	must(t, l.Close())
	other := t.TempDir()
	o := mustOpen(t, other)
	must(t, o.Approve(approval(1, 1)))
	must(t, o.Journal(study(1)).PutSlots(map[int][]byte{0: {1}, 1: {2}}))
	must(t, o.Close())

	inStudy := func(d string, change func(*bbolt.Bucket) error) error {
		db, err := bbolt.Open(filepath.Join(d, dbName), 0o600, nil)
		must(t, err)
		id := study(1)
		return errors.Join(db.Update(func(tx *bbolt.Tx) error { return change(tx.Bucket(studiesBucket).Bucket(id[:])) }), db.Close())
	}
	cases := map[string]func(dir string) error{
		"no key file":         func(d string) error { return os.Remove(filepath.Join(d, keysName)) },
		"no database":         func(d string) error { return os.Remove(filepath.Join(d, dbName)) },
		"empty database":      func(d string) error { return os.Truncate(filepath.Join(d, dbName), 0) },
		"key file truncated":  func(d string) error { return os.Truncate(filepath.Join(d, keysName), keySize) },
		"key file header cut": func(d string) error { return os.Truncate(filepath.Join(d, keysName), 9) },
		"other key file": func(d string) error {
			b, err := os.ReadFile(filepath.Join(other, keysName))
			return errors.Join(err, os.WriteFile(filepath.Join(d, keysName), b, 0o600))
		},
		"database is text": func(d string) error {
			return os.WriteFile(filepath.Join(d, dbName), bytes.Repeat([]byte("ledger "), 4000), 0o600)
		},
		"database cut": func(d string) error { return os.Truncate(filepath.Join(d, dbName), 5000) },
		"format of another time": func(d string) error {
			db, err := bbolt.Open(filepath.Join(d, dbName), 0o600, nil)
			must(t, err)
			return errors.Join(db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(formatKey, []byte("v9")) }), db.Close())
		},
		"damaged item": func(d string) error {
			return inStudy(d, func(b *bbolt.Bucket) error { return b.Bucket(slotBucket).Put(index(0), []byte{7}) })
		},
		"damaged entry": func(d string) error {
			return inStudy(d, func(b *bbolt.Bucket) error { return b.Put(entryKey, []byte("{")) })
		},
		"damaged progress": func(d string) error {
			return inStudy(d, func(b *bbolt.Bucket) error { return b.Put(progressKey, []byte("{")) })
		},
	}
	for name, harm := range cases {
		t.Run(name, func(t *testing.T) {
			d := crash(t, dir)
			must(t, harm(d))
			l, err := Open(d)
			if l != nil {
				l.Close()
			}
			_, lost := errors.AsType[*LostError](err)
			if _, failed := errors.AsType[*StoreError](err); !lost || failed {
				t.Errorf("Open: %v, want a *LostError and no *StoreError", err)
			}
			if _, err := os.Stat(filepath.Join(d, dbName)); name == "no database" && err == nil {
				t.Error("Open made a new database beside the old keys")
			}
		})
	}
}

// TestKeyCutOff: a secret whose key is not in the file any more is lost, not erased.
func TestKeyCutOff(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 1)))
	j := l.Journal(study(1))
	must(t, j.PutSlot(0, []byte("secret")))
	for _, size := range []int64{keySize + keySize/2, keySize} {
		must(t, os.Truncate(filepath.Join(dir, keysName), size))
		_, err := j.Slot(0)
		if lost, ok := errors.AsType[*LostError](err); !ok || lost.File != keysName || !lost.Budgets {
			t.Errorf("%d bytes: %v, want a *LostError of the key file with budgets", size, err)
		}
	}
}

// A key file that is right in form and wrong in content, as after restoring
// one file from a backup, is found when the item is opened.
func TestWrongKey(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 1)))
	j := l.Journal(study(1))
	must(t, j.PutSlots(map[int][]byte{0: []byte("one"), 1: []byte("two")}))
	f, err := os.OpenFile(filepath.Join(dir, keysName), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt(bytes.Repeat([]byte{3}, keySize), keySize)
	must(t, err)
	_, err0 := j.Slot(0)
	_, err1 := j.Slot(1)
	for _, err := range []error{err0, err1} {
		if _, ok := errors.AsType[*LostError](err); ok {
			return
		}
	}
	t.Errorf("no *LostError: %v, %v", err0, err1)
}

// Items are bound to their place: a ciphertext moved to another slot with its
// key does not open there.
func TestItemsCannotBeSwapped(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	must(t, l.Approve(approval(1, 1)))
	j := l.Journal(study(1))
	must(t, j.PutSlots(map[int][]byte{0: []byte("one"), 1: []byte("two")}))
	must(t, j.write(place{}, func(r *record) error {
		return r.put(slotBucket, index(1), bytes.Clone(r.get(slotBucket, index(0))))
	}))
	_, err := j.Slot(1)
	if _, ok := errors.AsType[*LostError](err); !ok {
		t.Errorf("moved item: %v", err)
	}
}

// TestItemsBelongToTheirStudy: L17. What is sealed for one study opens in no other, under the same
// key and name.
func TestItemsBelongToTheirStudy(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	var raw []byte
	for k := range byte(2) {
		must(t, l.Approve(approval(k+1, 1)))
		j := l.Journal(study(k + 1))
		must(t, j.PutSlots(map[int][]byte{0: {'s', k}}))
		must(t, j.write(place{}, func(r *record) error {
			if k == 0 {
				raw = bytes.Clone(r.get(slotBucket, index(0)))
				return nil
			}
			return r.put(slotBucket, index(0), raw)
		}))
	}
	if v, err := l.Journal(study(1)).Slot(0); err != nil || !bytes.Equal(v, []byte{'s', 0}) {
		t.Fatalf("%q, %v", v, err)
	}
	v, err := l.Journal(study(2)).Slot(0)
	if _, ok := errors.AsType[*LostError](err); !ok {
		t.Errorf("another study's item: %q, %v", v, err)
	}
}

// The log's file fails under the ledger: the first error latches, and the
// files still hold everything that was acknowledged.
func TestStoreErrorLatches(t *testing.T) {
	dir := t.TempDir()
	var file *os.File
	l, err := open(dir, hooks{logFile: func(f *os.File) blockFile { file = f; return f }})
	must(t, err)
	defer l.Close()
	must(t, l.Approve(approval(1, 1)))
	must(t, l.Charge(study(1), 0, 0.5))
	j := l.Journal(study(1))
	must(t, file.Close()) // every write and fsync fails from here on

	err = l.Charge(study(1), 1, 0.1)
	first, ok := errors.AsType[*StoreError](err)
	if !ok || !errors.Is(err, os.ErrClosed) {
		t.Fatalf("Charge on a failed file: %v", err)
	}
	_, upErr := j.Upload(0, 0, [32]byte{}, 0.5, func() ([]byte, error) { t.Error("computed on a failed ledger"); return nil, nil })
	_, slotErr := j.Slot(0)
	for name, err := range map[string]error{
		"Approve": l.Approve(approval(2, 1)), "Charge": l.Charge(study(1), 0, 0.5), "Finish": l.Finish(study(1), "done"),
		"Upload": upErr, "Slot": slotErr, "Final": j.Final(0, 0, nil), "Err": l.Err(),
		"Reject": l.Reject(study(3), "operator", at), "PutSlot": j.PutSlot(0, nil), "Erase": j.Erase(),
	} {
		if again, ok := errors.AsType[*StoreError](err); !ok || again != first {
			t.Errorf("%s after a store error: %v", name, err)
		}
	}
	if _, ok := l.Approved(study(1)); ok || l.Populations() != nil || l.Studies() != nil {
		t.Error("a failed ledger still answers")
	}

	l = mustOpen(t, crash(t, dir))
	if p := l.Populations(); len(p) != 1 || p[0].SpentRho != 0.5 {
		t.Errorf("after the failure: %+v", p)
	}
}

// A damaged page is an error, not a panic or a fault of the process.
func TestDamagedPage(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 1)))
	for i := range 20 {
		must(t, l.Journal(study(1)).PutSlot(i, bytes.Repeat([]byte{1}, 3000)))
	}
	must(t, commitAll(l))
	must(t, l.Close())
	info, err := os.Stat(filepath.Join(dir, dbName))
	must(t, err)
	page, found := os.Getpagesize(), 0
	for n := 2; n < int(info.Size())/page && n < 40; n++ {
		d := crash(t, dir)
		f, err := os.OpenFile(filepath.Join(d, dbName), os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, page), int64(n*page))
		must(t, errors.Join(err, f.Close()))
		l, err := Open(d)
		if err != nil {
			found++
			continue
		}
		l.Studies()
		l.Populations()
		for i := range 20 {
			l.Journal(study(1)).Slot(i)
		}
		l.Journal(study(1)).PutSlot(30, nil)
		if l.Err() != nil {
			found++
		}
		l.Close()
	}
	if found < 5 {
		t.Errorf("%d damaged pages were noticed", found)
	}
}

func TestRedaction(t *testing.T) {
	k := newKey()
	bare := fmt.Sprintf("%x", k[:4])
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", "k", k, "p", &k)
	text, _ := k.MarshalText()
	for _, s := range []string{fmt.Sprint(k), fmt.Sprintf("%x", k), fmt.Sprintf("%#v", k), fmt.Sprintf("%d", []wrapKey{k}), log.String(), string(text)} {
		if !strings.Contains(s, "[redacted]") || strings.Contains(s, bare) {
			t.Errorf("a wrap key shows as %q", s)
		}
	}
	for _, err := range []error{
		&HeldError{Signed{Survivors: []byte("SECRET"), Signature: []byte("SECRET")}},
		&ConflictError{}, &RuleError{}, &ChargeError{}, &BudgetError{}, &StateError{}, ErrErased,
	} {
		if s := err.Error(); strings.Contains(s, "SECRET") || strings.Contains(s, "83 69 67") || s == "" {
			t.Errorf("%T says %q", err, s)
		}
	}
}

func FuzzItem(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add([]byte{0, 0})
	f.Add(item{place: 3, sealed: []byte("xyz")}.encode())
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		it, err := decodeItem(b)
		if err != nil {
			return
		}
		if !bytes.Equal(it.encode(), b) {
			t.Errorf("%x decodes and encodes to %x", b, it.encode())
		}
	})
}
