package coordinator

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleepFraction sleeps for what d has beyond whole milliseconds. On Linux a process that has
// nothing else to do waits for timers in whole milliseconds, rounded up: a tick of 1.3 ms would
// take 2.
func sleepFraction(d time.Duration) {
	left := unix.NsecToTimespec(int64(d % time.Millisecond))
	for unix.Nanosleep(&left, &left) == unix.EINTR { // such as by the garbage collector's signals
	}
}
