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
	// 1 + roster index of a site that refused with Code and proved nothing; 0: nobody
	Accuser  int             `json:"accuser,omitempty"`
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

// State is one study's. The zero State awaits its Proposed entry.
type State struct {
	Durable
	plan *study.Plan
	live live
}

// live is what the leader has seen. It belongs to Step alone.
type live struct {
	leading   bool
	proposing bool        // an entry is on its way to the log
	connected []bool      // by site
	asked     []asked     // by site: what this link was already asked
	left      []departure // by site: refused on this link
	barred    []bool      // by site: no link of the roster's key can come any more
	resting   bool        // the pause before some of them are asked again is set
	announced [][]byte    // by site
	verified  bool        // the announcements are checked
	verifying bool
	nonces    [][]byte // by site, on the sparse graph
	graph     Graph    // nil until it is drawn
	drawing   bool
	boxes     [][][]byte // by sender, then in the order of its recipients
	confirmed [][]byte   // by site
	// by site: what the log is to hold of its tags and deposits
	tags, deposits [][]byte
	recalled       []bool   // by site: the leader has them, as the log's hashes name them
	uploaded       []bool   // by site, in the open slot
	signed         [][]byte // by site, on the committed U
	// by site, a U that it says, with its signature, it signed in the open slot
	held [][]int
	// by site: it sent shares in the open slot, before this leader asked for any
	given []bool
	// by site: it sent shares in an earlier slot of the open query, so that no later one can have
	// it
	spent  []bool
	shared []bool // by site
	heard  []bool // by site: its shares came, even if they were wrong
	// by site: 1 + the release that it lacks, and is told with the next prompts; 0 for none
	lacks []int
	// by site: how many releases, from the first on, this link was told in the open slot since the
	// site lacked them
	caught    []int
	dealer    int             // whose helpers' proofs are wanted
	proof     []bool          // by site: its proof is wanted
	keys      []bool          // by site: the keys of its pairs are wanted
	lost      []bool          // by site: its tags are wanted
	convicted []int           // sites outside of U whose tags or deposits are wrong
	keyless   bool            // the deadline of the keys has passed
	silent    bool            // that of the proofs
	adopted   *Adopt          // the open query's result, where the log does not hold it
	opening   bool            // Open is under way, or has failed
	failed    *OpenFailed     // how it failed, or what is asked does not fit the plan
	drafting  bool            // Draft is under way, or has failed
	attested  [][]byte        // by site, on the committed draft
	overdue   bool            // the open slot's upload deadline has passed
	stalled   bool            // its opening deadline has passed
	timed     map[string]bool // deadlines set since the slot opened
	dated     bool            // the proposal's expiry is set
	lapsed    bool            // it has passed
}

// departure is a site's refusal; the zero one is none.
type departure struct {
	code    study.Code
	culprit int  // -1 for nobody
	accuser int  // as in Entry
	again   bool // it was asked again since
}

// Plan of the study; nil before it is proposed.
func (s *State) Plan() *study.Plan { return s.plan }

// errUnfit is a durable part that no entries lead to.
var errUnfit = errors.New("round: the state of a study does not fit its plan")

// fits reports whether lists are as long as the roster, and indices of it and of the plan: what
// another coordinator made up is refused before anything counts on it.
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
	return len(d.Verdicts) == n && d.Culprit >= -1 && d.Culprit < n &&
		d.Accuser >= 0 && d.Accuser <= n && d.Slot >= 0 && d.Query >= 0 && d.Query <= len(p.Queries) &&
		(d.Status != StatusRunning || d.Query < len(p.Queries) && len(d.Announcements) == n &&
			(!p.Proposal.Spec.Waits() || len(d.Survivors) == n)) &&
		(d.Status != StatusSigning || d.Query == len(p.Queries) && len(d.Announcements) == n && len(d.Releases) > 0)
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

func (l *live) reset(sites int) {
	*l = live{
		connected: make([]bool, sites), barred: make([]bool, sites), asked: make([]asked, sites), left: make([]departure, sites),
		announced: make([][]byte, sites), nonces: make([][]byte, sites), boxes: make([][][]byte, sites), confirmed: make([][]byte, sites),
		attested: make([][]byte, sites),
		tags:     make([][]byte, sites), deposits: make([][]byte, sites), recalled: make([]bool, sites),
	}
	l.resetSlot(sites)
}

