package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// shadowFile is a disk with a write cache that a power cut empties: what was
// written reaches the file only with Sync. before and after run around it.
type shadowFile struct {
	*os.File
	pending       map[int64][]byte
	before, after func()
	fail          error
	reads         int
}

func (s *shadowFile) WriteAt(p []byte, off int64) (int, error) {
	s.pending[off] = bytes.Clone(p)
	return len(p), nil
}

func (s *shadowFile) ReadAt(p []byte, off int64) (int, error) {
	s.reads++
	for at, b := range s.pending { // this package reads and writes whole keys
		if off >= at && off+int64(len(p)) <= at+int64(len(b)) {
			return copy(p, b[off-at:]), nil
		}
	}
	return s.File.ReadAt(p, off)
}

func (s *shadowFile) Sync() error {
	if s.before != nil {
		s.before()
	}
	if s.fail != nil {
		return s.fail
	}
	for off, b := range s.pending {
		if _, err := s.File.WriteAt(b, off); err != nil {
			return err
		}
	}
	clear(s.pending)
	if s.after != nil {
		s.after()
	}
	return s.File.Sync()
}

func openShadow(t *testing.T) (*Ledger, *shadowFile) {
	t.Helper()
	s := &shadowFile{pending: map[int64][]byte{}}
	l, err := open(filepath.Join(t.TempDir(), "l"), hooks{keysFile: func(f *os.File) blockFile { s.File = f; return s }})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	must(t, l.Approve(approval(1, 5)))
	return l, s
}

func value(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }

func never(t testing.TB) func() ([]byte, error) {
	return func() ([]byte, error) {
		t.Helper()
		t.Error("computed a second time")
		return nil, errors.New("computed a second time")
	}
}

func TestSecretsSurviveCrashes(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	must(t, j.PutSlot(7, []byte("seven")))
	got, err := j.PutSetup("seed", []byte("first"))
	if err != nil || string(got) != "first" {
		t.Fatalf("%q, %v", got, err)
	}

	l = mustOpen(t, crash(t, l.dir)) // every reply above was lost
	j = l.Journal(study(1))
	must(t, j.PutSlot(7, []byte("seven")))
	if c, ok := errors.AsType[*ConflictError](j.PutSlot(7, []byte("eight"))); !ok || c.Slot != 7 {
		t.Error("a slot took a second secret")
	}
	if v, err := j.Slot(7); string(v) != "seven" || err != nil {
		t.Errorf("slot: %q, %v", v, err)
	}
	if v, err := j.PutSetup("seed", []byte("second")); string(v) != "first" || err != nil {
		t.Errorf("the second write won: %q, %v", v, err)
	}
	if v, ok, err := j.Setup("seed"); string(v) != "first" || !ok || err != nil {
		t.Errorf("setup: %q, %v, %v", v, ok, err)
	}
	if _, ok, err := j.Setup("nonce"); ok || err != nil {
		t.Errorf("another kind has the secret: %v", err)
	}
	if _, err := j.Slot(8); err != ErrAbsent {
		t.Errorf("no slot: %v", err)
	}
	// All of PutSlots or nothing.
	if _, ok := errors.AsType[*ConflictError](j.PutSlots(map[int][]byte{6: {1}, 7: {2}, 8: {3}})); !ok {
		t.Error("conflict not seen in a batch")
	}
	for _, slot := range []int{6, 8} {
		if _, err := j.Slot(slot); err != ErrAbsent {
			t.Errorf("half a batch is stored: slot %d: %v", slot, err)
		}
	}
	if v, err := l.Journal(study(2)).Slot(7); err != ErrAbsent {
		t.Errorf("another study reads %q, %v", v, err)
	}
}

