package bench

import (
	"fmt"
	"syscall"
	"time"
)

// cpu returns the processor time that this process has used, in both modes and on all threads.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // of constants
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// settle waits until this process does nothing: a site lets go of its rows once it has signed the
// result, or hears of the study's end, which takes a processor and belongs to no later study. On a
// busy machine what has work to do may get no processor for a while, so that quiet is a quarter of
// a second. It waits no longer than most.
func settle(most time.Duration) error {
	quiet := 0
	for began, last := time.Now(), cpu(); time.Since(began) < most; {
		time.Sleep(50 * time.Millisecond)
		now := cpu()
		if quiet++; now-last > 2*time.Millisecond {
			quiet = 0
		}
		if quiet == 5 {
			return nil
		}
		last = now
	}
	return fmt.Errorf("this process is still busy after %v: what follows cannot be measured by itself", most)
}

// onCPU returns what work costs this process, with the collection of garbage that falls within.
func onCPU(work func() error) (time.Duration, error) {
	start := cpu()
	err := work()
	return cpu() - start, err
}

// part is one measured piece of work.
type part struct {
	name string
	work func() error
}

// times is the processor time of parts by name, summed over runs.
type times map[string]time.Duration

// run does all parts in order and adds their processor time up.
func (t times) run(parts []part) error {
	for _, p := range parts {
		took, err := onCPU(p.work)
		if err != nil {
			return err
		}
		t[p.name] += took
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
