package admission

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// ErrExpired answers who shows a certificate that has ended, or has not begun.
var ErrExpired = status.Error(codes.Unauthenticated, "the certificate is not valid now")

// Expiry returns a channel that is closed at the end of the certificate that a stream's connection
// showed: the next connection shows the renewed one. It is nil where no TLS is. The clock is looked
// at again and again: a timer stands still while a machine sleeps, and does not see a clock that is
// set.
func Expiry(ctx context.Context, now func() time.Time) <-chan struct{} {
	leaf := LeafOf(ctx)
	if leaf == nil {
		return nil
	}
	ended := make(chan struct{})
	go func() {
		for left := leaf.NotAfter.Sub(now()); left > 0; left = leaf.NotAfter.Sub(now()) {
			select {
			case <-time.After(min(left, time.Minute)):
			case <-ctx.Done():
				return
			}
		}
		close(ended)
	}()
	return ended
}
