package coordinator

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/admission"
)

// TestPace: a debt is waited out, and no longer than the link is there.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, l := admission.NewPace(paceRate, paceBurst), newLink("north")
		began := time.Now()
		for range int(paceBurst) + 1000 {
			if err := l.wait(t.Context(), p.Spend(time.Now(), costMessage)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 490*time.Millisecond || took > 510*time.Millisecond {
			t.Errorf("1000 messages over the burst took %v, want 0.5 s", took)
		}
		l.Close(errRevoked)
		if err := l.wait(context.Background(), time.Hour); !errors.Is(err, errRevoked) {
			t.Error(err)
		}
	})
}