func (l *live) resetSlot(sites int) {
	l.uploaded, l.shared, l.heard = make([]bool, sites), make([]bool, sites), make([]bool, sites)
	l.proof, l.keys, l.lost = make([]bool, sites), make([]bool, sites), make([]bool, sites)
	l.convicted, l.keyless, l.silent = nil, false, false
	l.signed = make([][]byte, sites)
	l.lacks, l.caught = make([]int, sites), make([]int, sites)
	l.held, l.given, l.spent = make([][]int, sites), make([]bool, sites), make([]bool, sites)
	l.adopted, l.opening, l.failed, l.overdue, l.stalled = nil, false, nil, false, false
	l.timed = map[string]bool{}
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
func (s *State) Uploaded() []int { return indices(s.live.uploaded) }

// Announcement is a site's of the setup under way, as this leader took it, or as all confirmed
// it; nil if there is none.
func (s *State) Announcement(site int) []byte {
	if s.Status == StatusSetup {
		return s.live.announced[site]
	}
	if site < len(s.Announcements) {
		return s.Announcements[site]
	}
	return nil
}

// Boxes are those that a site sent this leader, in the order of its recipients; nil if there are
// none yet, or the setup is on record.
func (s *State) Boxes(from int) [][]byte { return s.live.boxes[from] }

// BoxesFor are those that are relayed to a site, in the order of its senders.
func (s *State) BoxesFor(to int) [][]byte { return s.graph().Route(s.live.boxes, to) }

// Closing reports whether an entry is on its way to the log that may close the open slot's
// uploads: one that comes now may be outside U.
func (s *State) Closing() bool { return s.live.proposing && s.Survivors == nil }

// Overdue reports whether the deadline of what the open slot is at has passed.
func (s *State) Overdue() bool {
	l := &s.live
	switch s.timed() {
	case PhaseProofs:
		return l.silent
	case PhaseKeys:
		return l.keyless
	case PhaseOpen:
		return l.stalled
	}
	return l.overdue
}

// timed is what the open slot's deadline is for. A leader that began with a committed U has none
// for uploads.
func (s *State) timed() Phase {
	switch {
	case slices.Contains(s.live.proof, true):
		return PhaseProofs
	case s.live.keyed():
		return PhaseKeys
	case s.Survivors != nil:
		return PhaseOpen
	}
	return PhaseUpload
}

// WaitingFor are the sites that the study cannot go on without just now, or waits for up to a
// deadline.
func (s *State) WaitingFor() []int {
	var out []int
	spares := s.spares()
	for i := range s.plan.Thresholds.Sites {
		if s.awaits(i) && !(spares && s.spared(i)) {
			out = append(out, i)
		}
	}
	return out
}

func (s *State) awaits(i int) bool {
	l := &s.live
	switch s.Status {
	case StatusProposed:
		return s.Verdicts[i] != study.VerdictApproved
	case StatusSetup:
		switch {
		case !all(l.announced):
			return l.announced[i] == nil
		case s.plan.Thresholds.Sparse() && !all(l.nonces):
			return l.nonces[i] == nil
		case !all(l.boxes):
			return l.boxes[i] == nil
		default:
			return l.confirmed[i] == nil
		}
	case StatusRunning:
		switch {
		case s.Survivors == nil:
			return !l.uploaded[i]
		case !l.uploaded[i] && slices.Contains(s.Survivors, i):
			return true
		case s.Certificate == nil:
			return l.signed[i] == nil && s.graph().Signs(i)
		case slices.Contains(l.proof, true):
			return l.proof[i]
		case slices.Contains(l.keys, true):
			return l.keys[i]
		case slices.Contains(l.lost, true):
			return l.lost[i]
		default:
			return !l.shared[i]
		}
	case StatusSigning:
		return s.Draft != nil && l.attested[i] == nil && s.graph().Signs(i)
	}
	return false
}

// Phase says in a word what the open slot is at.
func (s *State) Phase() string {
	switch {
	case s.Survivors == nil, s.Certificate == nil && !subset(s.Survivors, s.live.uploaded):
		return "upload"
	case s.Certificate == nil:
		return "sign"
	case slices.Contains(s.live.proof, true):
		return "prove"
	case s.live.keyed():
		return "keys"
	}
	return "open"
}

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
