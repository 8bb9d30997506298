package memory

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestGiveBack: memory is given back within 10 s of the end of some work, once, and never during
// it or after a little.
func TestGiveBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		var allocated atomic.Uint64
		freed := 0
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			giveBack(ctx, func() { freed++ }, allocated.Load)
		}()
		for _, c := range []struct {
			name    string
			seconds int
			bytes   uint64 // a second
			want    int
		}{
			{"a start", 20, much / 20, 0}, {"a start's rest", 10, 0, 0}, {"work", 60, 8 << 20, 0}, {"its end", 10, 0, 1},
			{"idle", 3600, 10, 0}, {"little work", 3, 2 << 20, 0}, {"its end", 20, 0, 0}, {"short work", 1, 100 << 20, 0}, {"its end", 10, 0, 1},
		} {
			freed = 0
			for range c.seconds {
				time.Sleep(time.Second)
				allocated.Add(c.bytes)
			}
			synctest.Wait()
			if freed != c.want {
				t.Errorf("%s: memory is given back %d times, want %d", c.name, freed, c.want)
			}
		}
		end()
		<-ended
	})
}
