package stream

import (
	"testing"
	"testing/synctest"
)

// TestNothingMadeLateIsNotSent: a message that cannot be made when its turn comes is left out, and
// those behind it are sent.
func TestNothingMadeLateIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, places, stop := New(), make(chan struct{}, 1), make(chan struct{})
		s.SendLater(func() ([]byte, error) { return nil, nil })
		s.SendLater(func() ([]byte, error) { return []byte("a"), nil })
		s.Send([]byte("b"), About{})
		var sent []string
		ended := make(chan error, 1)
		go func() {
			ended <- s.Write(stop, places, func(data []byte, _ bool) error { sent = append(sent, string(data)); return nil })
		}()
		synctest.Wait()
		close(stop)
		if err := <-ended; err != nil || len(sent) != 2 || sent[0] != "a" || sent[1] != "b" || len(places) != 0 {
			t.Errorf("%q are sent, %d places taken, %v", sent, len(places), err)
		}
	})
}
