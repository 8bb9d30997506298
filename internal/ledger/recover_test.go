package ledger

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// used is a ledger with one finished study of ρ = 2 (0.5 charged), one approved of
// ρ = 3 with one charge of 1 and its secrets, and one rejected. before is a copy of
// its directory from before the approved study's first query was final.
func used(t *testing.T) (dir, before string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 2)))
	must(t, l.Charge(study(1), 0, 0.5))
	must(t, l.Finish(study(1), "aborted"))
	must(t, l.Approve(approval(2, 3)))
	must(t, l.Charge(study(2), 0, 1))
	j := l.Journal(study(2))
	must(t, j.PutSlots(map[int][]byte{0: []byte("zero"), 1: []byte("one")}))
	_, err := j.Upload(0, 0, context("c"), 1, value("upload"))
	must(t, err)
	must(t, commitAll(l))
	before = crash(t, dir)
	must(t, commitAll(l))
	must(t, j.Final(0, 0, []byte("result")))
	must(t, l.Reject(study(3), "operator", at))
	must(t, l.Close())
	return dir, before
}

// TestForfeit: a study of which nobody can say what was sent has spent all of its ρ.
func TestForfeit(t *testing.T) {
	l := mustOpen(t, t.TempDir())
	must(t, l.Approve(approval(1, 3)))
	must(t, l.Charge(study(1), 0, 1))
	must(t, l.Forfeit(study(1), "rolled_back"))
	must(t, l.Forfeit(study(1), "again"))
	must(t, l.Finish(study(1), "again"))
	s := l.Studies()[0]
	if s.State != Finished || s.Code != "rolled_back" || s.SpentRho != 3 || s.ForfeitRho != 2 || s.Queries != 1 {
		t.Errorf("%+v, want 3 spent, 2 of it forfeited", s)
	}
	if p := l.Populations()[0]; p.SpentRho != 3 || p.ReservedRho != 0 {
		t.Errorf("%+v, want 3 spent and nothing reserved", p)
	}
	if _, ok := errors.AsType[*BudgetError](l.Approve(approval(2, 7.5))); !ok {
		t.Error("forfeited ρ was given out again")
	}
}

// TestRecover loses the key file in each way: the budgets stay, what was approved is
// spent in full and left, and new studies can be joined.
func TestRecover(t *testing.T) {
	for name, harm := range map[string]func(dir, before string) error{
		"missing": func(dir, _ string) error { return os.Remove(filepath.Join(dir, keysName)) },
		"another's": func(dir, _ string) error {
			other := t.TempDir()
			mustOpen(t, other).Close()
			return os.Rename(filepath.Join(other, keysName), filepath.Join(dir, keysName))
		},
		"cut short": func(dir, _ string) error { return os.Truncate(filepath.Join(dir, keysName), keySize) },
		"of other content": func(dir, _ string) error {
			path := filepath.Join(dir, keysName)
			b, err := os.ReadFile(path)
			for i := keySize; i < len(b); i++ {
				b[i] |= 1
			}
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		},
		// The backup of ledger.db alone: the keys of slot 0 are gone by now.
		"newer than ledger.db": func(dir, before string) error {
			return os.Rename(filepath.Join(before, dbName), filepath.Join(dir, dbName))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, before := used(t)
			must(t, harm(dir, before))
			old, _ := os.ReadFile(filepath.Join(dir, keysName))
			file, err := os.Open(filepath.Join(dir, keysName)) // stays the old one
			if err == nil {
				defer file.Close()
			}
			var asked Recovery
			rec, err := Recover(dir, func(r Recovery) error { asked = r; return nil })
			must(t, err)
			if rec.Found == nil || !rec.Found.Budgets || len(rec.Studies) != 1 || rec.Studies[0].Study != study(2) {
				t.Errorf("recovered %+v, want study 2 alone left", rec)
			}
			for _, r := range []Recovery{asked, rec} {
				if p := r.Populations; len(p) != 1 || p[0].SpentRho != 3.5 || p[0].ReservedRho != 0 {
					t.Errorf("populations %+v, want 0.5 and all of 3 spent", p)
				}
			}
			if name == "another's" {
				if b, err := os.ReadFile(filepath.Join(dir, rec.Aside)); err != nil || !bytes.Equal(b, old) {
					t.Errorf("another ledger's keys are not kept (%q, %v)", rec.Aside, err)
				}
			} else if rec.Aside != "" {
				t.Errorf("this ledger's own keys are kept as %q", rec.Aside)
			} else if file != nil {
				if b, err := io.ReadAll(file); err != nil || len(b) == 0 || !bytes.Equal(b, make([]byte, len(b))) {
					t.Errorf("this ledger's own old keys are not erased (%v)", err)
				}
			}
			if info, err := os.Stat(filepath.Join(dir, keysName)); err != nil || info.Size() != keySize {
				t.Errorf("the new key file is not empty: %v, %v", info, err)
			}
			l := mustOpen(t, dir)
			s := l.Studies()[slices.IndexFunc(l.Studies(), func(s StudyEntry) bool { return s.Study == study(2) })]
			if s.State != Finished || s.Code != CodeRecovered || s.SpentRho != 3 {
				t.Errorf("%+v, want finished with all of ρ = 3 spent", s)
			}
			if _, ok := errors.AsType[*StateError](l.Approve(approval(2, 3))); !ok {
				t.Error("the study that was left can be entered again")
			}
			for slot := range 2 {
				if _, err := l.Journal(study(2)).Slot(slot); err != ErrErased {
					t.Errorf("slot %d: %v, want erased", slot, err)
				}
			}
			must(t, l.Approve(approval(4, 1)))
			must(t, l.Journal(study(4)).PutSlot(0, []byte("new")))
			must(t, l.Close())
			if v, err := mustOpen(t, dir).Journal(study(4)).Slot(0); string(v) != "new" || err != nil {
				t.Errorf("a new study's secret: %q, %v", v, err)
			}
		})
	}
}

