package memory

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A process is idle that allocates less than little between two looks, and has memory to give back
// where it allocated more than much since it last did.
const (
	look   = 4 * time.Second
	little = 4 << 20
	much   = 16 << 20
)

// GiveBack returns to the system what the heap no longer uses, at most 10 s after the process fell
// idle, until ctx ends.
func GiveBack(ctx context.Context) {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	giveBack(ctx, debug.FreeOSMemory, func() uint64 {
		metrics.Read(allocated)
		return allocated[0].Value.Uint64()
	})
}

func giveBack(ctx context.Context, free func(), allocated func() uint64) {
	t := time.NewTicker(look)
	defer t.Stop()
	for given, last := uint64(0), allocated(); ; {
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
		now := allocated()
		if now-last < little && now-given > much {
			free()
			given = now
		}
		last = now
	}
}
