package coordinator

import (
	"crypto/ed25519"
	"slices"
	"time"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// Overview is what this coordinator knows at a moment, for people who watch. A
// coordinator that follows has it from the log; links, deadlines and who is awaited are the
// leader's alone. Nothing in it is un-noised.
type Overview struct {
	Leading    bool         `json:"leading"`
	Studies    []View       `json:"studies"` // the newest first
	Sites      []SiteStatus `json:"sites"`   // by name
	Happenings []Happening  `json:"happenings"`
	// Key and CA are fingerprints: of the key that signs results, and of the CA certificate.
	Key string `json:"key"`
	CA  string `json:"ca"`
	// Expires is the end of this coordinator's own certificate.
	Expires time.Time `json:"expires"`
	// QuantumSafe reports whether this coordinator demands quantum-safe links, Refused how many
	// callers offered none since this process began.
	QuantumSafe bool `json:"quantum_safe_links,omitempty"`
	Refused     int  `json:"links_refused,omitempty"`
}

// SiteStatus is a site, whatever studies it is in.
type SiteStatus struct {
	Name        string    `json:"name"`
	Fingerprint string    `json:"fingerprint"`
	Joined      time.Time `json:"joined"`
	Revoked     bool      `json:"revoked,omitempty"`
	Connected   bool      `json:"connected"`
	Late        bool      `json:"late"` // awaited by a study past its deadline
	Sighting
}

// Overview returns it, with at most most happenings, the newest first.
func (c *Coordinator) Overview(most int) Overview {
	sites, _ := c.machine.Holders(pki.RoleSite)
	key := c.authority.SigningKey().Public().(ed25519.PublicKey)
	o := Overview{
		Studies: []View{}, Sites: []SiteStatus{}, Key: pki.Fingerprint(key), CA: c.authority.Fingerprint(),
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
		o.Sites = append(o.Sites, SiteStatus{
			Name: s.Name, Fingerprint: pki.Fingerprint([]byte(s.Identity)), Joined: s.Joined, Revoked: s.Revoked,
			Connected: m.links[s.Name] != nil, Late: late[s.Name], Sighting: m.sightings[s.Name],
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

// Story is one study so far.
type Story struct {
	View
	Plan   *study.Plan
	Rounds []round.View // released, in order
	// Method is decided, X in force: the components after the last step.
	Method string
	X      []float64
}

// Story returns a study's; false if there is none. One that is over is read from the disk.
func (c *Coordinator) Story(digest proposal.Digest) (Story, bool) {
	m := c.machine.lock()
	r, ok := m.find(digest)
	if !ok {
		c.machine.unlock()
		return Story{}, false
	}
	s := Story{View: m.view(r)}
	var durable round.Durable
	if r.State != nil {
		s.Plan, durable = r.State.Plan(), r.State.Durable // what it holds never changes
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
			return Story{}, false
		}
		s.Plan, durable = state.Plan(), state.Durable
	}
	s.Method, s.X = durable.Method, durable.X
	s.Rounds = c.rounds.Of(digest, s.Plan, durable.Releases)
	for i := range s.Rounds {
		s.Rounds[i].At = times[s.Rounds[i].Query]
	}
	return s, true
}
