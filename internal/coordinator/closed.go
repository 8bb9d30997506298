package coordinator

import (
	"fmt"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
)

// close puts a study that is over on the shelf. It is the last that an entry does, and a function
// of the log, but for the figure of noise in the outline, which nothing is decided by: its last bit
// may be another processor's.
func (m *leader) close(digest proposal.Digest) {
	s := m.studies[digest]
	if s == nil || !s.Terminal() {
		return
	}
	v := m.outline(digest, s, m.lasts[digest].After(s.Plan(), s.Releases))
	c, err := outline.Close(v, s, m.words[digest], m.shelf)
	if err != nil { // what came as JSON is JSON; else it stays as it is
		return
	}
	m.closed[digest] = c
	delete(m.studies, digest)
	delete(m.words, digest)
	delete(m.lasts, digest)
	if kept := m.sessions[digest]; kept != nil {
		m.sessions[digest] = &session{leader: m, faults: kept.faults}
	}
}

// Filed is what is known of one study: in memory while it is under way, on the shelf after.
type filed struct {
	digest proposal.Digest
	state  *round.State    // nil of one that is over
	closed *outline.Closed // nil of one under way
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
	return r.closed.Site(name)
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
		state, words, err := r.closed.Load()
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
