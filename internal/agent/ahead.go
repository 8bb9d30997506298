package agent

import (
	"reflect"

	"covey/internal/study"
	"covey/internal/wire"
)

// adding is a sum over this site's rows, made on a goroutine of its own while the ledger is
// written. It is as private as the rows, lives in memory alone and is used once.
type adding struct {
	ask  study.Ask
	done chan struct{} // closed when what follows is set
	sum  []int64
	err  error
}

// add begins the sum that a query asks for. Called with mu held and the rows loaded, by whom calls
// abandonSum before mu is given up: until then the rows are the goroutine's.
func (s *session) add(ask study.Ask) {
	a := &adding{ask: ask, done: make(chan struct{})}
	s.adding = a
	s.agent.work.Go(func() {
		defer close(a.done)
		a.sum, a.err = s.rows.Answer(s.plan, ask)
	})
}

// abandonSum waits for a sum that nobody took.
func (s *session) abandonSum() {
	if a := s.adding; a != nil {
		s.adding = nil
		<-a.done
		clear(a.sum)
	}
}

// added returns the sum that a query asks for.
func (s *session) added(ask study.Ask) ([]int64, error) {
	a := s.adding
	s.adding = nil
	if a == nil {
		return s.rows.Answer(s.plan, ask)
	}
	<-a.done
	if !reflect.DeepEqual(a.ask, ask) {
		return s.rows.Answer(s.plan, ask)
	}
	return a.sum, a.err
}

// recording is a final result on its way to the disk, and the erasure of its slot. Until the result
// is there the next query's sum may be made, and nothing else: a crash loses the result, the
// coordinator sends it again, and nothing of a later query has left. The erasure is waited for by
// whatever comes after that query's upload.
type recording struct {
	query   int
	final   wire.Final    // what is written
	release study.Release // which it encodes
	done    chan struct{} // closed when err is set
	err     error         // of the ledger
	erased  chan struct{}
}

// record writes a query's final result, and erases its slot's secrets, on a goroutine of its
// own. Called with mu held.
func (s *session) record(r wire.Final, release study.Release) {
	final := wire.Final{Signature: r.Signature, Certificate: r.Certificate, Encoded: r.Encoded}
	w := &recording{query: r.Query, final: final, release: release, done: make(chan struct{}), erased: make(chan struct{})}
	s.recording = w
	s.agent.work.Go(func() {
		defer close(w.erased)
		err := s.journal.FinalThenErase(r.Query, r.Slot, encodeFinal(r))
		w.err = err
		close(w.done)
		if err == nil {
			err = s.journal.Erase()
		}
		if err != nil {
			s.store(err)
		}
	})
}

// recorded waits for the result that is on its way to the disk.
func (s *session) recorded() error {
	if s.recording == nil {
		return nil
	}
	<-s.recording.done
	return s.recording.err
}

// erased waits for the erasure too.
func (s *session) erased() error {
	if s.recording == nil {
		return nil
	}
	<-s.recording.erased
	err := s.recording.err
	if err == nil {
		s.latest = s.recording
	}
	s.recording = nil
	return err
}
