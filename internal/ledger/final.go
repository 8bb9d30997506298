package ledger

import (
	"bytes"
	"slices"

	"go.etcd.io/bbolt"
)

// finalRecord is stored as its slot's key and the result: it is read more often than the others. It
// has a bucket of its own, since bbolt reads and writes all values of a page for one that is new,
// and those of a wide study are long.
type finalRecord struct {
	slot   int
	result []byte // of the transaction
}

// final returns a query's final result; false without one. A value in the place of its bucket
// is damage: a query without a result may be answered again.
func (r *record) final(query int) (f finalRecord, ok bool, err error) {
	v := r.in(resultKey, finalBucket, index(query))
	if v == nil {
		if r.get(finalBucket, index(query)) != nil {
			err = errDamaged
		}
		return f, false, err
	}
	slot, ok := number(v[:min(4, len(v))])
	if !ok {
		return f, false, errDamaged
	}
	return finalRecord{slot, v[4:]}, true, nil
}

// Final records a query's final, signed result, which the caller has checked,
// and then erases every slot up to the given one: its secret, its upload, the
// shares sent. The same slot and result again are fine, others a
// *ConflictError. Results may come in any order: a site that was away learns
// old ones later. The result is what its parts are behind one another.
func (j *Journal) Final(query, slot int, result ...[]byte) error {
	return j.final(query, slot, result, true)
}

// FinalThenErase is Final without the erasure, for a caller that calls Erase next, while something
// else goes on: it is one of Final's two fsyncs.
func (j *Journal) FinalThenErase(query, slot int, result ...[]byte) error {
	return j.final(query, slot, result, false)
}

func (j *Journal) final(query, slot int, result [][]byte, now bool) error {
	if err := checkPlace(query, slot); err != nil {
		return err
	}
	value := slices.Concat(append([][]byte{index(slot)}, result...)...)
	j.once.Lock()
	defer j.once.Unlock()
	err := j.l.update(place{"final", j.study, query, slot}, func(tx *bbolt.Tx) error {
		r := j.l.record(tx, j.study)
		if f, ok, err := r.final(query); err != nil {
			return err
		} else if ok {
			if f.slot != slot || !bytes.Equal(f.result, value[len(index(slot)):]) {
				return &ConflictError{Study: j.study, What: "final result", Query: query, Slot: f.slot}
			}
			return nil
		}
		if _, err := r.active(); err != nil {
			return err
		}
		return r.advance(query, slot, func(p *progress) error {
			p.FinalQuery, p.FinalSlot = max(p.FinalQuery, query), max(p.FinalSlot, slot)
			return j.l.put(tx, resultKey, value, studiesBucket, r.id[:], finalBucket, index(query))
		})
	})
	if err != nil || !now {
		return err
	}
	return j.Erase()
}

// Erase carries out what is due: the erasure of slots whose query is final. The result is on
// disk before the secrets go: a crash between leaves both, and Open, or the next Erase, erases.
func (j *Journal) Erase() error { return j.l.finishErasures(j.study) }

// FinalResult returns a query's final result; also after Finish.
func (j *Journal) FinalResult(query int) ([]byte, bool) {
	var result []byte
	ok := false
	err := j.view(func(r *record) (err error) {
		var f finalRecord
		f, ok, err = r.final(query)
		result = bytes.Clone(f.result)
		return err
	})
	return result, ok && err == nil
}

// LatestFinal returns the largest query with a final result.
func (j *Journal) LatestFinal() (query int, ok bool) {
	p, err := j.progress()
	return max(p.FinalQuery, 0), err == nil && p.FinalQuery >= 0
}
