package coordinator

import (
	"errors"
	"slices"

	"covey/internal/frame"
	"covey/internal/round"
	"covey/internal/study"
)

// tag names a study in a hello.
type tag [frame.TagBytes]byte

// known is which studies a site's ledger holds, as its hello says. The zero value is of one that
// names none and does not claim that it named all.
type known struct {
	open, over map[tag]bool // over: not told of again
	all        bool         // open holds all that are open there
}

var errKnown = errors.New("link: the hello's studies do not parse")

func newKnown(open []byte, all bool, over []byte) (k known, err error) {
	if k.open, err = tags(open); err == nil {
		k.over, err = tags(over)
	}
	k.all = all
	return k, err
}

func tags(raw []byte) (map[tag]bool, error) {
	if len(raw)%frame.TagBytes != 0 || len(raw) > baseMessage {
		return nil, errKnown
	}
	out := make(map[tag]bool, len(raw)/frame.TagBytes)
	for t := range slices.Chunk(raw, frame.TagBytes) {
		out[tag(t)] = true
	}
	return out, nil
}

// misses reports whether a site has to hear of a study that is over.
func (k known) misses(digest study.Digest, state *round.State) bool {
	t := tag(digest[:frame.TagBytes])
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
	return len(state.Releases) > 0
}

// greet tells the site of a new link how its studies stand: every one under way, and of those that
// are over the ones that it misses. Called with the machine's lock held.
func (c *Coordinator) greet(l *link) {
	l.untold = make([]bool, len(c.machine.order))
	c.each(l.site, func(at int, digest study.Digest, state *round.State, site int) {
		if state.Terminal() && !l.known.misses(digest, state) {
			l.untold[at] = true
			return
		}
		c.step(digest, state, round.Connected{Site: site})
	})
}

// tellEnd is for a site that says something about a study which is over: it has not heard so,
// though it did not name the study when the link began. Once a link. Called with the machine's lock
// held.
func (c *Coordinator) tellEnd(l *link, digest study.Digest, state *round.State, site int) {
	if !state.Terminal() {
		return
	}
	if at := slices.Index(c.machine.order, digest); at >= 0 && at < len(l.untold) && l.untold[at] {
		l.untold[at] = false
		c.step(digest, state, round.Connected{Site: site})
	}
}
