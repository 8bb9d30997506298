package round

import (
	"encoding/json"
	"fmt"
	"slices"

	"covey/internal/proposal"
	"covey/internal/study"
)

// EntryKind names a transition of the durable state.
type EntryKind string

// The entries, in the order in which a study meets them.
const (
	EntryProposed  EntryKind = "proposed"
	EntryDecided   EntryKind = "decided"
	EntryPrepared  EntryKind = "prepared"  // all sites confirmed the setup
	EntrySurvivors EntryKind = "survivors" // U, before any signature is asked for; none where it is all sites
	EntryOpening   EntryKind = "opening"   // U's certificate, before any share is asked for
	EntryAbandoned EntryKind = "abandoned" // the slot; the query goes on in the next
	EntryReleased  EntryKind = "released"  // the noised answer and its charge
	EntryDrafted   EntryKind = "drafted"   // the result, before any site is asked to sign it
	EntryAttested  EntryKind = "attested"  // by enough sites: the result is complete
	EntryEnded     EntryKind = "ended"
)

// Entry is one line of the replicated log about a study. Only the fields of
// its kind are set.
type Entry struct {
	Study proposal.Digest `json:"study"`
	Kind  EntryKind       `json:"kind"`
	Body  []byte          `json:"body,omitempty"`
	// of EntryProposed: its proposer's, where it has one
	Signature []byte     `json:"signature,omitempty"`
	Site      int        `json:"site,omitempty"`
	Culprit   study.Seat `json:"culprit,omitempty"`
	// the site that refused and proved nothing
	Accuser       study.Seat    `json:"accuser,omitempty"`
	Verdict       study.Verdict `json:"verdict,omitempty"`
	Code          study.Code    `json:"code,omitempty"`
	Announcements [][]byte      `json:"announcements,omitempty"`
	Nonces        [][]byte      `json:"nonces,omitempty"`
	Confirmations [][]byte      `json:"confirmations,omitempty"`
	Tags          [][]byte      `json:"tags,omitempty"`
	Deposits      [][]byte      `json:"deposits,omitempty"`
	TagHashes     [][]byte      `json:"tag_hashes,omitempty"`
	DepositHashes [][]byte      `json:"deposit_hashes,omitempty"`
	Query         int           `json:"query,omitempty"`
	Slot          int           `json:"slot,omitempty"`
	Survivors     []int         `json:"survivors,omitempty"`
	Certificate   [][]byte      `json:"certificate,omitempty"`
	Released      *Released     `json:"released,omitempty"`
	// What the release leads to, computed once by the leader: replicas on
	// different processors need not agree on the last bit of a division.
	Course *study.Course `json:"course,omitempty"`
	Rho    float64       `json:"rho,omitempty"`
	// of EntryDrafted
	Draft []byte `json:"draft,omitempty"`
	// of EntryAttested, by site
	Attestations [][]byte `json:"attestations,omitempty"`
}

// StaleError is an entry that came too late: another one had already decided
// what it was about. The state is unchanged.
type StaleError struct {
	Kind  EntryKind
	Query int
	Slot  int
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("round: entry %q of query %d slot %d is stale", e.Kind, e.Query, e.Slot)
}

// apply changes the durable state by a committed entry, or leaves it as it is and says
// that the entry is stale. It is deterministic and samples nothing.
func (s *State) apply(e Entry) error {
	stale := &StaleError{Kind: e.Kind, Query: e.Query, Slot: e.Slot}
	if e.Kind == EntryProposed {
		if s.plan != nil {
			return stale
		}
		plan, err := study.NewPlan(e.Body)
		if err != nil {
			return err
		}
		if err := plan.Proposal.CheckSignature(plan.Digest, e.Signature); err != nil {
			return err
		}
		s.plan = plan
		s.Durable = Durable{Body: e.Body, Signature: e.Signature, Status: StatusProposed, Culprit: -1, Verdicts: make([]study.Verdict, plan.Thresholds.Sites)}
		for i := range s.Verdicts {
			s.Verdicts[i] = study.VerdictPending
		}
		s.live.reset(plan.Thresholds.Sites)
		return nil
	}
	if s.plan == nil || s.Terminal() {
		return stale
	}
	before := s.Durable
	err := s.change(e, stale)
	if !s.fits(s.plan) {
		s.Durable = before
		return stale
	}
	return err
}

// change is apply of all but the first entry.
func (s *State) change(e Entry, stale error) error {
	switch e.Kind {
	case EntryDecided:
		return s.Durable.decided(e, stale)
	case EntryPrepared:
		return s.applyPrepared(e, stale)
	case EntryDrafted, EntryAttested:
		return s.applyResult(e, stale)
	case EntryEnded:
		if e.Code == study.CodeExpired && s.Status != StatusProposed {
			return stale // the last approval was quicker
		}
		s.Status, s.Code, s.Culprit, s.Accuser = StatusEnded, e.Code, e.Culprit.Site(), e.Accuser
	default:
		if s.Status != StatusRunning || e.Query != s.Query || e.Slot != s.Slot {
			return stale
		}
		return s.applySlot(e, stale)
	}
	return nil
}

// NewReleased makes the entry that commits a release of the open slot: the
// noised values, their charge, and the course that Next gives.
func (s *State) NewReleased(r study.Release, signed Released, next study.Course) Entry {
	return s.entry(release(r, signed, next))
}

func release(r study.Release, signed Released, next study.Course) Entry {
	return Entry{Kind: EntryReleased, Released: &signed, Course: &next, Rho: r.Rho}
}

// Next returns the course after a release of the open query. It reads the committed
// releases and the course, which never change in place: a copy of the state may be asked
// outside the lock that guards it. Most queries need no release before theirs, and every query
// waits for this: none is then parsed. encoded are the bytes of the release that are signed.
func (s *State) Next(r study.Release, encoded []byte) (study.Course, error) {
	var earlier []study.Release
	if reads := s.plan.Queries.Earlier(r.Query); len(reads) > 0 {
		for _, e := range s.Releases {
			var head struct { // most of a wide study's release is its vectors
				Query int `json:"query"`
			}
			if err := json.Unmarshal(e.Encoded, &head); err != nil {
				return study.Course{}, err
			}
			if !slices.Contains(reads, head.Query) {
				continue
			}
			of, err := study.ParseRelease(e.Encoded)
			if err != nil {
				return study.Course{}, err
			}
			earlier = append(earlier, s.plan.Spent(of))
		}
	}
	return s.plan.NextOf(s.Course, r, encoded, earlier)
}

// entry completes an entry about the open slot.
func (s *State) entry(e Entry) Entry {
	e.Study, e.Query, e.Slot = s.plan.Digest, s.Query, s.Slot
	return e
}
