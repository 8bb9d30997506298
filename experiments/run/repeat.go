package run

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Sample is one measured number over repetitions.
type Sample []float64

// Mean returns the arithmetic mean.
func (s Sample) Mean() float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

// Quantile interpolates between order statistics.
func (s Sample) Quantile(q float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

// Band returns the median between the 10% and the 90% quantile.
func (s Sample) Band() string {
	return fmt.Sprintf("%.4f [%.4f, %.4f]", s.Quantile(0.5), s.Quantile(0.1), s.Quantile(0.9))
}

// Repeat measures seeds 0..times-1 side by side, one to a processor, and returns a Sample
// for each of the numbers that measure returns, seeds in order.
func Repeat(times int, measure func(seed uint64) ([]float64, error)) ([]Sample, error) {
	all := make([][]float64, times)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range times {
		g.Go(func() (err error) {
			all[i], err = measure(uint64(i))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]Sample, len(all[0]))
	for _, row := range all {
		for j, v := range row {
			out[j] = append(out[j], v)
		}
	}
	return out, nil
}

// Progress counts cells on a terminal's line.
type Progress struct {
	mu   sync.Mutex
	w    io.Writer
	done int
	all  int
}

// NewProgress counts to all on w.
func NewProgress(w io.Writer, all int) *Progress { return &Progress{w: w, all: all} }

// Step counts one more cell as done.
func (p *Progress) Step(label string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	fmt.Fprintf(p.w, "\r\033[K%d of %d: %s", p.done, p.all, label)
	if p.done == p.all {
		fmt.Fprint(p.w, "\r\033[K")
	}
}
