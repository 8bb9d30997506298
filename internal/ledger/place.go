package ledger

import "covey/internal/failpoint"

// place names an update for failpoint.
type place struct {
	name        string
	study       [32]byte
	query, slot int
}

// of is a place about a study as a whole.
func of(name string, study [32]byte) place { return place{name, study, -1, -1} }

// hit passes one side of an update; it does nothing in a release build.
func (s *store) hit(at place, phase failpoint.Phase) error {
	if !failpoint.Enabled {
		return nil
	}
	err := failpoint.Hit(failpoint.Event{
		Point: failpoint.LedgerPrefix + at.name, Phase: phase, Owner: s.dir, Study: at.study, Query: at.query, Slot: at.slot,
	})
	if err != nil {
		return s.latch(&StoreError{Op: "wrote", Err: err})
	}
	return nil
}

// mark names a further place of the write under way, which is durable with it.
func (r *record) mark(at place) {
	if failpoint.Enabled {
		r.l.marks = append(r.l.marks, at)
	}
}
