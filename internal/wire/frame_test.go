package wire

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
)

func TestFrames(t *testing.T) {
	for _, size := range []int{0, 1, Size - 1, Size, Size + 1, 3*Size + 7, maxPart, 5*maxPart + 9} {
		message := bytes.Repeat([]byte{1, 2, 3, 5, 8}, size/5+1)[:size]
		type frame struct {
			data []byte
			last bool
		}
		var frames []frame
		if err := Send(message, func(data []byte, last bool) error {
			if len(data) > Size {
				t.Errorf("size %d: a frame of %d bytes", size, len(data))
			}
			frames = append(frames, frame{data, last})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		next := func() ([]byte, bool, error) {
			if len(frames) == 0 {
				return nil, false, io.EOF
			}
			f := frames[0]
			frames = frames[1:]
			return f.data, f.last, nil
		}
		got, err := Receive(next, MaxMessage)
		if err != nil || !bytes.Equal(got, message) {
			t.Errorf("size %d: got %d bytes, %v", size, len(got), err)
		}
		if _, err := Receive(next, MaxMessage); err != io.EOF {
			t.Errorf("size %d: after the message: %v, want io.EOF", size, err)
		}
	}
}

func TestFramesRefuse(t *testing.T) {
	frame, read := make([]byte, 10), 0
	_, err := Receive(func() ([]byte, bool, error) { read++; return frame, read == 20, nil }, 100)
	if !errors.Is(err, ErrTooLong) || read != 11 {
		t.Errorf("a message without end: %v after %d frames, want ErrTooLong after 11", err, read)
	}
	cut := false
	_, err = Receive(func() ([]byte, bool, error) {
		if cut {
			return nil, false, io.EOF
		}
		cut = true
		return []byte{1}, false, nil
	}, 100)
	if err != io.ErrUnexpectedEOF {
		t.Errorf("a message cut off: %v", err)
	}
}

// TestReceivedOnce: a long message is not copied again and again while it grows, whatever the size
// of its frames.
func TestReceivedOnce(t *testing.T) {
	const size = 4 << 20
	for _, of := range []int{1000, Size, Max} {
		frame, got := make([]byte, of), 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		message, err := Receive(func() ([]byte, bool, error) {
			next := frame[:min(of, size-got)]
			got += len(next)
			return next, got == size, nil
		}, size)
		runtime.ReadMemStats(&after)
		if err != nil || len(message) != size {
			t.Fatalf("%d bytes, %v", len(message), err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 5*size/2 {
			t.Errorf("%d bytes are made for a message of %d in frames of %d", n, size, of)
		}
	}
}
