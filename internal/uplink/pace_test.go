package uplink

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// TestAttackEndlessQuestions: AG-28. A coordinator that asks without end, on one link after the
// other, and takes every answer, makes a site answer no faster than its pace.
func TestAttackEndlessQuestions(t *testing.T) {
	raw := coordinatorMessage(t, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: make([]byte, 32)}}})
	synctest.Test(t, func(t *testing.T) {
		answered := 0
		u := newUplink(t, func(wire.Message) wire.Message { answered++; return nil })
		flood := func(during time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), during)
			defer cancel()
			l := newLink(ctx, u)
			n := 0
			if err := l.read(func() ([]byte, bool, error) {
				if n++; n > 2*askedBurst {
					return nil, false, io.EOF
				}
				return raw, true, nil
			}); err != context.DeadlineExceeded {
				t.Fatalf("after %d messages: %v", n, err)
			}
			u.o.Work.Wait()
		}
		const links, during = 5, time.Minute
		for range links {
			flood(during)
		}
		most := askedBurst + links*int(during/askedEvery) + links
		if answered > most || answered < askedBurst {
			t.Errorf("%d questions are answered, at most %d may be", answered, most)
		}
	})
}
