package main

import (
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// cpu is the processor time that this process has used, in both modes and on all threads.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // of constants
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// onCPU gives what work costs this process, the collection of its garbage left out unless it falls within.
func onCPU(work func() error) (time.Duration, error) {
	start := cpu()
	err := work()
	return cpu() - start, err
}

// settle collects garbage, so that one contestant's is not collected in another's time.
func settle() { runtime.GC() }

// times are measurements of one thing.
type times []time.Duration

func (t times) median() time.Duration {
	if len(t) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(t))
	if len(s)%2 == 1 {
		return s[len(s)/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}

// ms is the median in milliseconds, seconds in seconds.
func (t times) ms() float64      { return ms(t.median()) }
func (t times) seconds() float64 { return t.median().Seconds() }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	switch n := len(s); {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return s[n/2]
	default:
		return (s[n/2-1] + s[n/2]) / 2
	}
}

// slope is the least-squares slope of log y over log x: the exponent of the power law that fits best.
func slope(x, y []float64) float64 {
	var mx, my float64
	for i := range x {
		mx += math.Log(x[i]) / float64(len(x))
		my += math.Log(y[i]) / float64(len(x))
	}
	var xy, xx float64
	for i := range x {
		xy += (math.Log(x[i]) - mx) * (math.Log(y[i]) - my)
		xx += (math.Log(x[i]) - mx) * (math.Log(x[i]) - mx)
	}
	return xy / xx
}
