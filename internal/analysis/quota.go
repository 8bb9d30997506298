package analysis

import (
	"bytes"
	"fmt"
	"time"

	"covey/internal/proposal"
)

// How many proposals an analyst may have.
const (
	MaxOpen = 5  // that are not over
	MaxDay  = 20 // on one day in UTC
)

// Refusal is why a proposal is not taken. Quota reports whether it could be at another time.
type Refusal struct {
	Quota  bool
	Reason string
}

func (e *Refusal) Error() string { return e.Reason }

// Earlier is a study that was proposed before.
type Earlier struct {
	Proposal *proposal.Proposal
	Proposed time.Time
	Over     bool
}

// Allowed returns a [*Refusal] for an analyst's proposal at a time that the ones before leave no
// room for. Proposals without a proposer are always allowed. An analyst is counted by name, which
// is one party's: another key under it is the same quota's.
func Allowed(p *proposal.Proposal, at time.Time, before func(yield func(Earlier) bool)) error {
	if p.Proposer == nil {
		return nil
	}
	open, day, again, nonce := 0, 0, false, false
	before(func(e Earlier) bool {
		nonce = nonce || bytes.Equal(e.Proposal.Nonce, p.Nonce)
		by := e.Proposal.Proposer
		if by == nil || by.Name != p.Proposer.Name {
			return true
		}
		if dayOf(e.Proposed) == dayOf(at) {
			day++
		}
		if !e.Over {
			open++
			again = again || e.Proposal.Spec.Name == p.Spec.Name && e.Proposal.Spec.Dataset == p.Spec.Dataset
		}
		return true
	})
	switch {
	case nonce:
		return &Refusal{Reason: "nonce: another proposal has it"}
	case again:
		return &Refusal{true, "a study of this name on this data set is open: withdraw it, or wait until it is over"}
	case open >= MaxOpen:
		return &Refusal{true, fmt.Sprintf("%d proposals are open, and an analyst has at most %d", open, MaxOpen)}
	case day >= MaxDay:
		return &Refusal{true, fmt.Sprintf("%d proposals were made today (UTC), and an analyst makes at most %d a day", day, MaxDay)}
	}
	return nil
}
