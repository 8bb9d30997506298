package analysis

import (
	"bytes"
	"fmt"
	"time"

	"covey/internal/proposal"
)

// Federation is what a proposal has to fit.
type Federation struct {
	Coordinator proposal.Key                                // signs releases and results
	Site        func(name string) (identity proposal.Key)   // nil unless it has joined and is not revoked
	Analyst     func(name string) (identity proposal.Key)   // the same of an analyst
	Units       func(dataset, site string) (n int, ok bool) // as analysts were told
}

// Fits returns a [*Refusal], or a [*proposal.FieldError] of its expiry, for an analyst's proposal
// that was not made for this federation as it is: everything in it that is not the analyst's to
// choose is what the coordinator offers.
func (f Federation) Fits(p *proposal.Proposal, by proposal.Party, now time.Time) error {
	refuse := func(format string, args ...any) error { return &Refusal{Reason: fmt.Sprintf(format, args...)} }
	switch {
	case p.Proposer == nil:
		return refuse("proposer: an analyst's proposal names the analyst")
	case !p.Proposer.Same(by):
		return refuse("proposer: is not who sends it, by name and identity key")
	case !bytes.Equal(p.Coordinator, f.Coordinator):
		return refuse("coordinator: is not the key of this federation")
	case p.Spec.Expires == "":
		return refuse("expires: an analyst's proposal has one")
	}
	if _, err := p.Spec.Dated(now); err != nil {
		return err
	}
	for _, m := range p.Roster {
		if key := f.Site(m.Name); key == nil || !bytes.Equal(key, m.Identity) {
			return refuse("roster: no site %.80q has this identity key", m.Name)
		}
		if n, ok := f.Units(p.Spec.Dataset, m.Name); !ok || n != m.Units {
			return refuse("roster: site %.80q was not offered with this many units of this data set; ask for the offer again", m.Name)
		}
	}
	for _, r := range p.Readers {
		if key := f.Analyst(r.Name); key == nil || !bytes.Equal(key, r.Identity) {
			return refuse("readers: no analyst %.80q has this identity key", r.Name)
		}
	}
	return nil
}
