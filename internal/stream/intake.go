package stream

import (
	"context"
	"errors"
	"time"
)

// MaxLarge is how many messages of more than one frame are read at a time. A thousand uploads
// that come at once wait in their senders, held back by gRPC's flow control, and
// not in this process's memory.
const MaxLarge = 64

// MaxLate is how many messages that are for one site alone, the boxes and their dealers'
// commitments, are serialized at a time: with a thousand sites each is many megabytes.
const MaxLate = 8

// StalledAfter is how long a message may bring nothing before its stream ends, so that others go
// on.
const StalledAfter = 30 * time.Second

// errStalled is why a stream ends that sends or takes nothing for StalledAfter.
var errStalled = errors.New("link: a message was begun and not continued")

// Intake bounds what one stream has in memory: a place among the large messages, taken with the
// first frame and given back when the message has been handled.
type Intake struct {
	places chan struct{}
	stream *Stream
	timer  *time.Timer // runs while a place is held
}

// NewIntake returns that of a stream; places are those of all streams.
func NewIntake(places chan struct{}, s *Stream) *Intake { return &Intake{places: places, stream: s} }

// Frame is called with each frame that arrives. It waits for a place, or until ctx ends.
func (in *Intake) Frame(ctx context.Context, last bool) error {
	switch {
	case in.timer != nil:
		in.timer.Reset(StalledAfter)
	case !last:
		select {
		case in.places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-in.stream.done:
			return in.stream.why
		}
		in.timer = time.AfterFunc(StalledAfter, func() { in.stream.Close(errStalled) })
	}
	if last && in.timer != nil {
		in.timer.Stop()
	}
	return nil
}

// Release gives the place back.
func (in *Intake) Release() {
	if in.timer != nil {
		in.timer.Stop()
		in.timer = nil
		<-in.places
	}
}
