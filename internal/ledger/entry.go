package ledger

import (
	"bytes"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

// StudyEntry is one study for display. Time is that of the approval or the
// rejection; Code is what Finish was given. LatestFinal is -1 before the first
// final result.
type StudyEntry struct {
	Study            [32]byte
	Name, Population string
	State            State
	Rho              float64 // approved
	GDP              bool    // of the approval
	SpentRho         float64 // charged, ForfeitRho included
	ForfeitRho       float64 // counted as spent without a query, by Forfeit
	ReservedRho      float64 // approved and not charged, 0 unless Approved
	Queries          int     // charged
	LatestFinal      int
	DataSHA256       [32]byte
	Proposer         Proposer // nobody of entries without the key
	By               string
	Time             time.Time
	Code             string
	Own              bool // Code is this site's own word (Leave)
}

// entry is the stored form of a study's standing.
type entry struct {
	State      State     `json:"state"`
	Name       string    `json:"name,omitempty"`
	Population string    `json:"population,omitempty"`
	Rho        float64   `json:"rho,omitempty"`
	GDP        bool      `json:"gdp,omitempty"` // false of entries without the key
	CapRho     float64   `json:"cap_rho,omitempty"`
	Bridged    bool      `json:"bridged,omitempty"` // as Population's; false of entries without the key
	Data       []byte    `json:"data_sha256,omitempty"`
	Proposer   *Proposer `json:"proposer,omitempty"`
	By         string    `json:"by"`
	Time       time.Time `json:"time"`
	Code       string    `json:"code,omitempty"`
	Own        bool      `json:"own,omitempty"`
	Forfeit    float64   `json:"forfeit_rho,omitempty"`
}

// Studies lists every study on record, the newest first; nil once the ledger
// has failed.
func (l *Ledger) Studies() []StudyEntry {
	var all []StudyEntry
	if l.view(func(tx *bbolt.Tx) error {
		return l.each(tx, func(s StudyEntry) { all = append(all, s) })
	}) != nil {
		return nil
	}
	slices.SortStableFunc(all, func(a, b StudyEntry) int {
		if c := b.Time.Compare(a.Time); c != 0 {
			return c
		}
		return bytes.Compare(a.Study[:], b.Study[:])
	})
	return all
}

// Active lists the approved studies that are not finished, in the order of their digests; nil once
// the ledger has failed. What it does grows with them, and little with those that are finished: a
// finished study stays so, and is not read again.
func (l *Ledger) Active() (all []StudyEntry) {
	l.finishedMu.Lock()
	defer l.finishedMu.Unlock()
	if l.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(studiesBucket).ForEachBucket(func(k []byte) error {
			if len(k) != 32 {
				return errDamaged
			}
			id := [32]byte(k)
			if l.finished[id] {
				return nil
			}
			s, _, err := l.record(tx, id).standing()
			switch {
			case err != nil:
				return err
			case s.State == Approved:
				all = append(all, s)
			case s.State == Finished:
				if l.finished == nil {
					l.finished = map[[32]byte]bool{}
				}
				l.finished[id] = true
			}
			return nil
		})
	}) != nil {
		return nil
	}
	return all
}

// Study returns one study on record; false if there is none, or the ledger has failed.
func (l *Ledger) Study(id [32]byte) (s StudyEntry, ok bool) {
	err := l.view(func(tx *bbolt.Tx) error {
		r := l.record(tx, id)
		if r.b == nil {
			return nil
		}
		ok = true
		var err error
		s, _, err = r.standing()
		return err
	})
	return s, ok && err == nil
}

// State returns how a study stands, without what Study adds up; false if there is none, or the
// ledger has failed.
func (l *Ledger) State(id [32]byte) (state State, ok bool) {
	err := l.view(func(tx *bbolt.Tx) error {
		e, on, err := l.record(tx, id).entry()
		state, ok = e.State, on
		return err
	})
	return state, ok && err == nil
}

func (l *Ledger) each(tx *bbolt.Tx, fn func(StudyEntry)) error {
	return l.eachEntry(tx, func(s StudyEntry, _ *entry) { fn(s) })
}

func (l *Ledger) eachEntry(tx *bbolt.Tx, fn func(StudyEntry, *entry)) error {
	return tx.Bucket(studiesBucket).ForEachBucket(func(k []byte) error {
		if len(k) != 32 {
			return errDamaged
		}
		s, e, err := l.record(tx, [32]byte(k)).standing()
		if err == nil {
			fn(s, &e)
		}
		return err
	})
}

// entry returns the study's standing as it is stored; false if the study is not on record.
func (r *record) entry() (entry, bool, error) {
	return remember(r, entryKey, func(d *decoded) *memo[entry] { return &d.entry })
}

// decoded is what a study's standing and progress were decoded to, with the bytes of each: every
// message of the study asks for both, and most of them find the same bytes. Nobody changes what
// the values point to.
type decoded struct {
	entry    memo[entry]
	progress memo[progress]
}

type memo[T any] struct {
	of    []byte
	value T
}

// remember is load of a key of the study itself, which decodes the same bytes once. What it
// remembers belongs to the transaction under way, and only to studies on record.
func remember[T any](r *record, key []byte, of func(*decoded) *memo[T]) (value T, ok bool, err error) {
	if r.b == nil {
		return value, false, nil
	}
	raw := r.b.Get(key)
	if raw == nil {
		return value, false, nil
	}
	d := r.l.decoded[r.id]
	if d == nil {
		d = &decoded{}
		r.l.decoded[r.id] = d
	}
	m := of(d)
	if !bytes.Equal(raw, m.of) {
		if _, err := r.load(nil, key, &value); err != nil {
			return value, false, err
		}
		m.of, m.value = bytes.Clone(raw), value
	}
	return m.value, true, nil
}

// standing reads how a study stands.
func (r *record) standing() (s StudyEntry, e entry, err error) {
	e, ok, err := r.entry()
	if err != nil {
		return s, e, err
	}
	if !ok {
		return s, e, errDamaged
	}
	spent, n, err := r.charged()
	if err != nil {
		return s, e, err
	}
	p, err := r.progress()
	if err != nil {
		return s, e, err
	}
	s = StudyEntry{Study: r.id, Name: e.Name, Population: e.Population, State: e.State, Rho: e.Rho, GDP: e.GDP,
		SpentRho: spent + e.Forfeit, ForfeitRho: e.Forfeit, Queries: n, LatestFinal: p.FinalQuery, By: e.By, Time: e.Time, Code: e.Code, Own: e.Own}
	copy(s.DataSHA256[:], e.Data)
	if e.Proposer != nil {
		s.Proposer = *e.Proposer
	}
	if e.State == Approved {
		s.ReservedRho = max(0, e.Rho-spent)
	}
	return s, e, nil
}
