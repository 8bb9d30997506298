package round

import (
	"errors"
	"slices"

	"covey/internal/study"
)

// Status of a study.
type Status string

// A study moves down this list and never up.
const (
	StatusProposed  Status = "proposed"  // sites decide
	StatusSetup     Status = "setup"     // one-time keys and shares
	StatusRunning   Status = "running"   // queries
	StatusSigning   Status = "signing"   // all is released; sites sign the result
	StatusCompleted Status = "completed" // the result stands
	StatusEnded     Status = "ended"     // without a result; Code says why
)

// Released is a release as stored: its exact signed bytes and the signature.
type Released struct {
	Encoded   []byte `json:"encoded"`
	Signature []byte `json:"signature"`
	// Certificate opened its sum, packed (secagg.Witness.Pack).
	Certificate []byte `json:"certificate,omitempty"`
}

// Durable is the replicated part of a study's state. It MUST hold no un-noised
// value and no masked upload (docs/protocol.md). What its fields point to never
// changes: Step puts something new in its place, so that a copy of a Durable is
// the state at a moment.
type Durable struct {
	Body []byte `json:"body"` // the proposal's exact bytes
	// Signature is its proposer's, where it has one.
	Signature []byte     `json:"signature,omitempty"`
	Status    Status     `json:"status"`
	Code      study.Code `json:"code,omitempty"`
	// roster index that Code is about: the leader checked it, or the site said it of itself; -1 for
	// none
	Culprit int `json:"culprit"`
	// a site that refused with Code and proved nothing
	Accuser  study.Seat      `json:"accuser,omitempty"`
	Verdicts []study.Verdict `json:"verdicts"`

	Announcements [][]byte `json:"announcements,omitempty"`
	Nonces        [][]byte `json:"nonces,omitempty"` // on the sparse graph
	Confirmations [][]byte `json:"confirmations,omitempty"`
	// Where a sum may be of fewer sites than all: the tags of each site's boxes, and each site's
	// deposits, or on the sparse graph hashes of them.
	Tags          [][]byte `json:"tags,omitempty"`
	Deposits      [][]byte `json:"deposits,omitempty"`
	TagHashes     [][]byte `json:"tag_hashes,omitempty"`
	DepositHashes [][]byte `json:"deposit_hashes,omitempty"`

	study.Course          // where it stands; Query is the open one
	Slot         int      `json:"slot"`                  // the open query's key material
	Survivors    []int    `json:"survivors,omitempty"`   // committed U of the open slot
	Certificate  [][]byte `json:"certificate,omitempty"` // committed before any share is asked for

	Releases []Released `json:"releases,omitempty"`
	Rho      float64    `json:"rho"` // charged so far

	Draft        []byte   `json:"draft,omitempty"`        // of the result; committed before any site is asked
	Attestations [][]byte `json:"attestations,omitempty"` // sites' signatures on it, by site
}

// State is that of one study. The zero State awaits its Proposed entry.
type State struct {
	Durable
	plan *study.Plan
	live live
}

// Plan of the study; nil before it is proposed.
func (s *State) Plan() *study.Plan { return s.plan }

// errUnfit is a durable part that no entries lead to.
var errUnfit = errors.New("round: the state of a study does not fit its plan")

// fits reports whether lists are as long as the roster, and indices within it and the plan: what
// another coordinator made up is refused before anything relies on it.
func (d *Durable) fits(p *study.Plan) bool {
	n := p.Thresholds.Sites
	for _, list := range [][][]byte{d.Announcements, d.Nonces, d.Confirmations, d.Tags, d.Deposits, d.TagHashes, d.DepositHashes, d.Certificate, d.Attestations} {
		// none, nil or not, of a study that ended before there were any
		if len(list) != 0 && len(list) != n {
			return false
		}
	}
	for k, i := range d.Survivors {
		if i < 0 || i >= n || k > 0 && i <= d.Survivors[k-1] {
			return false
		}
	}
	named := func(site int) bool { return site >= -1 && site < n }
	if len(d.Verdicts) != n || !named(d.Culprit) || !named(d.Accuser.Site()) || d.Slot < 0 || d.Query < 0 || d.Query > len(p.Queries) {
		return false
	}
	switch d.Status {
	case StatusRunning:
		return d.Query < len(p.Queries) && len(d.Announcements) == n && (!p.Proposal.Spec.Waits() || len(d.Survivors) == n)
	case StatusSigning:
		return d.Query == len(p.Queries) && len(d.Announcements) == n && len(d.Releases) > 0
	}
	return true
}

// Restore rebuilds a state from its durable part.
func Restore(d Durable) (*State, error) {
	plan, err := study.NewPlan(d.Body)
	if err != nil {
		return nil, err
	}
	if !d.fits(plan) {
		return nil, errUnfit
	}
	if err := plan.Proposal.CheckSignature(plan.Digest, d.Signature); err != nil {
		return nil, err
	}
	s := &State{Durable: d, plan: plan}
	s.live.reset(plan.Thresholds.Sites)
	return s, nil
}

// Ask is the open query. It is an error only if the noise cannot be sampled,
// which the plan has excluded.
func (s *State) Ask() (study.Ask, error) {
	return s.plan.NewAsk(s.Course, s.Slot)
}

// Terminal reports whether nothing more will happen.
func (d *Durable) Terminal() bool { return d.Status == StatusCompleted || d.Status == StatusEnded }

// Asked returns the ρ of a query that was asked and is not released, in whatever slot, also where
// the study ended since: a site charges it before its first upload (rule L3). 0 if there is none.
func (s *State) Asked() float64 {
	prepared := s.Status == StatusRunning || s.Status == StatusEnded && len(s.Announcements) > 0
	if !prepared || s.End != "" || s.Query >= len(s.plan.Queries) { // End: at a release, before the next query
		return 0
	}
	return s.plan.Queries[s.Query].Rho
}

// waits reports whether every site is waited for.
func (s *State) waits() bool { return s.plan.Proposal.Spec.Waits() }

// everybody are the sites of the roster.
func everybody(p *study.Plan) []int {
	all := make([]int, p.Thresholds.Sites)
	for i := range all {
		all[i] = i
	}
	return all
}

// Uploaded are the sites whose masked uploads of the open slot the leader holds.
func (s *State) Uploaded() []int { return indices(s.live.slot.uploaded) }

// Closing reports whether an entry is on its way to the log that may close the open slot's
// uploads: one that comes now may be outside U.
func (s *State) Closing() bool { return s.live.proposing && s.Survivors == nil }

func indices(set []bool) []int {
	out := []int{}
	for i, in := range set {
		if in {
			out = append(out, i)
		}
	}
	return out
}

func all[T any](bySite [][]T) bool {
	return !slices.ContainsFunc(bySite, func(v []T) bool { return v == nil })
}

func count(bySite [][]byte) int {
	n := 0
	for _, v := range bySite {
		if v != nil {
			n++
		}
	}
	return n
}
