package outline

import (
	"slices"
	"testing"
	"time"
)

// TestJournalIsBounded: the newest are kept.
func TestJournalIsBounded(t *testing.T) {
	var j Journal
	for i := range 3 * keptHappenings {
		j.Add(Happening{Slot: i})
	}
	if len(j) > keptHappenings || j[len(j)-1].Slot != 3*keptHappenings-1 {
		t.Errorf("%d kept, the last is %d", len(j), j[len(j)-1].Slot)
	}
}

// TestLatest: lines of the log stay in its order where the clock of the next leader is behind.
func TestLatest(t *testing.T) {
	noon := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	at := func(slot int, minutes time.Duration) Happening {
		return Happening{Slot: slot, At: noon.Add(minutes * time.Minute)}
	}
	log, seen := Journal{at(0, 0), at(1, 30), at(2, -20), at(3, -10)}, Journal{at(10, 10), at(11, 40)}
	for most, want := range map[int][]int{0: {}, 3: {11, 10, 3}, 9: {11, 10, 3, 2, 1, 0}} {
		got := []int{}
		for _, h := range Latest(log, seen, most) {
			got = append(got, h.Slot)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the last %d: %v, want %v", most, got, want)
		}
	}
	if len(log) != 4 || len(seen) != 2 {
		t.Error("the journals are changed")
	}
}
