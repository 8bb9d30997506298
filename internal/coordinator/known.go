package coordinator

import (
	"encoding/hex"
	"maps"
	"slices"

	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/wire"
)

// known is which studies a site's ledger holds, as its hello says. The zero value is of one that
// names none and does not claim that it named all.
type known struct {
	open, over map[wire.Tag]bool // over: not told of again
	all        bool              // open holds all that are open there
}

func newKnown(m wire.Hello) known { return known{set(m.Open), set(m.Over), m.AllOpen} }

func set(tags []wire.Tag) map[wire.Tag]bool {
	out := make(map[wire.Tag]bool, len(tags))
	for _, t := range tags {
		out[t] = true
	}
	return out
}

// misses reports whether a site has to hear of a study that is over.
func (k known) misses(r outline.Study) bool {
	t := wire.TagOf(r.Digest)
	switch {
	case k.open[t]:
		return true
	case k.over[t]:
		return false
	case !k.all:
		return true
	}
	// The site's ledger does not hold it. That is in order where it came to nothing; a site that
	// was in a sum has lost what it spent, and must hear of it (AG-20).
	return r.Releases() > 0
}

// greet tells the site of a new link how its studies stand: every one under way, and of those that
// are over the ones that it misses.
func (m *leader) greet(l *link) {
	l.untold = make([]bool, len(m.order))
	if lost := m.lacks(l.known); len(lost) > 0 {
		m.log.Warn("a site has studies open that this coordinator's log lacks: if a backup was restored, what they reserve of its budget is free once its operator runs \"agent study reject\"", "site", l.site, "studies", lost[:min(len(lost), 20)], "count", len(lost))
	}
	m.each(l.site, func(at int, r outline.Study, site int) {
		switch {
		case r.Closed == nil:
			m.step(r.Digest, r.State, round.Connected{Site: site})
		case l.known.misses(r):
			m.tellOver(r, site)
		default:
			l.untold[at] = true
		}
	})
}

// lacks returns the studies that are open at a site and not in the log, as `study list` shows them.
func (m *replicated) lacks(k known) (lost []string) {
	open := maps.Clone(k.open)
	for _, d := range m.order {
		delete(open, wire.TagOf(d))
	}
	for t := range open {
		lost = append(lost, hex.EncodeToString(t[:])[:12])
	}
	slices.Sort(lost)
	return lost
}

// tellEnd is for a site that says something about a study which is over: it has not heard so,
// though it did not name the study when the link began. Once a link.
func (m *leader) tellEnd(l *link, r outline.Study, site int) {
	if at := slices.Index(m.order, r.Digest); at >= 0 && at < len(l.untold) && l.untold[at] {
		l.untold[at] = false
		m.tellOver(r, site)
	}
}
