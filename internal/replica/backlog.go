package replica

import (
	"sync/atomic"
	"time"
)

const (
	// heavy is how many bytes of an entry take about as long to apply again as an entry does.
	heavy = 8 << 10
	// share of the time that snapshots of bursts may take: one in so many.
	share = 10
	// apart is the least time from one of them to the next.
	apart = time.Second
)

// backlog is what a start would apply to the newest snapshot, or to the one that is being made.
// raft looks at it once in a while; many entries may come before.
type backlog struct {
	since atomic.Uint64 // entries, and one for each heavy bytes of them
	most  uint64
	due   chan struct{} // holds one
}

// add counts an entry. It waits for nothing.
func (b *backlog) add(bytes int) {
	if b.since.Add(1+uint64(bytes)/heavy) >= b.most {
		select {
		case b.due <- struct{}{}:
		default:
		}
	}
}

// compact makes a snapshot when the backlog is full. Where that takes long, with much state or on a
// slow disk, the backlog grows: entries come first. One that fails without ending the node leaves
// the log as it is, for the next.
func (n *Node) compact() {
	for {
		select {
		case <-n.backlog.due:
		case <-n.stopped:
			return
		}
		if n.backlog.since.Load() < n.backlog.most {
			continue // it was full before the latest snapshot
		}
		began := time.Now()
		n.Snapshot()
		select {
		case <-time.After(max(apart, share*time.Since(began))):
		case <-n.stopped:
			return
		}
	}
}
