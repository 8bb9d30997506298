package ledger

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
)

// TestRestoreSpendsTheMost: an approved study of which more was spent than its ρ, as after an
// upgrade of the charge, is restored with what was spent.
func TestRestoreSpendsTheMost(t *testing.T) {
	dir := t.TempDir()
	s := StudyEntry{Study: study(1), State: Approved, Name: "a", Population: "people", Rho: 1, SpentRho: 1.5, By: "operator", Time: at}
	must(t, Restore(dir, []Population{{Name: "people", CapRho: 10, SpentRho: 1.5}}, []StudyEntry{s}))
	l := mustOpen(t, dir)
	defer l.Close()
	if p := l.Populations(); len(p) != 1 || p[0].SpentRho != 1.5 || p[0].ReservedRho != 0 {
		t.Errorf("populations %+v, want 1.5 spent", p)
	}
}

// TestRestoreRefuses: what no ledger writes is refused by name, and nothing is made.
func TestRestoreRefuses(t *testing.T) {
	good := StudyEntry{Study: study(1), State: Finished, Name: "a", Population: "people", Rho: 1, SpentRho: 1, By: "operator", Time: at}
	people := Population{Name: "people", CapRho: 10, SpentRho: 1}
	free := good // one that adds nothing, so that the sums fit with two of it
	free.SpentRho, free.Rho = 0, 0
	must(t, Restore(t.TempDir(), []Population{people}, []StudyEntry{good}))
	for name, c := range map[string]struct {
		populations []Population
		studies     []StudyEntry
	}{
		"a study twice":      {[]Population{{Name: "people", CapRho: 10}}, []StudyEntry{free, free}},
		"an unknown state":   {[]Population{people}, []StudyEntry{with(good, func(s *StudyEntry) { s.State = "paused" })}},
		"no state":           {[]Population{people}, []StudyEntry{with(good, func(s *StudyEntry) { s.State = "" })}},
		"a population twice": {[]Population{people, people}, []StudyEntry{good}},
		"sums that overflow": {[]Population{{Name: "people", CapRho: 10, SpentRho: math.MaxFloat64, ReservedRho: math.MaxFloat64}}, []StudyEntry{good}},
	} {
		dir := t.TempDir()
		if _, ok := errors.AsType[*FieldError](Restore(dir, c.populations, c.studies)); !ok {
			t.Errorf("%s was not refused by name", name)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left (%v)", name, left, err)
		}
	}
}

func with(s StudyEntry, change func(*StudyEntry)) StudyEntry { change(&s); return s }

// TestRecoverLeavesADamagedDatabase: where ledger.db itself holds what nobody wrote, its budgets
// cannot be relied on: Recover refuses before it asks, and touches neither file.
func TestRecoverLeavesADamagedDatabase(t *testing.T) {
	dir, _ := used(t)
	l := mustOpen(t, dir)
	must(t, l.update(place{"test", study(2), -1, -1}, func(tx *bbolt.Tx) error {
		return l.record(tx, study(2)).put(setupBucket, []byte("k"), []byte("no item"))
	}))
	must(t, l.Close())
	read := func() (all [][]byte) {
		for _, name := range []string{dbName, keysName} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			must(t, err)
			all = append(all, b)
		}
		return all
	}
	before := read()
	_, err := Recover(dir, func(Recovery) error { t.Error("asked for leave"); return errors.New("no") })
	if lost, ok := errors.AsType[*LostError](err); !ok || lost.Budgets || lost.File != dbName {
		t.Errorf("%v", err)
	}
	if !slices.EqualFunc(before, read(), slices.Equal[[]byte]) {
		t.Error("a file was changed")
	}
}

// TestAsideIsNotOverwritten: a key file of another ledger is put where no other lies, since each
// may be all that is left of one.
func TestAsideIsNotOverwritten(t *testing.T) {
	dir, _ := used(t)
	other := t.TempDir()
	must(t, mustOpen(t, other).Close())
	keys := filepath.Join(dir, keysName)
	must(t, os.Rename(filepath.Join(other, keysName), keys))
	foreign, err := os.ReadFile(keys)
	must(t, err)
	for _, name := range []string{".aside-1", ".aside-2"} {
		must(t, os.WriteFile(keys+name, []byte("a third's"), 0o600))
	}
	rec, err := Recover(dir, nil)
	must(t, err)
	if rec.Aside != keysName+".aside-3" {
		t.Errorf("put aside as %q", rec.Aside)
	}
	for name, want := range map[string]string{".aside-1": "a third's", ".aside-2": "a third's", ".aside-3": string(foreign)} {
		if b, err := os.ReadFile(keys + name); err != nil || string(b) != want {
			t.Errorf("%s: other content (%v)", name, err)
		}
	}
}
