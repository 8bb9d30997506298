package ledger

import "go.etcd.io/bbolt"

// Charge charges a query by itself, which only an upload does.
func (l *Ledger) Charge(study [32]byte, query int, rho float64) error {
	if err := first(func() error { return checkIndex("query", query) }, func() error { return checkRho(rho) }); err != nil {
		return err
	}
	return l.update(place{"test", study, query, -1}, func(tx *bbolt.Tx) error {
		return l.record(tx, study).charge(query, rho, true)
	})
}

// commitAll has ledger.db hold all that the log does.
func commitAll(l *Ledger) error {
	return l.updateWhole(of("test", [32]byte{}), func(*bbolt.Tx) error { return nil })
}
