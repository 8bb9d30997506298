package wire

import (
	"errors"
	"io"
	"time"
)

// Limits of a link.
const (
	// bytes in a frame that is sent: with its head within 32 KiB, the size of the buffers that gRPC
	// keeps
	Size       = 31 << 10
	Max        = 1 << 20   // bytes in a frame, at most
	MaxMessage = 512 << 20 // bytes in a message; a peer that sends more is cut off
	MaxResult  = 512 << 20 // bytes in a result file that a site asks for

	// A site or an analyst lets its coordinator be so many bytes ahead of what it has read of a
	// stream, and of what has arrived on a connection: over 80 MB/s where a round trip takes 100
	// ms. gRPC would get there by itself, from a first 64 KiB, with a ping at nearly every message.
	StreamWindow     = 16 << 20
	ConnectionWindow = 2 * StreamWindow

	// TagBytes is how much of a study's digest a hello names it by (docs/protocol.md, AG-26).
	TagBytes = 16

	// The agent pings at KeepaliveTime, with or without a stream, and gives a
	// silent coordinator KeepaliveTimeout; the coordinator allows that and does the same.
	KeepaliveTime    = 30 * time.Second
	KeepaliveTimeout = 20 * time.Second
)

// ErrTooLong is a message over the receiver's limit.
var ErrTooLong = errors.New("link: message over its limit")

// Send cuts a message into frames; an empty one is one empty frame. data is valid
// during the call.
func Send(message []byte, send func(data []byte, last bool) error) error {
	for {
		n := min(len(message), Size)
		last := n == len(message)
		if err := send(message[:n], last); err != nil {
			return err
		}
		if last {
			return nil
		}
		message = message[n:]
	}
}

// Frames cuts what is written to it into frames, as Send does. Send gets each of them, the last one
// from Close.
type Frames struct {
	Send  func(data []byte, last bool) error
	frame []byte
}

func (f *Frames) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if len(f.frame) == Size { // and more comes: not the last
			if err := f.Send(f.frame, false); err != nil {
				return n, err
			}
			f.frame = f.frame[:0]
		}
		next := p[n:min(len(p), n+Size-len(f.frame))]
		f.frame, n = append(f.frame, next...), n+len(next)
	}
	return n, nil
}

// Close sends the last frame.
func (f *Frames) Close() error { return f.Send(f.frame, true) }

// Receive returns the next whole message of at most limit bytes, io.EOF between
// messages, or io.ErrUnexpectedEOF within one.
func Receive(receive func() (data []byte, last bool, err error), limit int) ([]byte, error) {
	return ReceiveUpTo(receive, limit, func() int { return limit })
}

// maxPart bounds what is set aside for the rest of a message while it comes.
const maxPart = 8 * Size

// ReceiveUpTo is Receive with a limit that is looked up where a message is longer than least. It
// keeps a long message in parts until it is whole: one slice would be made anew many times.
func ReceiveUpTo(receive func() (data []byte, last bool, err error), least int, limit func() int) ([]byte, error) {
	var parts [][]byte // of the message, but for its end
	var end []byte
	n, most := 0, least
	for {
		data, last, err := receive()
		if err != nil {
			if errors.Is(err, io.EOF) && n > 0 {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, err
		}
		n += len(data)
		if n > most && most == least {
			most = limit()
		}
		if n > most {
			return nil, ErrTooLong
		}
		if len(data) > cap(end)-len(end) {
			if len(end) > 0 {
				parts = append(parts, end)
			}
			end = make([]byte, 0, max(len(data), min(n, maxPart))) // as much as came: twice at most
		}
		end = append(end, data...)
		switch {
		case last && parts == nil:
			return end, nil
		case last:
			whole := make([]byte, 0, n)
			for _, part := range append(parts, end) {
				whole = append(whole, part...)
			}
			return whole, nil
		}
	}
}
