package ledger

import (
	"crypto/subtle"
	"encoding/binary"
	"slices"
	"sync"

	"go.etcd.io/bbolt"
)

// Journal is the once-only journal of one study. All writes need the study to
// be approved and not finished (*StateError). Its methods may be called from
// many goroutines; Upload, Sign, OpenShares and Final of one study run one at
// a time, the functions they are given included, which therefore must not call
// those four. They may read secrets.
type Journal struct {
	l     *Ledger
	study [32]byte
	once  sync.Mutex // serializes the four; never held while waiting on another
}

// Journal returns the study's journal, the same one for every call.
func (l *Ledger) Journal(study [32]byte) *Journal {
	l.mu.Lock()
	defer l.mu.Unlock()
	j := l.journals[study]
	if j == nil {
		j = &Journal{l: l, study: study}
		l.journals[study] = j
	}
	return j
}

// String names the study by its digest's first bytes.
func (j *Journal) String() string { return "journal of study " + short(j.study) }

func (j *Journal) view(fn func(*record) error) error {
	return j.l.view(func(tx *bbolt.Tx) error { return fn(j.l.record(tx, j.study)) })
}

// write runs fn on an approved, unfinished study.
func (j *Journal) write(at place, fn func(*record) error) error {
	return j.l.update(at, func(tx *bbolt.Tx) error {
		r := j.l.record(tx, j.study)
		if _, err := r.active(); err != nil {
			return err
		}
		return fn(r)
	})
}

// Two kinds of what PutSetup stores are the ledger's business: an attempt's secrets must be gone
// once its confirmation is on record. Whoever stores the confirmation erases them; after a crash
// between the two, Open does.
const (
	SetupSecrets      = "secrets"
	SetupConfirmation = "confirmation"
)

func setupKey(attempt uint32, kind string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, attempt), kind...)
}

// PutSetup stores a secret of a setup attempt under kind, unless one is there
// already: the first write wins. It returns the value on record, which the
// caller compares or goes on with. ErrErased if it was erased.
func (j *Journal) PutSetup(attempt uint32, kind string, value []byte) ([]byte, error) {
	if !printable(kind, 1) {
		return nil, &FieldError{Field: "setup kind", Reason: "must be 1 to 200 characters of text"}
	}
	key := setupKey(attempt, kind)
	var on []byte
	err := j.write(of("setup."+kind, j.study), func(r *record) (err error) {
		if on, err = r.secret(setupBucket, key); err != ErrAbsent {
			return err
		}
		on = slices.Clone(value)
		return r.keep(setupBucket, [][]byte{key}, [][]byte{value})
	})
	if err != nil {
		return nil, err
	}
	return on, nil
}

// Setup returns what PutSetup stored; false if nothing was. ErrErased if it is
// gone.
func (j *Journal) Setup(attempt uint32, kind string) ([]byte, bool, error) {
	var v []byte
	err := j.view(func(r *record) (err error) {
		v, err = r.secret(setupBucket, setupKey(attempt, kind))
		return err
	})
	if err == ErrAbsent {
		return nil, false, nil
	}
	return v, err == nil, err
}

// EraseSetup erases one setup secret for good, such as a transport key once
// setup is over. Erasing what is not there or already erased is fine.
func (j *Journal) EraseSetup(attempt uint32, kind string) error {
	return j.erase(setupBucket, setupKey(attempt, kind))
}

// PutSlot stores the secret of a slot, before the slot is used. The same
// secret again is fine, another one is a *ConflictError, and a slot that was
// erased, or lies at or before a final one, is ErrErased.
func (j *Journal) PutSlot(slot int, secret []byte) error {
	return j.PutSlots(map[int][]byte{slot: secret})
}

// PutSlots is PutSlot for many slots in one step: all are stored or none.
func (j *Journal) PutSlots(secrets map[int][]byte) error {
	for slot := range secrets {
		if err := checkIndex("slot", slot); err != nil {
			return err
		}
	}
	return j.write(of("slots", j.study), func(r *record) error {
		p, err := r.progress()
		if err != nil {
			return err
		}
		var keys, values [][]byte
		for slot, secret := range secrets {
			if slot <= p.FinalSlot {
				return ErrErased
			}
			on, err := r.secret(slotBucket, index(slot))
			switch {
			case err == ErrAbsent:
				keys, values = append(keys, index(slot)), append(values, secret)
			case err != nil:
				return err
			case subtle.ConstantTimeCompare(on, secret) != 1:
				return &ConflictError{Study: j.study, What: "slot secret", Query: -1, Slot: slot}
			}
		}
		if keys == nil {
			return nil
		}
		return r.keep(slotBucket, keys, values)
	})
}

// Slot returns a slot's secret: ErrAbsent if none was stored, ErrErased if it
// is gone.
func (j *Journal) Slot(slot int) ([]byte, error) {
	if err := checkIndex("slot", slot); err != nil {
		return nil, err
	}
	var v []byte
	err := j.view(func(r *record) (err error) {
		v, err = r.secret(slotBucket, index(slot))
		return err
	})
	return v, err
}

// UploadedIn returns the query that this site uploaded for in a slot; false if
// it did not. The record outlives the upload's bytes, and the study.
func (j *Journal) UploadedIn(slot int) (query int, ok bool, err error) {
	if err := checkIndex("slot", slot); err != nil {
		return 0, false, err
	}
	var u uploadRecord
	err = j.view(func(r *record) (err error) {
		ok, err = r.load(uploadBucket, index(slot), &u)
		return err
	})
	return u.Query, ok && err == nil, err
}

// SignedIn returns what this site signed in a slot; false if it signed nothing.
// It outlives the study.
func (j *Journal) SignedIn(slot int) (Signed, bool, error) {
	if err := checkIndex("slot", slot); err != nil {
		return Signed{}, false, err
	}
	var s signedRecord
	ok := false
	err := j.view(func(r *record) (err error) {
		ok, err = r.load(signedBucket, index(slot), &s)
		return err
	})
	if err != nil || !ok {
		return Signed{}, false, err
	}
	return s.signed(), true, nil
}

// SharedIn reports whether this site sent shares for a query in a slot, and for which set. It
// outlives the shares' bytes.
func (j *Journal) SharedIn(query, slot int) (Signed, bool, error) {
	if err := first(func() error { return checkIndex("query", query) }, func() error { return checkIndex("slot", slot) }); err != nil {
		return Signed{}, false, err
	}
	var s signedRecord
	ok := false
	err := j.view(func(r *record) (err error) {
		s, ok, err = r.sent(query)
		return err
	})
	if err != nil || !ok || s.Slot != slot {
		return Signed{}, false, err
	}
	return s.signed(), true, nil
}

// erase needs no approval: less is always allowed to be known.
func (j *Journal) erase(bucket, key []byte) error {
	return j.l.update(of("erase", j.study), func(tx *bbolt.Tx) error {
		r := j.l.record(tx, j.study)
		if r.get(bucket, key) == nil {
			return nil
		}
		return r.erase([]spot{{bucket, key}})
	})
}