func TestRecoverRefuses(t *testing.T) {
	dir, _ := used(t)
	agree := func(Recovery) error { t.Error("asked for leave"); return nil }
	files := func() string {
		var all []byte
		for _, name := range []string{dbName, keysName} {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			all = append(all, b...)
		}
		return string(all)
	}
	same := files()
	if _, err := Recover(dir, agree); !errors.Is(err, ErrHealthy) || files() != same {
		t.Errorf("a healthy ledger: %v", err)
	}
	l := mustOpen(t, dir)
	_, err := l.Journal(study(2)).PutAnnouncement([]byte("s"), []byte("a"))
	must(t, err)
	_, err = l.Journal(study(2)).Close([]byte("why"))
	must(t, err)
	var it item
	must(t, l.Journal(study(2)).view(func(r *record) (err error) {
		it, err = decodeItem(bytes.Clone(r.get(setupBucket, []byte(SetupSecrets))))
		return err
	}))
	must(t, l.keys.zero([]uint64{it.place}))
	must(t, l.Close())
	if _, err := Recover(dir, agree); !errors.Is(err, ErrHealthy) {
		t.Errorf("an erasure cut short: %v", err)
	}
	l = mustOpen(t, dir)
	if _, err := Recover(dir, agree); !errors.Is(err, ErrLocked) {
		t.Errorf("a ledger in use: %v", err)
	}
	must(t, l.Close())
	no := errors.New("no")
	must(t, os.Remove(filepath.Join(dir, keysName)))
	same = files()
	if _, err := Recover(dir, func(Recovery) error { return no }); err != no || files() != same {
		t.Errorf("not agreed: %v", err)
	}
	lost := func(err error) bool {
		e, ok := errors.AsType[*LostError](err)
		return ok && !e.Budgets && e.File == dbName
	}
	must(t, os.Truncate(filepath.Join(dir, dbName), 5000))
	if _, err := Recover(dir, agree); !lost(err) {
		t.Errorf("a damaged database: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, dbName)))
	if _, err := Recover(dir, agree); !lost(err) {
		t.Errorf("no database: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, dbName)); err == nil {
		t.Error("Recover made a database")
	}
}

// TestOlderDatabaseLacksApprovals: approvals that an older ledger.db lacks are in no budget that
// Recover keeps, and the operator is told so before anything is done.
func TestOlderDatabaseLacksApprovals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 2)))
	before := crash(t, dir)
	must(t, l.Approve(approval(2, 3)))
	must(t, l.Charge(study(2), 0, 3))
	must(t, l.Close())
	must(t, os.Rename(filepath.Join(before, dbName), filepath.Join(dir, dbName)))
	no := errors.New("no")
	_, err := Recover(dir, func(r Recovery) error {
		if p := r.Populations; len(p) != 1 || p[0].SpentRho != 2 || !strings.Contains(r.Found.Reason, "lacks what was approved since") {
			t.Errorf("%+v with %q", p, r.Found.Reason)
		}
		return no
	})
	if !errors.Is(err, no) {
		t.Error(err)
	}
}

