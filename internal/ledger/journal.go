package ledger

import (
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

// view returns what fn found once it is durable.
func (j *Journal) view(fn func(*record) error) error {
	var n uint64
	err := j.l.view(func(tx *bbolt.Tx) error {
		n = j.l.last[j.study]
		return fn(j.l.record(tx, j.study))
	})
	if failed := j.l.sync(n); failed != nil {
		return failed
	}
	return err
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
