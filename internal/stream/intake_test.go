package stream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLargeMessagesWaitForAPlace: a message of many frames takes a place with its first frame and
// gives it back at its end; the next one waits for it, and one that stalls loses its link and its
// place.
func TestLargeMessagesWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := make(chan struct{}, 1)
		first, second := New(), New()
		one, two := NewIntake(places, first), NewIntake(places, second)
		if err := two.Frame(t.Context(), true); err != nil || len(places) != 0 {
			t.Fatal("a message of one frame needs a place")
		}
		if err := one.Frame(t.Context(), false); err != nil || len(places) != 1 {
			t.Fatal("no place for the first")
		}
		waited := make(chan error, 1)
		go func() { waited <- two.Frame(t.Context(), false) }()
		synctest.Wait()
		select {
		case <-waited:
			t.Fatal("two messages in one place")
		default:
		}
		// A frame now and then keeps the place; none for too long ends the link.
		for range 3 {
			time.Sleep(StalledAfter - time.Second)
			if err := one.Frame(t.Context(), false); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case <-first.done:
			t.Fatal("cut off while it sent")
		default:
		}
		time.Sleep(StalledAfter + time.Second)
		<-first.done
		if !errors.Is(first.why, errStalled) {
			t.Fatal(first.why)
		}
		one.Release()
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		if err := two.Frame(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * StalledAfter) // worked off, however long that takes
		two.Release()
		select {
		case <-second.done:
			t.Fatal("cut off after its end")
		default:
		}
		if len(places) != 0 {
			t.Fatal("a place was lost")
		}
		ended, cancel := context.WithCancel(t.Context())
		places <- struct{}{}
		go func() { waited <- two.Frame(ended, false) }()
		synctest.Wait()
		cancel()
		if err := <-waited; err == nil {
			t.Fatal("waited on after the stream's end")
		}
	})
}
