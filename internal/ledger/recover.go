package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"covey/internal/fsync"
)

// Codes of studies that Recover and Restore finished.
const (
	CodeRecovered = "recovered"
	CodeRestored  = "restored"
)

// Recovery is what Recover does, or did.
type Recovery struct {
	Found       *LostError   // what is wrong with the ledger
	Studies     []StudyEntry // those it leaves, as they stood before
	Populations []Population // the budgets afterwards
	// Aside is the name in the directory of a key file of another ledger that
	// was in the way; "" if there was none.
	Aside string
}

// Recover makes a ledger usable again whose key file or log is missing, damaged,
// of another ledger or of another time than ledger.db. The budgets stay. Every
// study that was approved and is not finished is finished with CodeRecovered and
// its whole approved ρ counts as spent, since nobody can say what was sent for
// it. Every secret is gone; a new key file takes the old one's place. agree is
// shown what will be done before anything is; its error is returned. Errors:
// ErrHealthy; ErrLocked; a *LostError where ledger.db itself cannot be read; a
// *StoreError.
//
// A crash before the database commits leaves a ledger that Open refuses and
// Recover takes again; after it, one that Open finishes.
func Recover(dir string, agree func(Recovery) error) (Recovery, error) {
	var rec Recovery
	if _, err := os.Lstat(filepath.Join(dir, dbName)); errors.Is(err, os.ErrNotExist) {
		return rec, &LostError{File: dbName, Reason: "is missing"}
	}
	db, err := openDB(filepath.Join(dir, dbName), hooks{})
	if err != nil {
		return rec, err
	}
	l := newLedger(dir, db)
	defer l.Close()
	id, made, err := l.identity()
	if err != nil {
		return rec, err
	}
	if id == ([16]byte{}) || !made {
		return rec, ErrHealthy // a first start cut short: Open finishes it
	}
	taken := l.takeLog(id)
	own, err := l.examine(id)
	if taken != nil {
		err = taken
	}
	lost, ok := errors.AsType[*LostError](err)
	switch {
	case err == nil:
		return rec, ErrHealthy
	case !ok || !lost.Budgets:
		return rec, err
	}
	rec.Found = lost
	if err := l.view(func(tx *bbolt.Tx) error {
		return l.each(tx, func(s StudyEntry) {
			if s.State == Approved {
				rec.Studies = append(rec.Studies, s)
			}
		})
	}); err != nil {
		return rec, err
	}
	rec.Populations = l.Populations()
	for i := range rec.Populations {
		p := &rec.Populations[i]
		p.SpentRho, p.ReservedRho = p.SpentRho+p.ReservedRho, 0
	}
	if agree != nil {
		if err := agree(rec); err != nil {
			return rec, err
		}
	}
	if rec.Aside, err = l.putKeysAway(own); err != nil {
		return rec, &StoreError{Op: "put the old key file away", Err: err}
	}
	err = l.update(place{"recover", [32]byte{}, -1, -1}, func(tx *bbolt.Tx) error { return l.abandon(tx) })
	if err != nil {
		return rec, err
	}
	if err := l.start(hooks{}); err != nil { // makes the key file
		return rec, err
	}
	rec.Populations = l.Populations()
	return rec, l.Close()
}

// takeLog takes the log's changes in, to be committed with what Recover changes. Where the log is
// lost ledger.db is taken as it is: it knows every approval.
func (l *Ledger) takeLog(id [16]byte) error {
	err := l.openLog(id, nil)
	l.txMu.Lock()
	defer l.txMu.Unlock()
	if err != nil {
		l.undo()
	}
	if l.log != nil {
		err = errors.Join(err, l.log.f.Close())
		l.log = nil
	}
	return err
}

// examine opens the key file and every live secret with it. own reports whether the key file's
// header names this ledger.
func (l *Ledger) examine(id [16]byte) (own bool, err error) {
	keys, err := openKeys(l.dir, id, nil)
	if err != nil {
		return false, err
	}
	l.keys = keys
	return true, l.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(studiesBucket).ForEachBucket(func(k []byte) error {
			if len(k) != 32 {
				return errDamaged
			}
			r := l.record(tx, [32]byte(k))
			if _, err := r.due(true); err != nil {
				return err
			}
			for _, bucket := range itemBuckets {
				spots, err := r.live(bucket, func([]byte) (bool, error) { return true, nil })
				if err != nil {
					return err
				}
				for _, s := range spots {
					// Open ends an erasure cut short
					if _, err := r.secret(s.bucket, s.key); err != nil && err != ErrErased {
						return err
					}
				}
			}
			return nil
		})
	})
}

// putKeysAway zeroes this ledger's own old key file, whose secrets are given up
// and whose ciphertexts may lie in freed pages, and renames any other: it may be
// what another ledger needs. The name is "" unless it was renamed.
func (l *Ledger) putKeysAway(own bool) (string, error) {
	if l.keys != nil {
		if err := l.keys.close(); err != nil {
			return "", err
		}
		l.keys = nil
	}
	path := filepath.Join(l.dir, keysName)
	if own {
		return "", zeroFile(path)
	}
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.aside-%d", keysName, n)
		if _, err := os.Lstat(filepath.Join(l.dir, aside)); !errors.Is(err, os.ErrNotExist) {
			if err != nil {
				return "", err
			}
			continue
		}
		return aside, errors.Join(os.Rename(path, filepath.Join(l.dir, aside)), fsync.Dir(l.dir))
	}
}