// MUST: the wrap key is on disk before the value it seals is committed. Cut the
// power while the key is being fsynced: there is no value. Cut it when the
// value is committed: it opens.
func TestKeyBeforeValue(t *testing.T) {
	l, s := openShadow(t)
	j := l.Journal(study(1))
	var cut string
	s.before = func() { cut = crash(t, l.dir) }
	read := map[string]struct {
		put func() error
		get func(*Journal) error
	}{
		"slot": {func() error { return j.PutSlot(0, []byte("s")) }, func(j *Journal) error { _, err := j.Slot(0); return err }},
		"setup": {func() error { _, err := j.PutSetup("k", []byte("s")); return err }, func(j *Journal) error {
			_, ok, err := j.Setup("k")
			if err == nil && !ok {
				return ErrAbsent
			}
			return err
		}},
	}
	for _, name := range []string{"slot", "setup"} {
		cut = ""
		must(t, read[name].put())
		if cut == "" {
			t.Fatalf("%s: the key file was not fsynced", name)
		}
		if err := read[name].get(mustOpen(t, cut).Journal(study(1))); err != ErrAbsent {
			t.Errorf("%s, power cut while the key is written: %v, want ErrAbsent", name, err)
		}
		if err := read[name].get(mustOpen(t, crash(t, l.dir)).Journal(study(1))); err != nil {
			t.Errorf("%s, power cut after the reply: %v", name, err)
		}
	}
}

// TestErasureOfAQueryReadsNoKeys: what erasing costs a query does not grow with a study's slots.
func TestErasureOfAQueryReadsNoKeys(t *testing.T) {
	l, s := openShadow(t)
	j := l.Journal(study(1))
	slots := map[int][]byte{}
	for slot := range 20 {
		slots[slot] = []byte("secret")
	}
	must(t, j.PutSlots(slots))
	s.reads = 0
	must(t, j.Final(0, 3, []byte("z")))
	if s.reads > 0 {
		t.Errorf("%d keys were read", s.reads)
	}
	for slot := range 20 {
		if _, err := j.Slot(slot); errors.Is(err, ErrErased) != (slot <= 3) {
			t.Errorf("slot %d: %v", slot, err)
		}
	}
}

// MUST: erasing zeroes the key on disk first. Cut the power at any point after
// and the secret is gone, and stays gone, whatever the database still holds.
func TestEraseZeroesTheKey(t *testing.T) {
	l, s := openShadow(t)
	j := l.Journal(study(1))
	get := func(j *Journal, kind string) (string, error) {
		v, ok, err := j.Setup(kind)
		if err == nil && !ok {
			err = ErrAbsent
		}
		return string(v), err
	}
	const zero, one = SetupSecrets, SetupAnnouncement
	_, err := j.PutAnnouncement([]byte("zero"), []byte("one"))
	must(t, err)
	_, err = j.Close([]byte("why"))
	must(t, err)
	var it item
	must(t, j.view(func(r *record) (err error) {
		it, err = decodeItem(bytes.Clone(r.get(setupBucket, []byte(zero))))
		return err
	}))
	old, err := l.keys.get(it.place)
	must(t, err)
	onDisk := func(dir string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, keysName))
		must(t, err)
		return b[l.keys.offset(it.place):][:keySize]
	}
	if !bytes.Equal(onDisk(l.dir), old[:]) {
		t.Fatal("the key is not where the test looks for it")
	}
	var early, late string
	s.before = func() { early = crash(t, l.dir) }
	s.after = func() { late = crash(t, l.dir) }
	must(t, j.Erase())
	if late == "" {
		t.Fatal("erased without an fsync of the key file")
	}
	if !bytes.Equal(onDisk(l.dir), make([]byte, keySize)) {
		t.Error("the key is still on disk")
	}
	if b, err := os.ReadFile(filepath.Join(l.dir, keysName)); err != nil || bytes.Contains(b, old[:16]) || bytes.Contains(b, old[16:]) {
		t.Error("the key is elsewhere in the key file")
	}
	if !bytes.Equal(onDisk(early), old[:]) {
		t.Error("the key was zeroed before it was fsynced")
	}
	for name, dir := range map[string]string{"before the key": early, "after the key": late, "after the reply": crash(t, l.dir)} {
		j := mustOpen(t, dir).Journal(study(1))
		if v, err := get(j, zero); err != ErrErased {
			t.Errorf("power cut %s: %q, %v", name, v, err)
		}
		if _, err := j.PutSetup(zero, []byte("zero")); err != ErrErased {
			t.Errorf("power cut %s: an erased secret was stored anew: %v", name, err)
		}
		if v, err := get(j, one); v != "one" || err != nil {
			t.Errorf("power cut %s: the other one: %q, %v", name, v, err)
		}
		// Open has removed the ciphertext's entry too.
		must(t, j.view(func(r *record) error {
			if v := r.get(setupBucket, []byte(zero)); !bytes.Equal(v, []byte{itemErased}) {
				t.Errorf("power cut %s: %d bytes are still stored", name, len(v))
			}
			return nil
		}))
	}
	// The ciphertext may still lie in a freed page: no key in the file opens it.
	b, err := os.ReadFile(filepath.Join(l.dir, keysName))
	must(t, err)
	for off := keySize; off+keySize <= len(b); off += keySize {
		k := wrapKey(b[off : off+keySize])
		r := &record{id: study(1)}
		if _, err := k.open(it.sealed, r.name(setupBucket, []byte(zero))); err == nil {
			t.Errorf("the key at byte %d opens the erased secret", off)
		}
	}
	must(t, j.Erase()) // nothing more is due
}

