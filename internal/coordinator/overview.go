package coordinator

import (
	"crypto/ed25519"
	"slices"
	"time"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
)

// Overview returns it, with at most most happenings, the newest first.
func (c *Coordinator) Overview(most int) outline.Overview {
	sites, _ := c.machine.holders(pki.RoleSite)
	key := c.authority.SigningKey().Public().(ed25519.PublicKey)
	o := outline.Overview{
		Studies: []outline.View{}, Sites: []outline.SiteStatus{}, Key: pki.Fingerprint(key), CA: c.authority.Fingerprint(),
		Expires: c.authority.ServerCertificate().NotAfter, QuantumSafe: c.quantumSafe, Refused: c.refused.Count(),
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	o.Leading = m.leading
	late := map[string]bool{}
	for _, r := range m.all {
		v := m.view(r)
		if v.Overdue {
			for _, name := range v.Waiting {
				late[name] = true
			}
		}
		o.Studies = append(o.Studies, v)
	}
	slices.Reverse(o.Studies)
	for _, s := range sites {
		refused := ""
		if m.links[s.Name] == nil {
			refused = c.door.Said(s.Name)
		}
		o.Sites = append(o.Sites, outline.SiteStatus{
			Name: s.Name, Fingerprint: pki.Fingerprint([]byte(s.Identity)), Joined: s.Joined, Revoked: s.Revoked,
			Connected: m.links[s.Name] != nil, Late: late[s.Name], BrokenChain: m.astray(m.links[s.Name]), Refused: refused, Sighting: m.sightings[s.Name],
		})
	}
	o.Happenings = outline.Latest(m.journal, m.seen, most)
	return o
}

// Changed is closed at the next change that this coordinator notices as the leader.
func (c *Coordinator) Changed() <-chan struct{} {
	m := c.machine.lock()
	defer c.machine.unlock()
	return m.changed
}

// Story returns a study's story; false if there is none. One that is over is read from the disk.
func (c *Coordinator) Story(digest proposal.Digest) (outline.Story, bool) {
	m := c.machine.lock()
	r, ok := m.find(digest)
	if !ok {
		c.machine.unlock()
		return outline.Story{}, false
	}
	s, released := outline.Story{View: m.view(r)}, r.Releases()
	var durable round.Durable
	var releases func(func(round.Released) error) error
	if r.State != nil {
		s.Plan, durable = r.State.Plan(), r.State.Durable // what it holds never changes
		releases = listed(durable.Releases)
	}
	times := map[int]time.Time{}
	for _, h := range m.journal {
		if h.Study == digest && h.Kind == string(round.EntryReleased) {
			times[h.Query] = h.At
		}
	}
	c.machine.unlock()
	if r.Closed != nil {
		state, _, err := r.Closed.Load()
		if err != nil {
			c.log.Error("a study that is over cannot be read again", "study", digest, "error", err)
			return outline.Story{}, false
		}
		s.Plan, durable, releases = state.Plan(), state.Durable, r.Closed.Releases
	}
	s.Method, s.X = durable.Method, durable.X
	rounds, err := c.rounds.Of(s.Plan, released, r.Closed != nil, releases)
	if err != nil {
		c.log.Error("the releases of a study that is over cannot be read again", "study", digest, "error", err)
		return outline.Story{}, false
	}
	s.Rounds = rounds
	for i := range s.Rounds {
		s.Rounds[i].At = times[s.Rounds[i].Query]
	}
	return s, true
}
