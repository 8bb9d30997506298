package responder

import (
	"covey/internal/chain"
	"covey/internal/study"
	"covey/internal/wire"
)

// results are the final results of a study, as this site holds them.
type results struct {
	s         *Responder
	recording *recording // the last one, until it is on disk
	latest    *recording // the last one that this process put on disk, and would read again
	told      *toldStep  // the last one's; nil until the chain was looked at with one
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

// write writes a query's final result, and erases its slot's secrets, on a goroutine of its
// own.
func (rs *results) write(r wire.Final, release study.Release) {
	final := wire.Final{Signature: r.Signature, Certificate: r.Certificate, Encoded: r.Encoded}
	w := &recording{query: r.Query, final: final, release: release, done: make(chan struct{}), erased: make(chan struct{})}
	rs.recording, rs.latest = w, nil
	rs.s.work.Go(func() {
		defer close(w.erased)
		err := rs.s.journal.FinalThenErase(r.Query, r.Slot, encodeFinal(r)...)
		w.err = err
		close(w.done)
		if err == nil {
			err = rs.s.journal.Erase()
		}
		if err != nil {
			rs.s.owner.Store(err)
		}
	})
}

// written waits for the result that is on its way to the disk.
func (rs *results) written() error {
	if rs.recording == nil {
		return nil
	}
	<-rs.recording.done
	return rs.recording.err
}

// erased waits for the erasure too.
func (rs *results) erased() error {
	if rs.recording == nil {
		return nil
	}
	<-rs.recording.erased
	err := rs.recording.err
	if err == nil {
		rs.latest = rs.recording
	}
	rs.recording = nil
	return err
}

// release returns a query's signed result, and the bytes that were signed: that which is on its way
// to the disk, or on record.
func (rs *results) release(query int) (release study.Release, encoded []byte, ok bool, err error) {
	for _, w := range []*recording{rs.recording, rs.latest} {
		if w != nil && w.query == query {
			return w.release, w.final.Encoded, true, nil
		}
	}
	held, ok := rs.final(query)
	if !ok {
		return release, nil, false, nil
	}
	release, err = study.ParseRelease(held.Encoded)
	return release, held.Encoded, err == nil, err
}

// final returns the result on record of a query. None is on its way to the disk while a
// result is looked at: handle has waited for it.
func (rs *results) final(query int) (wire.Final, bool) {
	if w := rs.latest; w != nil && w.query == query {
		return w.final, true
	}
	return Final(rs.s.journal, query)
}

// lastStep returns what the coordinator told this site of the study last: its last release, or else
// its proposal.
func (rs *results) lastStep() (chain.Step, error) {
	if w := rs.recording; w != nil {
		return chain.Released(rs.s.plan.Digest, w.final.Encoded), nil
	}
	last, ok := rs.s.journal.LatestFinal()
	if !ok {
		return chain.Proposed(rs.s.plan.Digest), nil
	}
	if own := rs.told; own != nil && own.query == last { // a result on record stays
		return own.step, nil
	}
	held, ok := rs.final(last)
	if !ok {
		return chain.Step{}, errStored
	}
	rs.told = &toldStep{last, chain.Released(rs.s.plan.Digest, held.Encoded)}
	return rs.told.step, nil
}

// toldStep is the step of a query's final result.
type toldStep struct {
	query int
	step  chain.Step
}
