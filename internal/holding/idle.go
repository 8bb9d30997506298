package holding

import (
	"time"

	"covey/internal/rowcache"
)

// idleAfter is how long after the end of some work memory is given back. A query's successor most
// often comes sooner.
const idleAfter = 5 * time.Second

// Worked reports that some work on rows ended. Unused memory is given back to the system idleAfter
// later, once for all work that ends until then. Pages of mapped rows that nobody reads at that
// time go too, and come back from the system's file cache as they are read.
func (s *Stock) Worked() {
	if s.free == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.waiting {
		s.waiting = true
		time.AfterFunc(idleAfter, s.rest)
	}
}

// converted gives back what a conversion took, before the pages of its rows come on top of it. A
// reader's buffers lie in pools, which let go of them at the second collection.
func (s *Stock) converted() {
	if s.free != nil {
		s.free()
		s.free()
	}
}

// rest lets the system take idle memory back.
func (s *Stock) rest() {
	s.mu.Lock()
	s.waiting = false
	for stored, readers := range s.mapped {
		if readers == 0 {
			stored.Rest()
		}
	}
	s.mu.Unlock()
	s.free()
}

// reading reports that mapped rows are read from now on, until done is called.
func (s *Stock) reading(stored *rowcache.Stored) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mapped[stored]++
	return func() {
		s.mu.Lock()
		s.mapped[stored]--
		s.mu.Unlock()
		s.Worked()
	}
}

// closing reports that mapped rows are about to be closed.
func (s *Stock) closing(stored *rowcache.Stored) {
	s.mu.Lock()
	delete(s.mapped, stored)
	s.mu.Unlock()
	s.Worked()
}
