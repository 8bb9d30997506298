package holding

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/dataset"
	"covey/internal/rowcache"
	"covey/test/cost"
)

// TestIdleIsGivenBack: within 10 s of the end of any work memory is given back, once for what ends
// together, also while work goes on; then nothing runs.
func TestIdleIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // the stock calls back on a goroutine of its own
		freed, start := []time.Duration(nil), time.Now()
		s := NewStock(func() {
			mu.Lock()
			defer mu.Unlock()
			freed = append(freed, time.Since(start))
		})
		so := func() []time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(freed)
		}
		for range 9 { // a query each 1.1 seconds
			s.Worked()
			time.Sleep(1100 * time.Millisecond)
		}
		time.Sleep(time.Hour)
		if got, want := fmt.Sprint(so()), "[5s 10.5s]"; got != want {
			t.Errorf("memory is given back after %s, want %s", got, want)
		}
		s.Worked()
		time.Sleep(10 * time.Second)
		if freed := so(); len(freed) != 3 {
			t.Errorf("work that ended 10 s ago left what it took: %v", freed)
		}
	})
	NewStock(nil).Worked()
}

// TestIdleRowsAreThere: pages that are given back are read again, those that are read stay, and
// rows that are closed are left alone.
func TestIdleRowsAreThere(t *testing.T) {
	cache, err := rowcache.Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	source := dataset.Source{Path: cost.File(t, "rows.csv", []byte("a\n1\n2\n"))}
	stored, err := cache.Load(source, dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Missing: dataset.MissingError}, "study-1", dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	freed := 0
	s := NewStock(func() { freed++ })
	done := s.reading(stored)
	s.rest()
	done()
	s.rest()
	if stored.Values[0] != 1 || stored.Values[1] != 2 || s.mapped[stored] != 0 {
		t.Errorf("rows are %v, with %d readers", stored.Values, s.mapped[stored])
	}
	s.closing(stored)
	if err := stored.Close(); err != nil {
		t.Fatal(err)
	}
	s.rest()
	if freed != 3 || len(s.mapped) != 0 {
		t.Errorf("memory was given back %d times, %d rows are open", freed, len(s.mapped))
	}
}

// TestConversionIsGivenBack: what it took to convert rows is given back before they are mapped in,
// and twice, or what lies in pools stays.
func TestConversionIsGivenBack(t *testing.T) {
	cache, err := rowcache.Open(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	freed := 0
	r := New(Options{Cache: cache, Stock: NewStock(func() { freed++ }), Log: slog.New(slog.DiscardHandler), Approved: func() (pin [32]byte, ok bool) { return pin, false }})
	source := dataset.Source{Path: cost.File(t, "rows.csv", []byte("a\n1\n2\n"))}
	_, stored, err := r.cached(source, dataset.Request{Columns: []dataset.Column{{Name: "a", Scale: 1}}, Missing: dataset.MissingError})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	if freed != 2 {
		t.Errorf("memory was given back %d times", freed)
	}
}
