package clip

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spanBlocks is how many neighboring blocks a worker claims at once: long enough for the hardware
// to read ahead.
const spanBlocks = 64

// share cuts 0…n-1 into blocks of height and returns the lane-wise sum, modulo 2^64, of what the
// calls of body added to acc (lanes long). Each worker calls start once for a body of its own, with
// its own scratch, and has its own acc: body needs no lock. Blocks are claimed as workers get to
// them: the sum is the same because integer addition commutes.
func share(n, height, lanes, workers int, start func() (body func(acc []uint64, lo, hi int))) []uint64 {
	height = max(1, min(height, n))
	blocks := (n + height - 1) / height
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, blocks))
	span := max(1, min(spanBlocks, blocks/(4*workers)))

	var total []uint64
	var mu sync.Mutex // guards total
	var next atomic.Int64
	work := func() {
		// a cache line more than needed, so that no two workers share one
		acc := make([]uint64, lanes, lanes+8)
		body := start()
		for {
			first := (int(next.Add(1)) - 1) * span
			if first >= blocks {
				break
			}
			for lo := first * height; lo < min((first+span)*height, n); lo += height {
				body(acc, lo, min(lo+height, n))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if total == nil { // the first to finish gives its own away
			total = acc
			return
		}
		for j, v := range acc {
			total[j] += v
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return total
}

// height is how many rows make a block of about blockBytes: a multiple of four, as [blend] takes
// four at a time from a unit's first, and no more than needed for all.
func (m *Matrix) height(blockBytes int) int {
	return max(4, min(blockBytes/(8*m.d)&^3, (m.Rows()+3)&^3))
}

// fusedHeight is height for the fused paths, where a row's numbers do not depend on its block: a
// multiple of the eight rows that the kernels like to take at a time. Eight too long to stay in a
// first-level cache come from the second-level one, which costs less than to read and write the
// sums more often.
func (m *Matrix) fusedHeight(blockBytes int) int {
	return min(max(8, blockBytes/(8*m.d)&^7), max(1, m.Rows()))
}
