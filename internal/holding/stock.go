package holding

import (
	"encoding/hex"
	"sync"
	"time"

	"covey/internal/dataset"
	"covey/internal/rowcache"
	"covey/internal/siteconfig"
)

// Stock remembers what data sets looked like when they were read, for as long as this process
// lives, and gives memory back that is idle. It is safe for use by several goroutines.
type Stock struct {
	free func() // gives what the heap no longer uses back to the system; nil: nothing is given back

	mu      sync.Mutex
	waiting bool                     // rest is due
	mapped  map[*rowcache.Stored]int // rows that are open, and how many read them
	units   map[source]counted
	looks   map[string]look // by all that a data set's configuration says
}

// NewStock returns a Stock of nothing. free is for what is idle: debug.FreeOSMemory of a process
// that is an agent, nil elsewhere.
func NewStock(free func()) *Stock {
	return &Stock{free: free, mapped: map[*rowcache.Stored]int{}, units: map[source]counted{}, looks: map[string]look{}}
}

// Forget makes Count read every data set again: a query may be another. What is being counted goes
// into the map that is forgotten.
func (s *Stock) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.units = map[source]counted{}
}

// look is a data set as it was when its rows were read.
type look struct {
	stamp dataset.Stamp // of files
	pin   [32]byte
	at    time.Time
}

// Seen names a data set in all its words.
func Seen(d siteconfig.Dataset) string { return hex.EncodeToString(d.Record()) }

func (s *Stock) looked(d siteconfig.Dataset, l look) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks[Seen(d)] = l
}

// counted is how many units a file had when it had this stamp, or a query's answer at a time.
type counted struct {
	stamp dataset.Stamp
	at    time.Time
	units int
}

// AskAgain is for how long a query's count stands: links may come and go.
const AskAgain = time.Minute

// source is what units are counted of: a file or a query, the column that says which rows are one
// unit, and how it is read.
type source struct {
	path, unit string
	form       [32]byte
}

// Count returns a data set's units, and reads its file only if it looks changed. now is the site's
// clock.
func (s *Stock) Count(at dataset.Source, d siteconfig.Dataset, clock func() time.Time) (int, error) {
	of, now := source{at.Path, d.Unit, d.Pin([32]byte{})}, counted{}
	if at.Query != nil {
		of.path, now.at = "query "+d.Name, clock()
	} else {
		var err error
		if now.stamp, err = at.Stamp(); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	units := s.units
	old, ok := units[of]
	s.mu.Unlock()
	same := old.stamp.Same(now.stamp)
	if at.Query != nil {
		age := now.at.Sub(old.at)
		same = age >= 0 && age < AskAgain
	}
	if ok && same {
		return old.units, nil
	}
	begun := time.Now()
	found, err := dataset.Inspect(at, d.Unit, dataset.ReadOptions{})
	if err != nil {
		return 0, err
	}
	s.looked(d, look{now.stamp, d.Pin(found.SHA256), begun})
	s.mu.Lock()
	defer s.mu.Unlock()
	now.units = found.Units
	units[of] = now
	return found.Units, nil
}