// Places of erased keys are not used again: a tombstone's key stays zero.
func TestPlacesAreNotReused(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	for i := range 6 {
		must(t, j.PutSlot(i, []byte("s")))
		must(t, j.Final(i, i, []byte("z")))
	}
	b, err := os.ReadFile(filepath.Join(l.dir, keysName))
	must(t, err)
	if len(b) != 7*keySize || !bytes.Equal(b[keySize:], make([]byte, 6*keySize)) {
		t.Errorf("%d bytes, all zero: %v", len(b), bytes.Equal(b[keySize:], make([]byte, len(b)-keySize)))
	}
}

// No secret, upload or share is ever in the files in the clear.
func TestSealedOnDisk(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	must(t, l.Charge(study(1), 0, 1))
	secret := []byte("SECRET-SECRET-SECRET")
	must(t, j.PutSlot(0, secret))
	_, err := j.PutSetup("seed", secret)
	must(t, err)
	_, err = j.Upload(0, 0, [32]byte{}, 1, value(string(secret)))
	must(t, err)
	_, err = j.OpenShares(0, 0, [32]byte{}, []byte("U"), value(string(secret)))
	must(t, err)
	for _, name := range []string{dbName, keysName} {
		b, err := os.ReadFile(filepath.Join(l.dir, name))
		must(t, err)
		if bytes.Contains(b, secret) {
			t.Errorf("%s holds a secret in the clear", name)
		}
	}
}

// liveItems counts the study's items that could still be opened.
func liveItems(t *testing.T, l *Ledger, id [32]byte) (n int) {
	t.Helper()
	must(t, l.Journal(id).view(func(r *record) error {
		for _, b := range [][]byte{setupBucket, slotBucket, uploadBytes, shareBytes} {
			spots, err := r.live(b, func([]byte) (bool, error) { return true, nil })
			must(t, err)
			n += len(spots)
		}
		return nil
	}))
	return n
}

// fill writes 2 slots, a setup secret, an upload and shares in slot 0.
func fill(t *testing.T, l *Ledger) *Journal {
	t.Helper()
	j := l.Journal(study(1))
	must(t, l.Charge(study(1), 0, 1))
	must(t, j.PutSlots(map[int][]byte{0: []byte("zero"), 1: []byte("one")}))
	_, err := j.PutSetup("seed", []byte("seed"))
	must(t, err)
	_, err = j.Upload(0, 0, [32]byte{1}, 1, value("masked"))
	must(t, err)
	_, err = j.Sign(0, 0, [32]byte{1}, []byte("U"), value("sig"))
	must(t, err)
	_, err = j.OpenShares(0, 0, [32]byte{1}, []byte("U"), value("shares"))
	must(t, err)
	if n := liveItems(t, l, study(1)); n != 5 {
		t.Fatalf("%d items", n)
	}
	return j
}

