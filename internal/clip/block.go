package clip

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spanBlocks is how many neighbouring blocks a worker claims at once: long enough for the hardware to read ahead.
const spanBlocks = 32

// sum calls body once for each block of about blockBytes of rows and returns the lane-wise sum, modulo 2^64, of what the calls added to
// acc (lanes long). body gets the block's rows and norms and a scratch s as long as norms; a worker's acc and scratch are its own, so
// body needs no lock. Blocks are claimed as workers get to them: the sum is the same because integer addition commutes.
func (m *Matrix) sum(lanes, blockBytes, workers int, body func(acc []uint64, s, rows, norms []float64)) []uint64 {
	// A multiple of four rows where the block has room, and never fewer than four: the kernels take four at a time.
	height := max(4, blockBytes/(8*m.d)&^3)
	n := m.N()
	height = max(1, min(height, n))
	blocks := (n + height - 1) / height
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, blocks))
	span := max(1, min(spanBlocks, blocks/(4*workers)))

	total := make([]uint64, lanes)
	var mu sync.Mutex // guards total
	var next atomic.Int64
	work := func() {
		acc := make([]uint64, lanes, lanes+8) // a cache line more than needed, so that no two workers share one
		scratch := make([]float64, height)
		for {
			first := (int(next.Add(1)) - 1) * span
			if first >= blocks {
				break
			}
			for lo := first * height; lo < min((first+span)*height, n); lo += height {
				hi := min(lo+height, n)
				body(acc, scratch[:hi-lo], m.values[lo*m.d:hi*m.d], m.norms[lo:hi])
			}
		}
		mu.Lock()
		defer mu.Unlock()
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
