package admission

import (
	"context"
	"errors"
	"time"
)

// ErrPauseEnded is returned by a pause whose link ended first.
var ErrPauseEnded = errors.New("link: ended")

// Pause waits out a debt, or until ctx or done ends; done may be nil.
func Pause(ctx context.Context, done <-chan struct{}, debt time.Duration) error {
	if debt <= 0 {
		return nil
	}
	t := time.NewTimer(debt)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-done:
		return ErrPauseEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}
