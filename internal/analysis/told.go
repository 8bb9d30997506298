package analysis

import (
	"slices"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

const (
	// Tick is what times are rounded to, and how often what is told of a study changes.
	Tick = 10 * time.Second
	// verdictTick is the same of verdicts.
	verdictTick = time.Minute
)

// Word is a site's decision; it is zero for a site that has not decided.
type Word struct {
	Verdict study.Verdict
	Code    study.Code
	At      time.Time // when it was committed
}

// Study is a study as the coordinator knows it.
type Study struct {
	Digest   proposal.Digest
	Proposal *proposal.Proposal
	Status   round.Status
	Code     study.Code
	Words    []Word // by roster index
	Waiting  []int  // roster indices
	Overdue  bool   // a deadline of the open query has passed
	Done     int    // queries
	Queries  int
	Proposed time.Time
	Ended    time.Time
}

// faults are the codes of a rejection that an analyst may know: what they are about was found in a
// header or a configuration before a row was read.
var faults = []study.Code{study.CodeColumns, study.CodeUnit, study.CodeFormat}

// ends are the codes of a study's end that tell nothing of one site's rows, budget or ledger. What
// ends a study otherwise is "rejected" where a site has declined, and "aborted" elsewhere.
var ends = []study.Code{
	study.CodeCompleted, study.CodeAborted, study.CodeRetracted, study.CodeExpired, study.CodeBadSignature, study.CodeNoScale,
	study.CodeRejected, study.CodeColumns, study.CodeUnit, study.CodeFormat,
}

// Tell returns what analysts are told of a study at a time. A verdict shows from the first whole
// minute after it on, and so does all that follows from it: from a site's answer and the time when
// it shows nobody can tell whether a person or a policy decided.
func Tell(s Study, now time.Time) wire.Told {
	t := wire.Told{
		Study: s.Digest, Name: s.Proposal.Spec.Name, Phase: wire.Phase(s.Status), Done: s.Done, Queries: s.Queries,
		Proposed: s.Proposed.Truncate(Tick), Ended: s.Ended.Truncate(Tick), Expires: s.Proposal.Expires(),
	}
	if s.Proposal.Proposer != nil {
		t.Proposer = s.Proposal.Proposer.Name
	}
	hidden, declined := false, false
	for i, m := range s.Proposal.Roster {
		a := wire.Answer{Site: m.Name, Verdict: study.VerdictPending}
		w := s.Words[i]
		if shows := w.At.Truncate(verdictTick).Add(verdictTick); w.Verdict == "" || now.Before(shows) {
			hidden = hidden || w.Verdict != ""
		} else {
			a.Verdict = w.Verdict
			if w.Verdict == study.VerdictRejected {
				declined = true
				if slices.Contains(faults, w.Code) {
					a.Fault = w.Code
				}
				if t.Ended.Before(shows) {
					t.Ended = shows // with it, and not before it showed
				}
			}
		}
		t.Answers = append(t.Answers, a)
	}
	if s.Status == round.StatusSigning { // until the result is complete
		t.Phase = wire.PhaseRunning
	}
	if hidden {
		t.Phase = wire.PhaseProposed
	}
	over := t.Phase == wire.PhaseCompleted || t.Phase == wire.PhaseEnded
	switch {
	case !over:
		t.Ended = time.Time{}
	case slices.Contains(ends, s.Code):
		t.Code = s.Code
	case declined:
		t.Code = study.CodeRejected
	default:
		t.Code = study.CodeAborted
	}
	if t.Phase == wire.PhaseProposed {
		t.Done = 0
	}
	for i := range t.Answers {
		a := &t.Answers[i]
		switch t.Phase {
		case wire.PhaseProposed:
			a.Awaited = a.Verdict == study.VerdictPending
		case wire.PhaseSetup:
			a.Awaited = slices.Contains(s.Waiting, i)
		case wire.PhaseRunning:
			// before the deadline it would tell whose rows take longest
			a.Awaited = s.Overdue && slices.Contains(s.Waiting, i)
		}
	}
	return t
}
