package proposals

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"covey/internal/proposal"
)

// TestArrivals: R15. Twenty new proposals of a key are looked at in 24 hours of the site's clock,
// over restarts and with the clock put back; the same one again is none; other keys have their own
// twenty; the file is bounded.
func TestArrivals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "arrivals.json")
	open := func() *Arrivals {
		t.Helper()
		a, err := OpenArrivals(path)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := open()
	key := func(i byte) proposal.Key { return append(make(proposal.Key, 31), i) }
	id := func(i int) proposal.Digest { return proposal.Digest{byte(i), byte(i >> 8)} }
	check := func(when string, of byte, study int, now time.Time, want bool) {
		t.Helper()
		if ok, err := a.Take(key(of), id(study), now); ok != want || err != nil {
			t.Errorf("%s: %v, %v", when, ok, err)
		}
	}
	for i := range MaxDaily {
		check("one of the day's", 1, i, moment.Add(time.Duration(i)*time.Minute), true)
	}
	check("one more", 1, 100, moment.Add(time.Hour), false)
	check("an old one again", 1, 3, moment.Add(time.Hour), true)
	check("another key's", 2, 101, moment.Add(time.Hour), true)
	a = open()
	check("one more after a restart", 1, 100, moment.Add(time.Hour), false)
	check("with the clock put back", 1, 100, moment.Add(-100*day), false)
	check("just before the first is a day old", 1, 100, moment.Add(day-1), false)
	check("a day later", 1, 100, moment.Add(day), true)
	check("and one more", 1, 102, moment.Add(day), false)
	a.all = make([]arrival, maxArrivals)
	for i := range a.all {
		a.all[i] = arrival{Key: key(3), Study: id(5000 + i), Time: moment}
	}
	check("at the bound", 4, 9000, moment, true)
	if len(a.all) != maxArrivals || len(open().all) != maxArrivals {
		t.Errorf("%d arrivals are kept", len(a.all))
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	a = open()
	check("a damaged file", 1, 103, moment, true)
}

// TestArrivalsOfAClockAhead: R15. What came while the clock ran years ahead counts for one more day
// once the clock is right, over restarts, however often the key's owner tries; putting the clock
// back, and then to where it was, makes no room.
func TestArrivalsOfAClockAhead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "arrivals.json")
	study := 0
	take := func(when string, now time.Time, want bool) {
		t.Helper()
		a, err := OpenArrivals(path)
		if err != nil {
			t.Fatal(err)
		}
		study++
		if ok, err := a.Take(make(proposal.Key, 32), proposal.Digest{1, byte(study)}, now); ok != want || err != nil {
			t.Errorf("%s: %v, %v", when, ok, err)
		}
	}
	for range MaxDaily {
		take("one of the day's", moment.AddDate(70, 0, 0), true)
	}
	for hour := range 24 {
		take("the clock is right", moment.Add(time.Duration(hour)*time.Hour), false)
	}
	take("the clock is put back", moment.Add(-time.Hour), false)
	take("less than a day after the earliest", moment.Add(22*time.Hour), false)
	take("where the clock once was", moment.AddDate(70, 0, 0).Add(day-1), false)
	for range MaxDaily {
		take("a day later", moment.Add(23*time.Hour), true)
	}
	take("one more", moment.Add(23*time.Hour), false)
}

// FuzzArrivals: whatever the file holds, the agent starts, and takes no more of a key than may
// come.
func FuzzArrivals(f *testing.F) {
	f.Add([]byte(`[{"key":"00","study":"00","time":"2026-03-01T12:00:00Z"}]`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "arrivals.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := OpenArrivals(path)
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		for i := range MaxDaily + 1 {
			ok, err := a.Take(make(proposal.Key, 32), proposal.Digest{byte(i + 1)}, moment)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				taken++
			}
		}
		if taken > MaxDaily {
			t.Fatalf("%d are taken", taken)
		}
	})
}