// MUST: the final result is on disk before the slot's secrets go, and Final
// returns only when they are gone. A cut in between is finished by Open.
func TestFinalErases(t *testing.T) {
	l, s := openShadow(t)
	j := fill(t, l)
	var early, late string
	s.before = func() { early = crash(t, l.dir) }
	s.after = func() { late = crash(t, l.dir) }
	must(t, j.Final(0, 0, []byte("z")))
	for name, dir := range map[string]string{"before the keys": early, "after the keys": late, "after the reply": crash(t, l.dir), "none": l.dir} {
		if dir == "" {
			t.Fatal("Final erased nothing")
		}
		at := l
		if dir != l.dir {
			at = mustOpen(t, dir)
		}
		j := at.Journal(study(1))
		if v, ok := j.FinalResult(0); string(v) != "z" || !ok {
			t.Errorf("cut %s: result %q, %v", name, v, ok)
		}
		if _, err := j.Slot(0); err != ErrErased {
			t.Errorf("cut %s: slot 0: %v", name, err)
		}
		if v, err := j.Slot(1); string(v) != "one" || err != nil {
			t.Errorf("cut %s: slot 1: %q, %v", name, v, err)
		}
		if n := liveItems(t, at, study(1)); n != 2 { // slot 1 and the setup seed
			t.Errorf("cut %s: %d items can be opened", name, n)
		}
		if q, ok := j.LatestFinal(); q != 0 || !ok {
			t.Errorf("cut %s: latest final %d, %v", name, q, ok)
		}
		must(t, j.Final(0, 0, []byte("z")))
		if _, ok := errors.AsType[*ConflictError](j.Final(0, 0, []byte("other"))); !ok {
			t.Errorf("cut %s: a second result for a query", name)
		}
		if _, ok := errors.AsType[*ConflictError](j.Final(0, 1, []byte("z"))); !ok {
			t.Errorf("cut %s: a second slot for a result", name)
		}
		if err := j.PutSlot(0, []byte("new")); err != ErrErased {
			t.Errorf("cut %s: stored a secret in a final slot: %v", name, err)
		}
	}
}

// A slot that never held a secret is closed by a later final one.
func TestFinalClosesEarlierSlots(t *testing.T) {
	l, _ := openShadow(t)
	j := l.Journal(study(1))
	must(t, j.Final(3, 9, []byte("z")))
	if err := j.PutSlot(9, []byte("s")); err != ErrErased {
		t.Errorf("slot 9: %v", err)
	}
	must(t, j.PutSlot(10, []byte("s")))
	must(t, j.Final(1, 4, []byte("y"))) // learnt late
	if err := j.PutSlot(8, []byte("s")); err != ErrErased {
		t.Errorf("slot 8 after an older result: %v", err)
	}
	if q, _ := j.LatestFinal(); q != 3 {
		t.Errorf("latest final %d", q)
	}
}

func TestFinishErases(t *testing.T) {
	l, s := openShadow(t)
	j := fill(t, l)
	must(t, j.Final(7, 0, []byte("z")))
	var early, late string
	s.before = func() { early = crash(t, l.dir) }
	s.after = func() { late = crash(t, l.dir) }
	must(t, l.Finish(study(1), "done"))
	for name, dir := range map[string]string{"before the keys": early, "after the keys": late, "after the reply": crash(t, l.dir)} {
		if dir == "" {
			t.Fatal("Finish erased nothing")
		}
		at := mustOpen(t, dir)
		if n := liveItems(t, at, study(1)); n != 0 {
			t.Errorf("cut %s: %d items can be opened", name, n)
		}
		b, err := os.ReadFile(filepath.Join(dir, keysName))
		must(t, err)
		if !bytes.Equal(b[keySize:], make([]byte, len(b)-keySize)) {
			t.Errorf("cut %s: keys are left", name)
		}
		if v, ok := at.Journal(study(1)).FinalResult(7); string(v) != "z" || !ok {
			t.Errorf("cut %s: the result is gone", name)
		}
		if p := at.Populations()[0]; p.ReservedRho != 0 || p.SpentRho != 1 {
			t.Errorf("cut %s: %+v", name, p)
		}
	}
}

