package round

// live is what the leader has seen. It belongs to Step alone. A field that names a status is used
// in that status alone.
type live struct {
	leading   bool
	proposing bool   // an entry is on its way to the log
	links     []link // by site
	graph     Graph  // nil until it is drawn, and where it is the complete one

	expiry   expiry  // StatusProposed
	setup    setup   // StatusSetup
	slot     slot    // StatusRunning
	recalled []bool  // StatusRunning, by site: its tags and deposits are here, as the log's hashes name them
	resting  bool    // StatusRunning: the pause before some sites are asked again is set
	signing  signing // StatusSigning
}

// reset forgets all. A node does when it begins or ends to lead.
func (l *live) reset(sites int) {
	*l = live{links: make([]link, sites), recalled: make([]bool, sites), setup: newSetup(sites), signing: newSigning(sites)}
	l.resetSlot(sites)
}

// resetSlot forgets the slot before.
func (l *live) resetSlot(sites int) {
	l.slot = newSlot(sites)
	for i := range l.links {
		l.links[i].lacks, l.links[i].caught = 0, 0
	}
}

// link is what the leader knows about a site's current link, or that it has none.
type link struct {
	connected bool
	barred    bool      // no link of the roster's key can come any more
	asked     asked     // what it was already asked
	left      departure // what the site refused with
	missed    int       // deadlines for uploads that passed in a row without the site's
	told      bool      // that the study goes on without it: not again before its next upload
	// 1 + the release that the site lacks and is told with the next prompts; 0 for none
	lacks int
	// how many releases, from the first on, the site was told in the open slot because it lacked
	// them
	caught int
}

// gone reports whether a site is barred, or said no on its link and was not asked again since.
func (k *link) gone() bool { return k.barred || k.left.code != "" && !k.left.again }

// patience is how many deadlines in a row queries wait for a site that has no link. Then they go on
// without it, if they can, until it is back: a site that is gone for good would otherwise delay
// every query of a long study until its deadline.
const patience = 5

// absent reports whether a site is not waited for because it has been away for so long.
func (k *link) absent() bool { return !k.connected && k.missed >= patience }

// pardon forgets what sites refused with.
func (l *live) pardon() {
	for i := range l.links {
		l.links[i].left = departure{}
	}
}

// askAgain forgets that links were asked.
func (l *live) askAgain(kind ask) {
	for i := range l.links {
		l.links[i].asked[kind] = 0
	}
}

func (e Led) observe(s *State) {
	l := &s.live
	l.reset(s.plan.Thresholds.Sites)
	l.leading, l.graph = true, e.Graph
	for _, i := range e.Connected {
		l.links[i].connected = true
	}
	for _, i := range e.Barred {
		l.links[i].barred = true
	}
}

func (Followed) observe(s *State) { s.live.reset(s.plan.Thresholds.Sites) }

func (e Connected) observe(s *State) {
	k := &s.live.links[e.Site]
	*k = link{connected: true, barred: k.barred, missed: k.missed, told: k.told}
}

func (e Disconnected) observe(s *State) { s.live.links[e.Site].connected = false }

func (e Barred) observe(s *State) { s.live.links[e.Site].barred = true }

func (ProposeFailed) observe(s *State) {
	l := &s.live
	l.proposing, l.signing.drafting = false, false
	l.askAgain(askDecision)     // all others are proposed by what is noted here
	l.askAgain(askAnnouncement) // a withdrawal answers this one as well
}
