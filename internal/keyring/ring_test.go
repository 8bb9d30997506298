package keyring

import (
	"errors"
	"testing"

	"covey/internal/ledger"
)

// TestStoredTellsGoneFromFailed: what is not on record is gone, and what a ledger that does not
// work holds is not.
func TestStoredTellsGoneFromFailed(t *testing.T) {
	l, err := ledger.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &Ring{journal: l.Journal([32]byte{1})}
	if _, err := r.Public(); err != errGone {
		t.Errorf("nothing on record: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Public(); !errors.Is(err, ledger.ErrClosed) || errors.Is(err, errGone) {
		t.Errorf("closed: %v", err)
	}
}
