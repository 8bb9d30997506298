package replica

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestBurstIsSaved: many entries, or few long ones, are in a snapshot soon, not when raft looks the
// next time: a start has little to apply. Few entries after a snapshot make no other.
func TestBurstIsSaved(t *testing.T) {
	for what, entries := range map[string][]string{
		"many": numbered(0, 100),
		"long": {strings.Repeat("a", 20*heavy), strings.Repeat("b", 20*heavy)},
	} {
		synctest.Test(t, func(t *testing.T) {
			on := memory()
			n, err := open(&list{}, Options{SnapshotThreshold: 4}, on)
			must(t, err)
			apply(t, n, entries...)
			time.Sleep(5 * time.Second)
			if end, err := on.logs.LastIndex(); err != nil || end-newest(t, on) >= 4*burst || newest(t, on) == 0 {
				t.Errorf("%s: the last snapshot is of entry %d of %d, %v", what, newest(t, on), end, err)
			}
			must(t, n.Snapshot())
			apply(t, n, "one more")
			time.Sleep(5 * time.Second)
			must(t, n.Close())
			m := &list{}
			n, err = open(m, Options{}, on)
			must(t, err)
			if got := m.all(); !slices.Equal(got, append(entries, "one more")) || m.restored != 1 || m.applied != 1 {
				t.Errorf("%s: %d entries, %d of them applied after %d snapshots", what, len(got), m.applied, m.restored)
			}
			must(t, n.Close())
		})
	}
}

// newest returns the index of the newest snapshot, or 0.
func newest(t *testing.T, on stores) uint64 {
	all, err := on.snaps.List()
	must(t, err)
	if len(all) == 0 {
		return 0
	}
	return all[0].Index
}

// TestBurstsLeaveTime: however many entries come, the snapshots of bursts take at most a tenth of
// the time, and those that come meanwhile are in the next one.
func TestBurstsLeaveTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := memory()
		m := &list{hold: make(chan struct{})}
		n, err := open(m, Options{SnapshotThreshold: 100}, on) // too few entries for raft's own
		must(t, err)
		flood := func() { apply(t, n, strings.Repeat("a", burst*100*heavy)) }
		flood()
		synctest.Wait() // it is being written now
		flood()
		time.Sleep(time.Minute)
		close(m.hold)
		synctest.Wait()
		first := newest(t, on)
		if first == 0 {
			t.Fatal("there is no snapshot")
		}
		time.Sleep(9 * time.Minute)
		flood()
		synctest.Wait()
		if newest(t, on) != first {
			t.Error("the next snapshot began too soon")
		}
		time.Sleep(2 * time.Minute)
		if end, err := on.logs.LastIndex(); err != nil || newest(t, on) != end {
			t.Errorf("the last snapshot is of entry %d of %d, %v", newest(t, on), end, err)
		}
		must(t, n.Close())
	})
}
