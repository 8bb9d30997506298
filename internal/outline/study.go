package outline

import (
	"time"

	"covey/internal/analysis"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
)

// Study is one as a coordinator has it: in memory while it is under way, on the shelf after.
type Study struct {
	Digest proposal.Digest
	State  *round.State // nil of one that is over
	Closed *Closed      // nil of one under way
}

// Proposal returns the study's proposal; once the study is over, without its columns.
func (s Study) Proposal() *proposal.Proposal {
	if s.State != nil {
		return &s.State.Plan().Proposal
	}
	return &s.Closed.Proposal
}

// Terminal reports whether the study is over.
func (s Study) Terminal() bool { return s.State == nil || s.State.Terminal() }

// Status returns the study's status.
func (s Study) Status() round.Status {
	if s.State != nil {
		return s.State.Status
	}
	return s.Closed.View.Status
}

// Releases returns how many there are.
func (s Study) Releases() int {
	if s.State != nil {
		return len(s.State.Releases)
	}
	return s.Closed.View.Released
}

// Site returns a site's roster index, or -1.
func (s Study) Site(name string) int {
	if s.State != nil {
		return s.State.Plan().Proposal.Site(name)
	}
	return s.Closed.Site(name)
}

// Limit bounds a site's messages about the study.
func (s Study) Limit() int {
	if s.State != nil {
		return wire.LargestOfSite(s.State.Plan())
	}
	return s.Closed.Limit
}

// ForAnalysts returns the study as analysis.Tell takes it.
func (s Study) ForAnalysts(at Dates, words map[int]Word) analysis.Study {
	out := analysis.Study{Digest: s.Digest, Proposal: s.Proposal(), Status: s.Status(), Done: s.Releases(), Proposed: at.Proposed, Ended: at.Ended}
	if c := s.Closed; c != nil {
		out.Code, out.Words, out.Queries = c.View.Code, c.Words, c.View.Queries
		return out
	}
	p := s.State.Plan()
	out.Code, out.Words, out.Queries = s.State.Code, wordsOf(p, words), out.Done+p.Queries.Left(s.State.Query)
	out.Waiting, out.Overdue = s.State.WaitingFor(), s.State.Overdue()
	return out
}

// Dates are when a study was proposed and when it was over, with a result or without: the journal
// forgets. A time is zero where there is none yet.
type Dates struct {
	Proposed time.Time `json:"proposed,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`
}

// After returns what an entry leaves of the dates: what was noted first stays.
func (d Dates) After(e round.Entry, at time.Time, over bool) Dates {
	if e.Kind == round.EntryProposed && d.Proposed.IsZero() {
		d.Proposed = at
	}
	if over && d.Ended.IsZero() {
		d.Ended = at
	}
	return d
}
