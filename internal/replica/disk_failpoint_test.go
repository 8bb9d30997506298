//go:build failpoint

package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"covey/internal/failpoint"
)

// TestO5DiskFails: each of the first writes of a node, at its start and under load, fails
// once with EIO, before it is made and after. The node must say what failed and take
// nothing more, and whatever was acknowledged must be there when it is opened again.
func TestO5DiskFails(t *testing.T) {
	defer failpoint.Set(nil)
	ctx := context.Background()
	for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
		reached := true
		for n := 0; reached && n < 60; n++ {
			dir, seen := t.TempDir(), 0
			reached = false
			failpoint.Set(func(e failpoint.Event) error {
				if e.Phase != phase || e.Owner != dir {
					return nil
				}
				if seen++; seen == n+1 {
					reached = true
					return syscall.EIO
				}
				return nil
			})
			var acked []string
			node, err := Open(dir, &list{}, Options{SnapshotThreshold: 8})
			for i := 0; err == nil && i < 20; i++ {
				entry := fmt.Sprint("entry ", i)
				if _, err = node.Apply(ctx, []byte(entry)); err == nil {
					acked = append(acked, entry)
				}
				if i%7 == 6 && err == nil {
					err = node.Snapshot()
				}
			}
			if reached {
				failed, ok := errors.AsType[*StoreError](err)
				if !ok || !strings.Contains(failed.Error(), "input/output error") || !strings.HasPrefix(failed.Error(), "replica: the store failed while it ") {
					t.Fatalf("%s write %d: %v", phase, n, err)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			if node != nil {
				if reached {
					if _, err := node.Apply(ctx, []byte("late")); err == nil {
						t.Errorf("%s write %d: an entry was taken after the failure", phase, n)
					}
					if got := <-node.Failed(); got == nil {
						t.Error("nothing was delivered to the process")
					}
				}
				node.Close()
			}
			failpoint.Set(nil)
			m := &list{}
			again, err := Open(dir, m, Options{})
			if err != nil {
				t.Fatalf("%s write %d: opened again: %v", phase, n, err)
			}
			for _, entry := range acked {
				if !slices.Contains(m.entries, entry) {
					t.Errorf("%s write %d: acknowledged %q is lost", phase, n, entry)
				}
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFailedStartClosesTheStream: a node whose store fails while it starts leaves neither
// an open Stream nor a goroutine, which would keep the bubble from ending. (Found by the
// simulation: a coordinator killed at its first vote kept on listening.)
func TestFailedStartClosesTheStream(t *testing.T) {
	defer failpoint.Set(nil)
	for n := range 4 {
		synctest.Test(t, func(t *testing.T) {
			seen := 0
			failpoint.Set(func(e failpoint.Event) error {
				if seen++; seen == n+1 {
					return syscall.EIO
				}
				return nil
			})
			stream := &idle{done: make(chan struct{})}
			node, err := Open(t.TempDir(), &list{}, Options{Stream: stream, Address: "one:1"})
			if err == nil {
				node.Close()
			} else if _, ok := errors.AsType[*StoreError](err); !ok {
				t.Errorf("write %d: %v", n, err)
			}
			select {
			case <-stream.done:
			default:
				t.Errorf("write %d: the stream is open", n)
			}
		})
	}
}
