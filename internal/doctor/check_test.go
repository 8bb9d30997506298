package doctor

import (
	"path/filepath"
	"testing"
	"time"

	"covey/internal/enroll"
	"covey/internal/siteconfig"
	"covey/test/port"
)

// TestCheckAfterJoin: what a join leaves is in order.
func TestCheckAfterJoin(t *testing.T) {
	s, ctx := port.New(t), port.Bounded(t)
	dir := filepath.Join(t.TempDir(), "alpha")
	if err := enroll.Join(ctx, s.Invite(t, nil), dir, time.Now()); err != nil {
		t.Fatal(err)
	}
	config, err := siteconfig.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := Check(ctx, config, time.Now())
	for _, f := range found {
		if f.Err != nil {
			t.Errorf("check: %s: %v", f.Check, f.Err)
		}
	}
	if len(found) < 8 {
		t.Errorf("%d lines: the coordinator was not asked", len(found))
	}
}
