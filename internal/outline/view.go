package outline

import (
	"cmp"
	"time"

	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// View is what an operator may see of a study at a moment: nothing in it is
// un-noised.
type View struct {
	Name   string          `json:"name"`
	Digest proposal.Digest `json:"digest"`
	Status round.Status    `json:"status"`
	// Proposer is the analyst who proposed the study, empty of the operator; Readers are the
	// analysts who may read its result besides.
	Proposer string   `json:"proposer,omitempty"`
	Readers  []string `json:"readers,omitempty"`
	// Proposed and Ended are when the study was proposed, and when it was over; zero where that is
	// not known, or not yet so.
	Proposed time.Time  `json:"proposed,omitzero"`
	Ended    time.Time  `json:"ended,omitzero"`
	Code     study.Code `json:"code,omitempty"`
	// site that Code is about: caught by the leader, or by its own word
	Culprit string `json:"culprit,omitempty"`
	// Accuser is a site that refused with Code because of another one, and named nobody.
	Accuser string `json:"accuser,omitempty"`

	Query    int `json:"query"`    // index in the plan of the open one
	Released int `json:"released"` // queries with their answer
	Queries  int `json:"queries"`  // of the study, at most; once it is completed, those asked
	// Left is how many queries are still to be released, at most; 0 once the study is over.
	Left  int        `json:"left"`
	Kind  study.Kind `json:"kind,omitempty"` // of the open query
	Round int        `json:"round"`
	// Of is the kind whose norms an open histogram counts; Run and Runs are deflation's
	// components: the one that is looked for, and all.
	Of     study.Kind `json:"of,omitempty"`
	Run    int        `json:"run,omitempty"`
	Runs   int        `json:"runs,omitempty"`
	Rounds int        `json:"rounds"`
	// Method finds the components; "auto" before that is decided.
	Method string `json:"method"`
	Slot   int    `json:"slot"`
	Slots  int    `json:"slots"`
	Phase  string `json:"phase,omitempty"` // of the open query: upload, sign, open, prove or keys
	// Deadline of the open phase; past it, the study waits or goes on without.
	Deadline time.Time `json:"deadline,omitzero"`
	// Expires is when a study that some sites have not approved by then ends; zero for never, and
	// once all approved.
	Expires time.Time `json:"expires,omitzero"`
	// Overdue reports whether a deadline of the open query has passed.
	Overdue bool       `json:"overdue,omitempty"`
	Waiting []string   `json:"waiting_for,omitempty"`
	Sites   []SiteView `json:"sites"`
	Faults  []Fault    `json:"faults,omitempty"`

	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta"`
	Adjacency string  `json:"adjacency"` // what they are for
	Curve     string  `json:"curve"`     // how Rho converts: gdp or zcdp
	Rho       float64 `json:"rho"`       // charged by what is released
	// RhoAsked is the ρ of a query that was asked and is not released: sites may have charged it.
	RhoAsked   float64 `json:"rho_asked,omitempty"`
	RhoPlanned float64 `json:"rho_planned"`
	Radius     float64 `json:"radius,omitempty"`
	// of the last power round; not there for a covariance
	NoiseToSignal *float64 `json:"noise_to_signal,omitempty"`
	Survivors     int      `json:"survivors,omitempty"` // of the last release
}

// Charged returns the ρ that sites have charged, at most. most are the words "at most " where some
// may have charged less: a query that is not released counts.
func (v View) Charged() (rho float64, most string) {
	if v.RhoAsked > 0 {
		most = "at most "
	}
	return v.Rho + v.RhoAsked, most
}

// Blame returns whom the end of a study is about, for people: a site, or one that accuses. It is
// empty if that is nobody.
func (v View) Blame() string { return blame(v.Culprit, v.Accuser) }

// blame is whom the end of a study is about, for people: a site, or one that accuses.
func blame(culprit, accuser string) string {
	switch {
	case culprit != "":
		return culprit
	case accuser != "":
		return accuser + " accuses nobody by name"
	}
	return ""
}

// SiteView is one site in a View.
type SiteView struct {
	Name      string        `json:"name"`
	Units     int           `json:"units"`
	Connected bool          `json:"connected"`
	Verdict   study.Verdict `json:"verdict"`
	Code      study.Code    `json:"code,omitempty"` // why, when rejected
	Uploaded  bool          `json:"uploaded"`       // in the open query
	// Signed reports whether its setup, signed over the digest with the identity key, was checked.
	Signed bool `json:"signed"`
	// Unsigned is why the site does not sign the result; empty before it said so, and once the
	// result is complete.
	Unsigned study.Code `json:"unsigned,omitempty"`
	// Refused is why the site takes no part in the open query, as it said; empty once it does.
	Refused study.Code `json:"refused,omitempty"`
	// Barred is why the site cannot come back: `revoked`, or `other key` where its name has joined
	// again with another identity key.
	Barred string `json:"barred,omitempty"`
}

// Fault is a site's message that failed a check and was dropped.
type Fault struct {
	Site  string     `json:"site"`
	Query int        `json:"query"`
	Code  study.Code `json:"code"`
}

// Of returns a study's view but for what a leader alone knows: links, the deadline, faults.
func Of(state *round.State, last Last, proposed, ended time.Time) View {
	p := state.Plan()
	spec := p.Proposal.Spec
	v := View{
		Name: spec.Name, Digest: p.Digest, Proposed: proposed, Ended: ended, Status: state.Status, Code: state.Code, Released: len(state.Releases),
		Query: state.Query, Queries: len(state.Releases) + p.Queries.Left(state.Query), Rounds: p.Rounds, Slot: state.Slot, Slots: p.Slots,
		Epsilon: spec.Epsilon, Delta: spec.Delta, Adjacency: p.Adjacency, Curve: string(p.Curve()), Rho: state.Rho, RhoAsked: state.Asked(), RhoPlanned: p.Rho, Radius: state.Radii[study.KindPower],
	}
	if by := p.Proposal.Proposer; by != nil {
		v.Proposer = by.Name
	}
	for _, r := range p.Proposal.Readers {
		v.Readers = append(v.Readers, r.Name)
	}
	v.Method = cmp.Or(state.Method, spec.Method)
	if state.Status == round.StatusEnded && state.Culprit >= 0 {
		v.Culprit = p.Proposal.Roster[state.Culprit].Name
	}
	if i := state.Accuser.Site(); i >= 0 {
		v.Accuser = p.Proposal.Roster[i].Name
	}
	if state.Status == round.StatusProposed {
		v.Expires = p.Proposal.Expires()
	}
	if !state.Terminal() {
		v.Left = p.Queries.Left(state.Query)
	}
	if state.Status == round.StatusRunning {
		q := p.Queries[state.Query]
		v.Of, v.Run, v.Runs = q.Of, q.Run, p.Runs
		v.Kind, v.Round, v.Overdue = q.Kind, q.Round, state.Overdue()
		v.Phase = state.Phase()
	} else if state.Status == round.StatusCompleted {
		v.Round = last.steps // auto may have turned to the covariance
	}
	for _, i := range state.WaitingFor() {
		v.Waiting = append(v.Waiting, p.Proposal.Roster[i].Name)
	}
	uploaded := map[int]bool{}
	for _, i := range state.Uploaded() {
		uploaded[i] = true
	}
	for i, in := range p.Proposal.Roster {
		why := study.Code("")
		if state.Verdicts[i] == study.VerdictRejected {
			why = state.Code // which it ended the study with
		}
		v.Sites = append(v.Sites, SiteView{
			Name: in.Name, Units: in.Units, Verdict: state.Verdicts[i], Code: why, Uploaded: uploaded[i],
			Unsigned: state.Unsigned(i), Refused: state.Refused(i),
			Signed: i < len(state.Announcements) && state.Announcements[i] != nil,
		})
	}
	v.Survivors = last.survivors
	if v.Method != proposal.MethodCovariance { // of which a power round's figure says nothing
		v.NoiseToSignal = last.noise
	}
	return v
}

// Last is what a view shows of a study's releases, the newest first.
type Last struct {
	count, survivors int
	steps            int      // power rounds
	ended            float64  // the worst noise of the last round of deflation's runs before this one
	noise            *float64 // that, or the last round's if it is worse, as a result has it
}

// After returns l brought up to date by the releases since, which can be many.
func (l Last) After(p *study.Plan, releases []round.Released) Last {
	if l.count > len(releases) { // an older snapshot was restored
		l = Last{}
	}
	var power []byte
	measure := func() {
		if power == nil {
			return
		}
		if r, err := study.ParseRelease(power); err == nil {
			noise := max(l.ended, r.NoiseToSignal(p.D))
			l.noise = &noise
		}
	}
	for _, raw := range releases[l.count:] {
		l.count++
		// without the values: of a leader that begins, hundreds of studies are asked for at once
		head, err := study.ParseHead(raw.Encoded)
		if err != nil {
			continue
		}
		l.survivors = len(head.Survivors)
		if head.Kind == study.KindPower {
			if head.Round == 0 && l.steps > 0 {
				if measure(); l.noise != nil {
					l.ended = *l.noise
				}
			}
			l.steps++
			power = raw.Encoded
		}
	}
	measure()
	return l
}
