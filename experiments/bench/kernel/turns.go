package main

import (
	"math"
	"runtime"
	"slices"
	"time"
)

// contestant is one thing to be timed, on so many cores.
type contestant struct {
	name    string
	workers int
	run     func() error
}

// times is a contestant's seconds, turn by turn: under its name a core's time, or the clock's where it has several, and under clock(name) always the clock's.
// A core's time does not count what other programs took of it meanwhile.
type times map[string][]float64

func clock(name string) string { return name + " by the clock" }

// turns runs all contestants in order, repeat times, after one turn that is not counted.
func turns(all []contestant, repeat int) (times, error) {
	spent := times{}
	runtime.GC()
	for turn := range repeat + 1 {
		for _, c := range all {
			start, busy := time.Now(), cpu()
			if err := c.run(); err != nil {
				return nil, err
			}
			took := time.Since(start)
			busy = cpu() - busy
			if turn == 0 {
				continue
			}
			if c.workers > 1 || busy == 0 {
				busy = took
			}
			spent[c.name] = append(spent[c.name], busy.Seconds())
			spent[clock(c.name)] = append(spent[clock(c.name)], took.Seconds())
		}
	}
	return spent, nil
}

// ratio is the median over turns of a's time over b's, or 0/0 where one of them did not run: how many times as fast b is.
func (t times) ratio(a, b string) float64 {
	var parts []float64
	for i := range min(len(t[a]), len(t[b])) {
		parts = append(parts, t[a][i]/t[b][i])
	}
	return median(parts)
}

// best is ratio for each one's fastest turn by the clock, of which other programs took the least: what two cores do cannot be told where they are not both free.
func (t times) best(a, b string) float64 {
	a, b = clock(a), clock(b)
	if len(t[a]) == 0 || len(t[b]) == 0 {
		return math.NaN()
	}
	return slices.Min(t[a]) / slices.Min(t[b])
}

// fastest is the name with the least median.
func (t times) fastest(names ...string) string {
	best := names[0]
	for _, n := range names[1:] {
		if median(t[n]) < median(t[best]) {
			best = n
		}
	}
	return best
}
