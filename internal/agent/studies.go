package agent

import (
	"slices"
	"time"

	"covey/internal/ledger"
	"covey/internal/noise"
	"covey/internal/proposal"
)

// StudyView is one study as listed.
type StudyView struct {
	Digest     proposal.Digest `json:"digest"`
	Name       string          `json:"name,omitempty"`
	State      string          `json:"state"` // pending, or the ledger's word
	Code       string          `json:"code,omitempty"`
	Population string          `json:"population,omitempty"`
	Rho        float64         `json:"rho,omitempty"`
	// gdp where every charge has the bridge, else zcdp
	Curve      string  `json:"curve,omitempty"`
	SpentRho   float64 `json:"spent_rho"`             // forfeited ρ included
	ForfeitRho float64 `json:"forfeit_rho,omitempty"` // counted as spent without a query
	Queries    int     `json:"queries"`               // charged
	// Proposer is the analyst who signed the proposal, with its key; nil of one that the
	// coordinator's operator made, and of one that is not kept.
	Proposer *proposal.Party `json:"proposer,omitempty"`
	By       string          `json:"by,omitempty"`
	Time     *time.Time      `json:"time,omitempty"`
	// Ended is when a study that was approved ended here; Why says in words how one came to be
	// over, for this site's operator.
	Ended *time.Time `json:"ended,omitempty"`
	Why   string     `json:"why,omitempty"`
	// Expires is when a study ends here by its expiry; not there once this site's first sum was
	// charged.
	Expires *time.Time `json:"expires,omitempty"`
}

// statePending is a proposal that awaits the operator.
const statePending = "pending"

// View is one study as listed.
func (vs *Views) View(id proposal.Digest) StudyView {
	v := vs.stands(id)
	switch v.State {
	case statePending, string(ledger.Approved):
		if s := vs.a.sessions.listed(id); s != nil {
			if at := s.expires(); !at.IsZero() {
				v.Expires = &at
			}
		}
	}
	return v
}

func (vs *Views) stands(id proposal.Digest) StudyView {
	before, over := vs.a.endings.past.Get(id)
	if e, ok := vs.a.ledger.Study(id); ok {
		v := StudyView{Digest: id, Name: e.Name, State: string(e.State), Code: e.Code, Population: e.Population,
			Rho: e.Rho, Curve: curveOf(e), SpentRho: e.SpentRho, ForfeitRho: e.ForfeitRho, Queries: e.Queries, Proposer: party(e.Proposer), By: e.By, Time: &e.Time}
		if over && e.State != ledger.Approved {
			v.Name, v.Why, v.Ended = before.Name, before.Why, &before.Time
			if v.Proposer == nil {
				v.Proposer = before.Proposer
			}
			if v.Population == "" { // never approved: the ledger has neither
				v.Population, v.Rho = before.Population, before.Rho
			}
		}
		return v
	}
	if over && !vs.a.pending.Has(id) {
		return StudyView{Digest: id, Name: before.Name, State: before.State, Code: string(before.Code), Population: before.Population,
			Rho: before.Rho, Proposer: before.Proposer, By: before.By, Time: &before.Time, Why: before.Why}
	}
	v := StudyView{Digest: id, State: statePending}
	if s := vs.a.sessions.listed(id); s != nil {
		v.Name, v.Population, v.Rho, v.Curve = s.asks.Spec.Name, s.population(), s.rho, string(s.curve)
		v.Proposer = s.asks.Proposer
	}
	return v
}

// curveOf is the curve of what a study charges or may: none of one that was never approved.
func curveOf(e ledger.StudyEntry) string {
	switch {
	case e.Rho == 0:
		return ""
	case e.GDP:
		return string(noise.GDP)
	}
	return string(noise.ZCDP)
}

// Studies lists every study that this site knows: those that await the operator
// first, then the others, those that ended or were decided last first.
func (vs *Views) Studies() ([]StudyView, error) {
	if err := vs.a.expiry.sweep(); err != nil {
		return nil, err
	}
	known, err := vs.known()
	if err != nil {
		return nil, err
	}
	out := make([]StudyView, 0, len(known))
	for _, id := range known {
		out = append(out, vs.View(id))
	}
	slices.SortStableFunc(out, func(a, b StudyView) int { return b.latest().Compare(a.latest()) })
	return out, nil
}

// latest is when a study ended or was decided; of one that awaits the operator a time after all
// others.
func (v StudyView) latest() time.Time {
	switch {
	case v.Ended != nil:
		return *v.Ended
	case v.Time != nil:
		return *v.Time
	}
	return time.Unix(1<<40, 0)
}

// known returns the digests of all studies that this site knows: pending ones,
// then the ledger's and then the others that are over.
func (vs *Views) known() ([]proposal.Digest, error) {
	out, err := vs.a.pending.List()
	if err != nil {
		return nil, err
	}
	for _, e := range vs.a.ledger.Studies() {
		if id := proposal.Digest(e.Study); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, id := range vs.a.endings.past.List() {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

// Find resolves a digest, the beginning of one of at least 4 digits, or else a
// study's name, for reading: a decision names its digest whole. The error is an
// *proposal.UnknownError.
func (vs *Views) Find(ref string) (proposal.Digest, error) {
	all, err := vs.Studies()
	if err != nil {
		return proposal.Digest{}, err
	}
	var found, open []proposal.Digest
	for _, v := range all {
		if proposal.Refers(ref, v.Digest, v.Name) {
			found = append(found, v.Digest)
			if v.State == statePending || v.State == string(ledger.Approved) {
				open = append(open, v.Digest)
			}
		}
	}
	if len(open) == 1 { // what is over takes no decision
		return open[0], nil
	}
	if len(found) != 1 {
		return proposal.Digest{}, &proposal.UnknownError{Ref: ref, Matches: found}
	}
	return found[0], nil
}