// TestOlderDatabase: ledger.db restored alone is found by the keys that are gone.
func TestOlderDatabase(t *testing.T) {
	dir, before := used(t)
	must(t, os.Rename(filepath.Join(before, dbName), filepath.Join(dir, dbName)))
	_, err := Open(dir)
	if lost, ok := errors.AsType[*LostError](err); !ok || !lost.Budgets {
		t.Errorf("Open: %v", err)
	}
}

// TestOlderSetup: ledger.db and log restored from before a confirmation are found by the key of the
// setup's secrets, whose erasure they have not on record.
func TestOlderSetup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 2)))
	j := l.Journal(study(1))
	_, err := j.PutAnnouncement([]byte("secrets"), []byte("announced"))
	must(t, err)
	before := crash(t, dir)
	must(t, j.PutConfirmation(confirmed()))
	must(t, j.Erase())
	must(t, l.Close())
	for _, name := range []string{dbName, logName} {
		must(t, os.Rename(filepath.Join(before, name), filepath.Join(dir, name)))
	}
	_, err = Open(dir)
	if lost, ok := errors.AsType[*LostError](err); !ok || !lost.Budgets {
		t.Errorf("Open: %v", err)
	}
}

// TestRestore starts a ledger from another's budgets.
func TestRestore(t *testing.T) {
	dir, _ := used(t)
	l := mustOpen(t, dir)
	populations, studies := l.Populations(), l.Studies()
	must(t, l.Close())
	if err := Restore(dir, populations, studies); !errors.Is(err, ErrExists) {
		t.Errorf("beside a database: %v", err)
	}
	must(t, os.Remove(filepath.Join(dir, dbName)))
	short := slices.Clone(populations)
	short[0].SpentRho -= 0.1
	for name, err := range map[string]error{
		"too little spent": Restore(dir, short, studies),
		"no population":    Restore(dir, nil, studies),
		"a study less":     Restore(dir, populations, studies[:1]),
		"a study twice":    Restore(dir, populations, append(slices.Clone(studies), studies[0])),
	} {
		if _, ok := errors.AsType[*FieldError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	file, err := os.Open(filepath.Join(dir, keysName))
	must(t, err)
	defer file.Close()
	must(t, Restore(dir, populations, studies))
	if b, err := io.ReadAll(file); err != nil || len(b) == 0 || !bytes.Equal(b, make([]byte, len(b))) {
		t.Errorf("the lost ledger's keys are not erased (%v)", err)
	}
	for range 2 {
		l = mustOpen(t, dir)
		if p := l.Populations(); len(p) != 1 || p[0].SpentRho != 3.5 || p[0].ReservedRho != 0 || p[0].CapRho != 10 {
			t.Errorf("populations %+v, want 3.5 of 10 spent", p)
		}
		for _, s := range l.Studies() {
			want := map[[32]byte]string{study(1): "aborted", study(2): CodeRestored, study(3): ""}[s.Study]
			if s.Code != want || s.State == Approved {
				t.Errorf("%+v, want it over with code %q", s, want)
			}
		}
		if _, ok := errors.AsType[*StateError](l.Approve(approval(2, 3))); !ok {
			t.Error("a study of the lost ledger can be entered again")
		}
		must(t, l.Close())
	}
	l = mustOpen(t, dir)
	must(t, l.Approve(approval(4, 6)))
	if _, ok := errors.AsType[*BudgetError](l.Approve(approval(5, 1))); !ok {
		t.Error("the restored charges do not count")
	}
}