// The key file's fsync fails: nothing is stored, and it is not tried again.
func TestKeyFileErrorLatches(t *testing.T) {
	l, s := openShadow(t)
	j := l.Journal(study(1))
	must(t, j.PutSlot(0, []byte("zero")))
	syncs := 0
	s.before = func() { syncs++ }
	s.fail = errors.New("input/output error")
	err := j.PutSlot(1, []byte("one"))
	if e, ok := errors.AsType[*StoreError](err); !ok || e.Err != s.fail {
		t.Fatalf("PutSlot: %v", err)
	}
	s.fail = nil
	for range 3 {
		if again := j.PutSlot(1, []byte("one")); again != err {
			t.Errorf("after a failed fsync: %v", again)
		}
	}
	if syncs != 1 {
		t.Errorf("%d fsyncs", syncs)
	}
	j = mustOpen(t, crash(t, l.dir)).Journal(study(1))
	if _, err := j.Slot(1); err != ErrAbsent {
		t.Errorf("slot 1: %v", err)
	}
	if v, err := j.Slot(0); string(v) != "zero" || err != nil {
		t.Errorf("slot 0: %q, %v", v, err)
	}
}

// However requests race, one value per slot leaves and it is computed once.
func TestConcurrentOnce(t *testing.T) {
	l, _ := openShadow(t)
	must(t, l.Charge(study(1), 0, 1))
	must(t, l.Journal(study(1)).PutSlot(0, []byte("zero")))
	var computed [3]atomic.Int32
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for n := range 12 {
		wg.Go(func() {
			j := l.Journal(study(1))
			mine := func(i int) func() ([]byte, error) {
				return func() ([]byte, error) {
					computed[i].Add(1)
					_, err := j.Slot(0) // computing may read secrets
					return []byte(fmt.Sprint(i, n)), err
				}
			}
			for i, ask := range []func() ([]byte, error){
				func() ([]byte, error) { return j.Upload(0, 0, [32]byte{1}, 1, mine(0)) },
				func() ([]byte, error) { return j.Sign(0, 0, [32]byte{1}, []byte("U"), mine(1)) },
				func() ([]byte, error) { return j.OpenShares(0, 0, [32]byte{1}, []byte("U"), mine(2)) },
			} {
				v, err := ask()
				if err != nil {
					t.Errorf("request %d: %v", i, err)
				}
				mu.Lock()
				seen[fmt.Sprint(i, string(v))] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 3 || computed[0].Load() != 1 || computed[1].Load() != 1 || computed[2].Load() != 1 {
		t.Errorf("values %v, computed %d %d %d times", seen, computed[0].Load(), computed[1].Load(), computed[2].Load())
	}
}

// Megabytes go in and out whole.
func TestLargeUpload(t *testing.T) {
	l, _ := openShadow(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<18) // 4 MiB
	j := l.Journal(study(1))
	must(t, j.PutSlot(0, []byte("slot")))
	_, err := j.Upload(0, 0, [32]byte{}, 1, func() ([]byte, error) { return big, nil })
	must(t, err)
	got, err := j.Upload(0, 0, [32]byte{}, 1, never(t))
	if err != nil || !bytes.Equal(got, big) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestErasuresSideBySide: results are recorded while the slots of earlier ones are still being
// erased, and the study ends meanwhile: no erasure takes a key that another one has zeroed for a
// ledger that is older.
func TestErasuresSideBySide(t *testing.T) {
	const slots = 60
	l, _ := openShadow(t)
	j := fill(t, l)
	more := map[int][]byte{}
	for i := 2; i < slots; i++ {
		more[i] = []byte{byte(i)}
	}
	must(t, j.PutSlots(more))
	var work sync.WaitGroup
	for q := range slots {
		must(t, j.FinalThenErase(q, q, []byte("z")))
		work.Go(func() {
			if err := j.Erase(); err != nil {
				t.Errorf("erasure after query %d: %v", q, err)
			}
		})
	}
	work.Go(func() {
		if err := l.Finish(study(1), "completed"); err != nil {
			t.Errorf("the study's end: %v", err)
		}
	})
	work.Wait()
	if n := liveItems(t, l, study(1)); n != 0 || l.Err() != nil {
		t.Errorf("%d items can be opened, %v", n, l.Err())
	}
}
