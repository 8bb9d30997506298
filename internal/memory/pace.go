package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// What may lie in a paced heap besides what is in use, before it is collected: a share of that, so
// that a large heap is not walked for little, and slack, so that a small one is not either.
const (
	share = 10 // one part in so many
	slack = 8 << 20
)

// Pace keeps the process's memory near what is in use: after each collection it limits what the
// runtime may hold to what was found in use, a share of it and slack, besides what a collection
// cannot give back: stacks, the runtime's own, and the gaps between objects in use. What is above
// is collected, and spans that nothing uses go back to the system before others are taken. A limit
// that the process began with, such as GOMEMLIMIT, stays the most.
//
// It cannot thrash. The limit follows what is in use, and the runtime counts the gaps against it,
// as limitNow does: about a share and slack are made between two collections, however much is in
// use and however it is scattered.
func Pace() {
	pacing.Do(func() {
		most := debug.SetMemoryLimit(-1)
		collected(func() { debug.SetMemoryLimit(limitNow(most)) })
	})
}

var pacing sync.Once

// collected calls f now and after every collection, on a goroutine of the runtime.
func collected(f func()) {
	runtime.AddCleanup(&struct{ _ [64]byte }{}, collected, f) // an object of its own, which nothing uses
	f()
}

// limitNow returns the limit by what the last collection found, at most so much. The rest is what
// the runtime counts against a limit besides objects.
func limitNow(most int64) int64 {
	s := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	rest := s[1].Value.Uint64()
	for _, heap := range s[2:] {
		rest -= min(rest, heap.Value.Uint64())
	}
	return limit(s[0].Value.Uint64(), rest, most)
}

// limit returns what the runtime may hold where so much is in use, and the rest is not the heap's:
// at most so much.
func limit(used, rest uint64, most int64) int64 {
	return int64(min(used+used/share+slack+rest, uint64(most)))
}
