package egress

import (
	"log/slog"
	"testing"
	"time"

	"covey/internal/proposal"
)

// TestLocalIsNotSent: a line about a file that was made here is in the chain and in no count, now
// and after a restart.
func TestLocalIsNotSent(t *testing.T) {
	dir, id := t.TempDir(), proposal.Digest{1}
	for range 2 {
		e, err := Open(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		e.Record(Line{Kind: KindLocal, Study: &id, Bytes: 1000}, time.Now())
		if got := e.Snapshot(); len(got.Studies) != 0 || len(got.Link) != 0 || len(e.Witness()) != 0 {
			t.Errorf("counted as sent: %+v", got)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Verify(dir, "", nil)
	if err != nil || c.Lines != 2 || c.Messages != 0 || c.Bytes != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestAnew: that a file was begun where an earlier one is gone is a line of it, once, and no
// message.
func TestAnew(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 2 {
		e, err := Open(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if e.Anew(now) != (i == 0) || len(e.Snapshot().Link) != 0 {
			t.Errorf("start %d: it is anew, or not, or counted as sent: %+v", i, e.Snapshot())
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := Verify(dir, "", nil); err != nil || c.Lines != 1 || c.Messages != 0 || !c.Anew.Equal(now) {
		t.Errorf("%+v, %v", c, err)
	}
}
