package ledger

import (
	"errors"
	"testing"
)

// TestConfirmedSecretsAreErased: a process that dies between storing its confirmation and erasing
// the attempt's secrets leaves both; the next one erases them before it can be asked anything.
// Secrets of an attempt that is not confirmed stay.
func TestConfirmedSecretsAreErased(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, dir)
	must(t, l.Approve(approval(1, 2)))
	j := l.Journal(study(1))
	for _, kind := range []string{"secrets", "announcement", "confirmation"} {
		for attempt := range uint32(2) {
			if kind == "confirmation" && attempt == 0 {
				continue
			}
			if _, err := j.PutSetup(attempt, kind, []byte("a value of 32 bytes, more or less")); err != nil {
				t.Fatal(err)
			}
		}
	}
	must(t, l.Close())
	l = mustOpen(t, dir)
	defer l.Close()
	j = l.Journal(study(1))
	for attempt, erased := range []bool{false, true} {
		if _, ok, err := j.Setup(uint32(attempt), "secrets"); errors.Is(err, ErrErased) != erased || ok == erased {
			t.Errorf("attempt %d: the secrets are there: %v, %v", attempt, ok, err)
		}
		if _, ok, err := j.Setup(uint32(attempt), "announcement"); !ok {
			t.Errorf("attempt %d: the announcement is gone: %v", attempt, err)
		}
	}
}
