package coordinator

import (
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/session"
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
		m.sessions[digest] = &memory{Session: new(session.Session), faults: kept.faults}
	}
}

// find returns a study; false if there is none.
func (m *replicated) find(digest proposal.Digest) (outline.Study, bool) {
	r := outline.Study{Digest: digest, State: m.studies[digest], Closed: m.closed[digest]}
	return r, r.State != nil || r.Closed != nil
}

// all goes over the studies as proposed.
func (m *replicated) all(yield func(at int, r outline.Study) bool) {
	for at, digest := range m.order {
		if r, _ := m.find(digest); !yield(at, r) {
			return
		}
	}
}

// tellOver tells a site the end of a study that is over, and its last release, which is read from
// the shelf when its turn comes: a site whose ledger is lost is told of every study, and others
// must not wait for that. If it cannot be read, only the end is told.
func (m *leader) tellOver(r outline.Study, site int) {
	log, c := m.log, r.Closed
	l := m.links[c.Proposal.Roster[site].Name]
	if l == nil {
		return
	}
	if r.Releases() > 0 {
		l.SendLater(func() ([]byte, error) {
			state, _, err := c.Load()
			if err == nil {
				err = c.Releases(func(r round.Released) error { // the last one stays
					state.Releases = []round.Released{r}
					return nil
				})
			}
			if err != nil {
				log.Error("a study that is over cannot be read from disk; the site is told only how it ended", "study", r.Digest, "error", err)
				return nil, nil
			}
			if last, ok := state.Last(); ok {
				return wire.Encode(last)
			}
			return nil, nil
		})
	}
	end := wire.Ended{Header: wire.Header{Study: r.Digest}, Code: c.View.Code}
	raw, err := wire.Encode(end)
	if err != nil {
		log.Error("a message does not encode", "study", r.Digest, "error", err)
		return
	}
	l.Send(raw, stream.AboutOf(end))
}
