//go:build !linux

package coordinator

import "time"

// sleepFraction is not needed where timers are finer than a millisecond.
func sleepFraction(time.Duration) {}
