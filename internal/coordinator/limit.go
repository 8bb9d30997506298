package coordinator

import (
	"slices"

	"covey/internal/wire"
)

// maxLinks is how many streams of Link a site has at a time: its link, and the next one.
const maxLinks = 2

// begun counts a new stream of Link. Where a site has more than maxLinks, the oldest that is not
// its link ends.
func (c *Coordinator) begun(l *link) {
	m := c.machine.lock()
	defer c.machine.unlock()
	all := append(m.opened[l.site], l)
	if len(all) > maxLinks {
		for i, old := range all {
			if old != m.links[l.site] {
				old.Close(errReplaced)
				all = append(all[:i:i], all[i+1:]...)
				break
			}
		}
	}
	m.opened[l.site] = all
}

// ended takes a stream out of the count.
func (m *leader) ended(l *link) {
	m.opened[l.site] = slices.DeleteFunc(m.opened[l.site], func(other *link) bool { return other == l })
	if len(m.opened[l.site]) == 0 {
		delete(m.opened, l.site)
	}
}

// expect brings the limit of a link's messages up to the studies that its site is in. It is called
// before each message: a site decides on a study before it sends anything long of it.
func (c *Coordinator) expect(l *link) {
	m := c.machine.lock()
	defer c.machine.unlock()
	if l.limit > 0 && l.studies == len(m.order) {
		return
	}
	l.limit = max(l.limit, wire.ShortMessage)
	for _, digest := range m.order[l.studies:] {
		if r, ok := m.find(digest); ok && r.Site(l.site) >= 0 {
			l.limit = max(l.limit, r.Limit())
		}
	}
	l.studies = len(m.order)
	if l.meter != nil {
		l.meter.Expect(l.limit)
	}
}

// accepted gives back to the connection what a message of so many bytes took.
func (l *link) accepted(bytes int) {
	if l.meter != nil {
		l.meter.Accepted(bytes)
	}
}
