package coordinator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"covey/internal/analysis"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/shelf"
	"covey/internal/wire"
)

// A closed study is one that is over: what lists show of it stays in memory, and the rest, its
// releases and its proposal, is on the machine's shelf, to be read where one asks for it. So what a
// coordinator holds and does at its start grows little with the studies that it has had.
type closed struct {
	// View is of nobody's link, and without faults.
	View     View              `json:"view"`
	Proposal proposal.Proposal `json:"proposal"` // without its columns
	Words    []analysis.Word   `json:"words"`    // by site
	Limit    int               `json:"limit"`    // of a site's messages about it
	Size     int64             `json:"size"`     // of the rest
	rest     shelf.Item
}

// rest is all that there is of a closed study.
type rest struct {
	State round.Durable `json:"state"`
	Words map[int]Word  `json:"words,omitempty"`
}

// errClosed is a closed study in a snapshot that no entries lead to.
var errClosed = errors.New("a study that is over does not fit its summary")

// close puts a study that is over on the shelf. It is the last that an entry does, and a function
// of the log, but for the figure of noise in the outline, which nothing is decided by: its last bit
// may be another processor's.
func (m *leader) close(digest proposal.Digest) {
	s := m.studies[digest]
	if s == nil || !s.Terminal() {
		return
	}
	slim(&s.Durable)
	text, err := json.Marshal(rest{s.Durable, m.words[digest]})
	if err != nil { // nothing that came as JSON; it stays as it is
		return
	}
	c := &closed{View: m.outline(digest, s, m.lasts[digest].after(s.Plan(), s.Releases)), Proposal: s.Plan().Proposal, Words: wordsOf(s.Plan(), m.words[digest]), Limit: wire.LargestOfSite(s.Plan()), Size: int64(len(text)), rest: m.shelf.Put(text)}
	c.Proposal.Spec.Columns, c.Proposal.Graph = nil, nil
	m.closed[digest] = c
	delete(m.studies, digest)
	delete(m.words, digest)
	delete(m.lasts, digest)
	if kept := m.sessions[digest]; kept != nil {
		m.sessions[digest] = &session{leader: m, faults: kept.faults}
	}
}

// slim takes out of a study that is over what only its setup and its open slot needed: most of what
// a study holds, and of a snapshot. That a site announced itself remains, as an empty announcement,
// and of a study with a result the confirmations, which the result shows.
func slim(d *round.Durable) {
	// new: an opening may be under way with the old
	announcements := make([][]byte, len(d.Announcements))
	for i := range announcements {
		announcements[i] = []byte{}
	}
	d.Announcements, d.Nonces, d.Certificate = announcements, nil, nil
	if d.Status != round.StatusCompleted {
		d.Confirmations, d.Draft = nil, nil
	}
	d.Tags, d.Deposits, d.TagHashes, d.DepositHashes = nil, nil, nil, nil
}

// site returns a site's roster index, or -1.
func (c *closed) site(name string) int {
	return slices.IndexFunc(c.Proposal.Roster, func(m proposal.Member) bool { return m.Name == name })
}

// check holds what a snapshot has of a closed study to what lists count on.
func (c *closed) check() error {
	v, n := c.View, len(c.Proposal.Roster)
	over := v.Status == round.StatusCompleted || v.Status == round.StatusEnded
	if !over || len(v.Sites) != n || len(c.Words) != n || c.Size < 0 || v.Released < 0 {
		return errClosed
	}
	return nil
}

// load reads a closed study from the shelf. It needs no lock.
func (c *closed) load() (state *round.State, words map[int]Word, err error) {
	text, err := c.rest.Bytes()
	if err != nil {
		return nil, nil, err
	}
	var r rest
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, nil, err
	}
	if proposal.DigestOf(r.State.Body) != c.View.Digest || r.State.Status != c.View.Status {
		return nil, nil, errClosed
	}
	if state, err = round.Restore(r.State); err != nil {
		return nil, nil, err
	}
	return state, r.Words, nil
}

// Filed is what is known of one study: in memory while it is under way, on the shelf after.
type filed struct {
	digest proposal.Digest
	state  *round.State // nil of one that is over
	closed *closed      // nil of one under way
}

// find returns a study; false if there is none.
func (m *replicated) find(digest proposal.Digest) (filed, bool) {
	r := filed{digest, m.studies[digest], m.closed[digest]}
	return r, r.state != nil || r.closed != nil
}

// all goes over the studies as proposed.
func (m *replicated) all(yield func(at int, r filed) bool) {
	for at, digest := range m.order {
		if r, _ := m.find(digest); !yield(at, r) {
			return
		}
	}
}

// proposal returns the study's, of one that is over without its columns.
func (r filed) proposal() *proposal.Proposal {
	if r.state != nil {
		return &r.state.Plan().Proposal
	}
	return &r.closed.Proposal
}

func (r filed) terminal() bool { return r.state == nil || r.state.Terminal() }

func (r filed) status() round.Status {
	if r.state != nil {
		return r.state.Status
	}
	return r.closed.View.Status
}

// releases returns how many there are.
func (r filed) releases() int {
	if r.state != nil {
		return len(r.state.Releases)
	}
	return r.closed.View.Released
}

// site returns a site's roster index, or -1.
func (r filed) site(name string) int {
	if r.state != nil {
		return r.state.Plan().Site(name)
	}
	return r.closed.site(name)
}

// limit bounds a site's messages about the study.
func (r filed) limit() int {
	if r.state != nil {
		return wire.LargestOfSite(r.state.Plan())
	}
	return r.closed.Limit
}

// whole returns the state and the sites' words. What a state under way holds may be replaced once
// the lock is given back, and never changes; one that is over is read from the shelf, at its cost.
func (r filed) whole(m *replicated) (*round.State, map[int]Word, error) {
	if r.closed != nil {
		state, words, err := r.closed.load()
		if err != nil {
			err = fmt.Errorf("study %s cannot be read again: %w", r.digest, err)
		}
		return state, words, err
	}
	return r.state, m.words[r.digest], nil
}

// tellOver tells a site the end of a study that is over, and its last release.
func (m *leader) tellOver(r filed, site int) {
	state, _, err := r.whole(&m.replicated)
	if err != nil {
		m.log.Error("a site is not told of a study's end", "error", err)
		return
	}
	state.Step(round.Led{})
	effects, _ := state.Step(round.Connected{Site: site})
	s := &session{leader: m, state: state, plan: state.Plan(), tally: tally{encoded: map[string][]byte{}}}
	for _, e := range effects {
		if send, ok := e.(round.Send); ok {
			m.send(r.digest, s, send)
		}
	}
}
