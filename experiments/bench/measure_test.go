package bench

import (
	"testing"
	"time"
)

// TestSettle: a process at rest is found so, and none is waited for beyond the limit.
func TestSettle(t *testing.T) {
	if err := settle(time.Minute); err != nil {
		t.Error(err)
	}
	if settle(0) == nil {
		t.Error("it waits beyond its limit")
	}
}
