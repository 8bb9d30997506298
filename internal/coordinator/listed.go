package coordinator

import (
	"covey/internal/membership"
	"covey/internal/outline"
	"covey/internal/pki"
)

// Sites lists the sites that have joined, and the unused join files.
func (c *Coordinator) Sites() outline.SitesReply {
	sites, invited := c.machine.holders(pki.RoleSite)
	out := outline.SitesReply{Sites: []outline.ListedSite{}, Invited: append([]membership.Invite{}, invited...)}
	m := c.machine.lock()
	defer c.machine.unlock()
	out.Chain = m.chain.Head()
	for _, s := range sites {
		listed := outline.ListedSite{Holder: s, Fingerprint: pki.Fingerprint([]byte(s.Identity)), Expires: m.sightings[s.Name].Expires}
		if l := m.links[s.Name]; l != nil {
			listed.Connected, listed.Datasets, listed.KeyExchange, listed.BrokenChain = true, l.units, l.exchange, m.astray(l)
			if listed.BrokenChain { // its operator is to read the head that is printed here
				m.show(l)
			}
		} else {
			listed.Refused = c.door.Said(s.Name)
		}
		out.Sites = append(out.Sites, listed)
	}
	return out
}

// Analysts lists the analysts who have joined, and the unused join files.
func (c *Coordinator) Analysts() outline.AnalystsReply {
	analysts, invited := c.machine.holders(pki.RoleAnalyst)
	out := outline.AnalystsReply{Analysts: []outline.ListedAnalyst{}, Invited: append([]membership.Invite{}, invited...)}
	for _, a := range analysts {
		out.Analysts = append(out.Analysts, outline.ListedAnalyst{Holder: a, Fingerprint: pki.Fingerprint([]byte(a.Identity)), Open: len(c.AwaitedOf(pki.RoleAnalyst, a.Name))})
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	for i, a := range out.Analysts {
		out.Analysts[i].KeyExchange = m.sightings[a.Name].KeyExchange
	}
	return out
}