// zeroFile overwrites a file in place and fsyncs it.
func zeroFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt(make([]byte, info.Size()), 0)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// abandon finishes every unfinished study with its whole ρ, gives every secret
// up, and makes the database one whose key file is still to be made, under
// another id: the old file, should it turn up, is another ledger's.
func (l *Ledger) abandon(tx *bbolt.Tx) error {
	var ids [][32]byte
	if err := l.each(tx, func(s StudyEntry) { ids = append(ids, s.Study) }); err != nil {
		return err
	}
	for _, id := range ids {
		r := l.record(tx, id)
		e, _, err := r.entry()
		if err != nil {
			return err
		}
		if e.State == Approved {
			if err := r.end(&e, CodeRecovered, true); err != nil {
				return err
			}
		}
		for _, bucket := range itemBuckets {
			spots, err := r.live(bucket, func([]byte) (bool, error) { return true, nil })
			if err != nil {
				return err
			}
			for _, s := range spots {
				if err := r.put(s.bucket, s.key, item{erased: true}.encode()); err != nil {
					return err
				}
			}
		}
	}
	return fresh(tx)
}

// fresh makes a database one whose key file is still to be made.
func fresh(tx *bbolt.Tx) error {
	var id [16]byte
	rand.Read(id[:])
	meta := tx.Bucket(metaBucket)
	return stored("wrote", errors.Join(meta.Put(idKey, id[:]), meta.Put(nextKey, make([]byte, 8)), meta.Delete(keysMadeKey)))
}

// Restore makes a ledger in dir, where no ledger.db is, with the given studies of
// another that was lost, and none of its secrets: an approved study becomes a
// finished one whose whole ρ is spent, a finished or rejected one stays what it
// was; none can be entered again. populations holds the caps, and MUST add up to
// the studies. Errors: ErrExists, *FieldError,
// *StoreError. A crash leaves dir without a ledger.db, as it was, or with all of it.
func Restore(dir string, populations []Population, studies []StudyEntry) error {
	path := filepath.Join(dir, dbName)
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		if err != nil {
			return &StoreError{Op: "looked for " + dbName, Err: err}
		}
		return ErrExists
	}
	caps, err := checkRestored(populations, studies)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return &StoreError{Op: "made its directory", Err: err}
	}
	tmp := path + ".new"
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return &StoreError{Op: "removed " + tmp, Err: err}
	}
	db, err := openDB(tmp, hooks{})
	if err != nil {
		return err
	}
	l := newLedger(dir, db)
	err = l.update(place{"restore", [32]byte{}, -1, -1}, func(tx *bbolt.Tx) error {
		if err := makeMeta(tx); err != nil {
			return err
		}
		for _, s := range studies {
			r := l.record(tx, s.Study)
			if err := r.create(); err != nil {
				return err
			}
			e := entry{State: s.State, Name: s.Name, Population: s.Population, Rho: s.Rho, GDP: s.GDP, CapRho: caps[s.Population].CapRho, Bridged: caps[s.Population].Bridged,
				Data: s.DataSHA256[:], Proposer: s.Proposer.stored(), By: s.By, Time: s.Time, Code: s.Code, Forfeit: s.SpentRho}
			if s.State == Approved {
				e.State, e.Code, e.Forfeit = Finished, CodeRestored, max(s.Rho, s.SpentRho)
			}
			if err := r.save(nil, entryKey, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err = errors.Join(err, l.Close()); err != nil {
		return err
	}
	// From here on the directory's old keys open nothing that is wanted.
	keys := filepath.Join(dir, keysName)
	if _, err := os.Lstat(keys); err == nil {
		if err := zeroFile(keys); err != nil {
			return &StoreError{Op: "erased the old key file", Err: err}
		}
	}
	if err := errors.Join(os.Rename(tmp, path), fsync.Dir(dir)); err != nil {
		return &StoreError{Op: "put " + dbName + " in its place", Err: err}
	}
	if l, err = Open(dir); err != nil { // makes the key file
		return err
	}
	return l.Close()
}

// checkRestored returns the populations by name.
func checkRestored(populations []Population, studies []StudyEntry) (map[string]Population, error) {
	caps, left := map[string]Population{}, map[string]float64{}
	fits := func(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
	for _, p := range populations {
		if _, twice := caps[p.Name]; twice || !printable(p.Name, 1) || !fits(p.CapRho) || !fits(p.SpentRho) || !fits(p.ReservedRho) {
			return nil, &FieldError{Field: "population", Reason: "is named twice or holds what no ledger writes"}
		}
		caps[p.Name], left[p.Name] = p, p.SpentRho+p.ReservedRho
	}
	seen := map[[32]byte]bool{}
	for _, s := range studies {
		_, known := caps[s.Population]
		switch {
		case seen[s.Study], !printable(s.Name, 0), !printable(s.Code, 0), !fits(s.Rho), !fits(s.SpentRho), checkBy(s.By) != nil, s.Proposer.check() != nil,
			s.State != Approved && s.State != Finished && s.State != Rejected, !known && s.State != Rejected:
			return nil, &FieldError{Field: "study " + short(s.Study), Reason: "is there twice or holds what no ledger writes"}
		}
		seen[s.Study] = true
		if s.State == Approved {
			left[s.Population] -= max(s.Rho, s.SpentRho)
		} else {
			left[s.Population] -= s.SpentRho
		}
	}
	for _, p := range populations {
		// NaN, too
		if total := p.SpentRho + p.ReservedRho; !fits(total) || !(math.Abs(left[p.Name]) <= 1e-9*total) {
			return nil, &FieldError{Field: fmt.Sprintf("population %q", p.Name), Reason: "does not add up to its studies"}
		}
	}
	return caps, nil
}
