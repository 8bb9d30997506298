package coordinator

import (
	"covey/internal/membership"
	"covey/internal/pki"
)

// SitesReply lists sites.
type SitesReply struct {
	Sites   []ListedSite        `json:"sites"`
	Invited []membership.Invite `json:"invited"`
}

// ListedSite is a site as listed.
type ListedSite struct {
	membership.Holder
	Fingerprint string         `json:"fingerprint"`
	Connected   bool           `json:"connected"`
	Datasets    map[string]int `json:"datasets,omitempty"` // units by name
	// KeyExchange is that of the site's link.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
}

// AnalystsReply lists analysts.
type AnalystsReply struct {
	Analysts []ListedAnalyst     `json:"analysts"`
	Invited  []membership.Invite `json:"invited"`
}

// ListedAnalyst is an analyst as listed.
type ListedAnalyst struct {
	membership.Holder
	Fingerprint string `json:"fingerprint"`
	Open        int    `json:"open"` // proposals of its own that are not over
	// KeyExchange is that of the last command's connection that this leader has seen.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
}

// Sites lists the sites that have joined, and the unused join files.
func (c *Coordinator) Sites() SitesReply {
	sites, invited := c.machine.Holders(pki.RoleSite)
	out := SitesReply{Sites: []ListedSite{}, Invited: append([]membership.Invite{}, invited...)}
	m := c.machine.lock()
	defer c.machine.unlock()
	for _, s := range sites {
		listed := ListedSite{Holder: s, Fingerprint: pki.Fingerprint([]byte(s.Identity))}
		if l := m.links[s.Name]; l != nil {
			listed.Connected, listed.Datasets, listed.KeyExchange = true, l.units, l.exchange
		}
		out.Sites = append(out.Sites, listed)
	}
	return out
}

// Analysts lists the analysts who have joined, and the unused join files.
func (c *Coordinator) Analysts() AnalystsReply {
	analysts, invited := c.machine.Holders(pki.RoleAnalyst)
	out := AnalystsReply{Analysts: []ListedAnalyst{}, Invited: append([]membership.Invite{}, invited...)}
	for _, a := range analysts {
		out.Analysts = append(out.Analysts, ListedAnalyst{Holder: a, Fingerprint: pki.Fingerprint([]byte(a.Identity)), Open: len(c.AwaitedOf(pki.RoleAnalyst, a.Name))})
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	for i, a := range out.Analysts {
		out.Analysts[i].KeyExchange = m.sightings[a.Name].KeyExchange
	}
	return out
}
