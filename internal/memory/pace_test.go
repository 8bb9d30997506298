package memory

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestLimit: at least slack and a share are free above what is in use, but for the limit that the
// process began with.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		used, rest uint64
		most, want int64
	}{
		{0, 0, math.MaxInt64, slack}, {0, 5, math.MaxInt64, slack + 5}, {100 << 20, 7, math.MaxInt64, 110<<20 + slack + 7},
		{math.MaxInt64, 0, math.MaxInt64, math.MaxInt64}, {100 << 20, 0, 50 << 20, 50 << 20},
	} {
		if got := limit(c.used, c.rest, c.most); got != c.want {
			t.Errorf("limit(%d, %d, %d) is %d, want %d", c.used, c.rest, c.most, got, c.want)
		}
	}
}

// TestCollected: every collection is told of, also those after the first, and the limit follows
// what is in use up and down.
func TestCollected(t *testing.T) {
	limits, done := make(chan int64), make(chan struct{})
	defer close(done)
	go collected(func() {
		select {
		case limits <- limitNow(math.MaxInt64):
		case <-done:
		}
	})
	<-limits // at its beginning
	// until reports whether a limit is told that holds. Some are of collections before.
	until := func(holds func(limit int64) bool) bool {
		for range 20 {
			runtime.GC()
			if holds(<-limits) {
				return true
			}
		}
		return false
	}
	const much = 64 << 20
	low := func(limit int64) bool { return limit < much }
	if !until(low) {
		t.Fatalf("the limit stays above %d bytes", much)
	}
	held := make([]byte, much)
	if !until(func(limit int64) bool { return limit > much+slack && limit < 2*much }) {
		t.Errorf("the limit is not near the %d bytes that are in use", much)
	}
	runtime.KeepAlive(held)
	if !until(low) {
		t.Errorf("the limit stays above %d bytes that are not in use any more", much)
	}
}

var made any

// TestLimitLeavesRoom: half of slack is made without a collection where gaps between the objects in
// use take as much as these, and ten times slack.
func TestLimitLeavesRoom(t *testing.T) {
	type object [64]byte
	keep := make([]*object, 20*slack/len(object{}))
	for i := range keep {
		keep[i] = new(object)
	}
	for i := 0; i < len(keep); i += 2 {
		keep[i] = nil
	}
	runtime.GC()
	runtime.GC() // what the first found is free now
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limitNow(math.MaxInt64)))
	unasked := func() uint32 {
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return s.NumGC - s.NumForcedGC
	}
	before := unasked()
	const size = 64 << 10
	for range slack / 2 / size {
		made = new([size]byte)
	}
	runtime.GC() // after one that is under way
	if n := unasked() - before; n != 0 {
		t.Errorf("%d collections, want none", n)
	}
	runtime.KeepAlive(keep)
}
