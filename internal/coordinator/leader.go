package coordinator

import (
	"covey/internal/admission"
	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/stream"
)

// leader is what a coordinator knows: what the log has committed, and what it remembers while it
// leads. It has no lock: Machine.lock gives it to one goroutine, which has it alone until
// unlock. Its methods run to their end without waiting for anything; what takes time goes on in a
// goroutine of its own (core.background) and comes back as an event (core.inTerm). A coordinator
// that follows keeps it up to date and asks nobody for anything.
type leader struct {
	*core // nil before New
	replicated

	raft     Log     // of the last lead
	replica  Replica // nil before Serve
	leading  bool
	term     int                        // counts Lead and Follow: what began in another one is dropped
	links    map[string]*link           // by site name
	opened   map[string][]*link         // all open streams, by site name, oldest first
	paces    map[string]*admission.Pace // by site name
	places   map[string]chan struct{}   // of results that are sent, by client
	sessions map[proposal.Digest]*memory
	changed  chan struct{}   // closed and replaced at every change
	seen     outline.Journal // what this coordinator alone has seen
	// sightings are of sites and analysts, by name, while this coordinator led.
	sightings map[string]outline.Sighting
	lasts     map[proposal.Digest]outline.Last
	shown     map[proposal.Digest]shown // to analysts
	proposing map[string]int            // proposals on their way, by analyst
	heads     stream.Heads              // what sites are shown of the chain
}

func (m *leader) led(s *memory) round.Led {
	out := round.Led{Graph: s.Graph()}
	for i, member := range s.Plan.Proposal.Roster {
		if m.who.Barred(member) != "" {
			out.Barred = append(out.Barred, i)
		}
		if m.links[member.Name] != nil {
			out.Connected = append(out.Connected, i)
		}
	}
	return out
}

// step hands an event to a study, runs the effects and reports whether there are any. An event of
// something begun before the study was over is ignored.
func (m *leader) step(digest proposal.Digest, state *round.State, e round.Event) bool {
	if m.studies[digest] != state {
		return false
	}
	effects, err := state.Step(e)
	if err != nil {
		m.log.Debug("stale", "study", digest, "error", err)
	}
	m.run(digest, state, effects)
	return len(effects) > 0
}

// each goes over the studies that a site is in: at is the place in the machine's order, site the
// roster index.
func (m *leader) each(name string, do func(at int, r outline.Study, site int)) {
	if !m.leading {
		return
	}
	for at, r := range m.all {
		if i := r.Site(name); i >= 0 {
			do(at, r, i)
		}
	}
}

// tell hands an event to every study under way that a site is in.
func (m *leader) tell(name string, of func(site int) round.Event) {
	m.each(name, func(_ int, r outline.Study, site int) {
		if r.State != nil { // of one that is over no link is remembered
			m.step(r.Digest, r.State, of(site))
		}
	})
}

// notify wakes everyone who watches.
func (m *leader) notify() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// run does effects, of an event (step) or of a committed entry (commit).
func (m *leader) run(digest proposal.Digest, state *round.State, effects []round.Effect) {
	if !m.leading {
		return
	}
	s := m.remember(digest, state)
	s.Turn()
	for _, e := range effects {
		switch e := e.(type) {
		case round.Send:
			m.send(digest, s, e)
		case round.Propose:
			m.propose(e.Entry)
		case round.VerifySetup:
			m.work(digest, s, s.Verify(e.Announcements))
		case round.DrawGraph:
			m.work(digest, s, s.Draw(e.Nonces))
		case round.Open:
			m.open(digest, s, e)
		case round.Draft:
			m.draft(digest, s)
		case round.SetDeadline:
			m.deadline(digest, s, e)
		case round.Drop:
			s.Drop(e)
		case round.Doubt:
			s.Fault(e.Site, e.Code)
		case round.Late:
			if n := len(e.Sites); n > 0 {
				m.log.Warn("a deadline has passed", "study", digest, "query", e.Query, "phase", e.Phase, "waiting_for", e.Sites[:min(n, 20)], "sites", n)
			}
			if n := len(e.Without); n > 0 {
				m.log.Warn("sites missed five deadlines in a row: the study goes on without them until they are back", "study", digest, "without", e.Without[:min(n, 20)], "sites", n)
			}
		case round.SetRest:
			m.later(e.After, nil, digest, round.Rested{})
		case round.SetExpiry:
			m.eventAt(e.At, m.term, s.Turned(), digest, round.Lapsed{})
		}
	}
	for _, e := range s.Settle() {
		m.step(digest, state, e)
	}
	if state.Terminal() {
		m.over(state, s)
	}
	m.notify()
}
