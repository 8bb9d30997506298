package coordinator

import (
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/stream"
	"covey/internal/wire"
)

// close puts a study that is over on the shelf. It is the last step of an entry and a function of
// the log, except for the outline's noise figure, whose last bit may depend on the processor:
// nothing is decided by it.
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

// proposal returns the study's; once the study is over, without its columns.
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
		return r.state.Plan().Proposal.Site(name)
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

// tellOver tells a site the end of a study that is over, and its last release, which is read from
// the shelf when its turn comes: a site whose ledger is lost is told of every study, and others
// must not wait for that. If it cannot be read, only the end is told.
func (m *leader) tellOver(r filed, site int) {
	log, c := m.log, r.closed
	l := m.links[c.Proposal.Roster[site].Name]
	if l == nil {
		return
	}
	if r.releases() > 0 {
		l.SendLater(func() ([]byte, error) {
			state, _, err := c.Load()
			if err != nil {
				log.Error("a study that is over cannot be read from disk; the site is told only how it ended", "study", r.digest, "error", err)
				return nil, nil
			}
			if last, ok := state.Last(); ok {
				return wire.Encode(last)
			}
			return nil, nil
		})
	}
	end := wire.Ended{Header: wire.Header{Study: r.digest}, Code: c.View.Code}
	raw, err := wire.Encode(end)
	if err != nil {
		log.Error("a message does not encode", "study", r.digest, "error", err)
		return
	}
	l.Send(raw, stream.AboutOf(end))
}
