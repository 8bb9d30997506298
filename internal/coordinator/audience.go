package coordinator

import (
	"time"

	"covey/internal/admission"
	"covey/internal/analysis"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/wire"
)

// shown is what analysts are told of a study during one tick: asking more often tells nothing new.
type shown struct {
	tick time.Time
	told wire.Told
}

// audience is who is told of studies, at one moment while the lock is held: an analyst of those
// that it proposed or may read, by name and the identity key of now; others of none.
type audience struct {
	m   *leader
	who admission.Client
	now time.Time
}

// all is what it is told of all its studies.
func (a audience) all() (out []wire.Told) {
	for _, r := range a.m.all {
		if told, ok := a.tell(r); ok {
			out = append(out, told)
		}
	}
	return out
}

// of is what it is told of one study; false if it may not know of it.
func (a audience) of(digest proposal.Digest) (wire.Told, bool) {
	r, ok := a.m.find(digest)
	if !ok {
		return wire.Told{}, false
	}
	return a.tell(r)
}

func (a audience) tell(r outline.Study) (wire.Told, bool) {
	if a.who.Role != pki.RoleAnalyst {
		return wire.Told{}, false
	}
	p, by := r.Proposal(), partyOf(a.who)
	if !p.Reads(by) {
		return wire.Told{}, false
	}
	told := a.m.told(r, a.now)
	told.Own = p.Proposer != nil && p.Proposer.Same(by)
	return told, true
}

// told is what those who may know of a study are told of it during a tick. Its answers are shared,
// and never written to.
func (m *leader) told(r outline.Study, now time.Time) wire.Told {
	s, tick := m.shown[r.Digest], now.Truncate(analysis.Tick)
	if !s.tick.Equal(tick) {
		s = shown{tick, analysis.Tell(r.ForAnalysts(m.dates[r.Digest], m.words[r.Digest]), now)}
		// By what is told, not by what is so: that an end does not show yet must not show here.
		for i := range s.told.Answers {
			s.told.Answers[i].Gone = !over(s.told) && m.who.Barred(r.Proposal().Roster[i]) != ""
		}
		m.shown[r.Digest] = s
	}
	return s.told
}

// over reports whether a study shows as over.
func over(t wire.Told) bool { return t.Phase == wire.PhaseCompleted || t.Phase == wire.PhaseEnded }
