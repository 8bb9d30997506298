package network

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
)

// TestClosedListenerResets: a connection that nobody has accepted ends with its listener, as on a
// real network. Otherwise its near end would wait for nothing until a deadline.
func TestClosedListenerResets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := NewFaulty(rand.New(rand.NewPCG(1, 1)))
		defer n.Wait()
		defer n.Close()
		l, err := n.Listen("far:1")
		if err != nil {
			t.Fatal(err)
		}
		c, err := n.Dial(t.Context(), "near", "far:1")
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(make([]byte, 1)); err != errReset {
			t.Errorf("%v, want %v", err, errReset)
		}
		if _, err := n.Dial(t.Context(), "near", "far:1"); err != errRefused {
			t.Errorf("a call later: %v, want %v", err, errRefused)
		}
	})
}
