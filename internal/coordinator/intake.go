package coordinator

import (
	"context"
	"errors"
	"time"
)

// maxLarge is how many messages of more than one frame are read at a time. A thousand uploads
// that come at once wait in their senders, held back by gRPC's flow control, and
// not in this process's memory.
const maxLarge = 64

// maxLate is how many messages that are for one site alone, the boxes and their dealers'
// commitments, are serialized at a time: with a thousand sites each is many megabytes.
const maxLate = 8

// stalledAfter is how long one of them may send nothing: then its link ends, for others to go on.
const stalledAfter = 30 * time.Second

var errStalled = errors.New("link: a message was begun and not continued")

// intake bounds what one link has in memory: a place among the large messages, taken with the
// first frame and given back when the message is worked off.
type intake struct {
	places chan struct{}
	link   *link
	timer  *time.Timer // runs while a place is held
}

// frame is called with each frame that comes. It waits for a place, or until ctx ends.
func (in *intake) frame(ctx context.Context, last bool) error {
	switch {
	case in.timer != nil:
		in.timer.Reset(stalledAfter)
	case !last:
		select {
		case in.places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-in.link.done:
			return in.link.why
		}
		in.timer = time.AfterFunc(stalledAfter, func() { in.link.close(errStalled) })
	}
	if last && in.timer != nil {
		in.timer.Stop()
	}
	return nil
}

// release returns the place back.
func (in *intake) release() {
	if in.timer != nil {
		in.timer.Stop()
		in.timer = nil
		<-in.places
	}
}
