package ledger

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
)

// FuzzRecords puts bytes of the fuzzer's in the place of a record of a study under way, as a
// damaged disk or a hand might: everything that reads records gives an error or a value, and the
// ledger still refuses what it refused.
func FuzzRecords(f *testing.F) {
	dir := f.TempDir()
	l := mustOpen(f, dir)
	must(f, l.Approve(approval(1, 2)))
	must(f, l.Approve(approval(2, 1)))
	j := l.Journal(study(1))
	if _, err := j.PutSetup("secrets", []byte("seed")); err != nil {
		f.Fatal(err)
	}
	must(f, j.PutSlots(map[int][]byte{0: []byte("a"), 1: []byte("b")}))
	must(f, l.Charge(study(1), 0, 0.5))
	if _, err := j.Upload(0, 0, [32]byte{1}, 0.5, func() ([]byte, error) { return []byte("masked"), nil }); err != nil {
		f.Fatal(err)
	}
	must(f, commitAll(l))
	must(f, l.Close())
	log, err := os.ReadFile(filepath.Join(dir, logName))
	must(f, err)
	db, err := os.ReadFile(filepath.Join(dir, dbName))
	must(f, err)
	keys, err := os.ReadFile(filepath.Join(dir, keysName))
	must(f, err)
	type spot struct{ bucket, key []byte }
	var spots []spot
	must(f, os.WriteFile(filepath.Join(dir, "copy"), db, 0o600))
	open, err := bbolt.Open(filepath.Join(dir, "copy"), 0o600, &bbolt.Options{NoSync: true})
	must(f, err)
	must(f, open.View(func(tx *bbolt.Tx) error {
		id := study(1)
		b := tx.Bucket(studiesBucket).Bucket(id[:])
		return b.ForEach(func(k, v []byte) error {
			if v != nil {
				spots = append(spots, spot{nil, slices.Clone(k)})
				f.Add(byte(len(spots)-1), slices.Clone(v))
				return nil
			}
			return b.Bucket(k).ForEach(func(at, v []byte) error {
				spots = append(spots, spot{slices.Clone(k), slices.Clone(at)})
				f.Add(byte(len(spots)-1), slices.Clone(v))
				return nil
			})
		})
	}))
	must(f, open.Close())
	if len(spots) < 8 {
		f.Fatalf("%d records", len(spots))
	}
	f.Add(byte(0), []byte(`{"state":"approved","rho":-1e308,"cap_rho":0}`))
	f.Add(byte(1), []byte("{}"))
	f.Fuzz(func(t *testing.T, n byte, value []byte) {
		at := spots[int(n)%len(spots)]
		if len(value) > 1<<16 {
			return
		}
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, dbName), db, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, keysName), keys, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, logName), log, 0o600))
		raw, err := bbolt.Open(filepath.Join(dir, dbName), 0o600, &bbolt.Options{NoSync: true})
		must(t, err)
		must(t, raw.Update(func(tx *bbolt.Tx) error {
			id := study(1)
			b := tx.Bucket(studiesBucket).Bucket(id[:])
			if at.bucket != nil {
				b = b.Bucket(at.bucket)
			}
			return b.Put(at.key, value)
		}))
		must(t, raw.Close())
		l, err := Open(dir)
		if err != nil {
			lost, ok := errors.AsType[*LostError](err)
			if ok && lost.File == logName {
				t.Fatal(err)
			}
			if !ok {
				if _, ok := errors.AsType[*StoreError](err); !ok {
					t.Fatalf("%#v", err)
				}
			}
			return
		}
		defer l.Close()
		l.db.NoSync = true
		l.Populations()
		l.Studies()
		l.Approved(study(1))
		j := l.Journal(study(1))
		for _, slot := range []int{0, 1} {
			j.Slot(slot)
			j.UploadedIn(slot)
			j.SignedIn(slot)
			j.FinalResult(slot)
			j.Setup("secrets")
		}
		fresh := false
		if got, err := j.Upload(0, 0, [32]byte{1}, 0.5, func() ([]byte, error) { fresh = true; return []byte("other"), nil }); err == nil && !fresh && string(got) != "masked" {
			t.Fatalf("the upload of slot 0 is %q now", got)
		}
		l.Charge(study(1), 1, 0.1)
		l.Finish(study(1), "aborted")
		if _, err := json.Marshal(l.Studies()); err != nil && !errors.Is(err, os.ErrInvalid) {
			t.Log(err) // a number that JSON has not
		}
	})
}

// FuzzRestore: an export is refused, or its budgets are what it said.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`[{"Name":"p","CapRho":2,"SpentRho":1,"ReservedRho":0.5}]`), []byte(`[{"Study":[1],"Population":"p","State":"finished","SpentRho":1,"Rho":1,"By":"operator"},{"Study":[2],"Population":"p","State":"approved","Rho":0.5,"By":"policy"}]`))
	f.Add([]byte(`[{"Name":"p","CapRho":2,"SpentRho":1.7e308,"ReservedRho":1.7e308}]`), []byte(`[]`))
	f.Add([]byte(`[{"Name":"p","CapRho":2,"SpentRho":1.7e308,"ReservedRho":1.7e308}]`), []byte(`[{"Study":[1],"Population":"p","State":"finished","SpentRho":1.7e308,"By":"operator"},{"Study":[2],"Population":"p","State":"finished","SpentRho":1.7e308,"By":"operator"}]`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var populations []Population
		var studies []StudyEntry
		if json.Unmarshal(first, &populations) != nil || json.Unmarshal(second, &studies) != nil || len(studies) > 50 {
			return
		}
		dir := filepath.Join(t.TempDir(), "ledger")
		if err := Restore(dir, populations, studies); err != nil {
			if _, err := os.Lstat(filepath.Join(dir, dbName)); err == nil {
				t.Fatal("a ledger is there that was refused")
			}
			return
		}
		l := mustOpen(t, dir)
		spent := map[string]float64{}
		for _, p := range l.Populations() {
			spent[p.Name] = p.SpentRho + p.ReservedRho
		}
		for _, p := range populations {
			if want := p.SpentRho + p.ReservedRho; !(spent[p.Name] >= want*(1-1e-6)) {
				t.Fatalf("population %q has %v of its budget used, the export says %v", p.Name, spent[p.Name], want)
			}
		}
	})
}
