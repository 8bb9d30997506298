package coordinator

import (
	"crypto/ed25519"
	"encoding/json"
	"math"
	"slices"
	"sync"
	"time"

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
	sites, _ := c.machine.Sites()
	key := c.authority.SigningKey().Public().(ed25519.PublicKey)
	o := Overview{
		Studies: []View{}, Sites: []SiteStatus{}, Key: pki.Fingerprint(key), CA: c.authority.Fingerprint(),
		Expires: c.authority.ServerCertificate().NotAfter,
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	o.Leading = m.leading
	late := map[string]bool{}
	for _, d := range m.order {
		v := m.view(d, m.studies[d])
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
	o.Happenings = latest(m.journal, m.seen, most)
	return o
}

// latest returns the last most lines of two journals, the newest first: by time from one to the
// other, and each in its own order, which is the log's: the next leader's clock may be behind.
func latest(a, b journal, most int) []Happening {
	out := make([]Happening, 0, min(most, len(a)+len(b)))
	for len(out) < cap(out) {
		from := &a
		if len(a) == 0 || len(b) > 0 && !a[len(a)-1].At.After(b[len(b)-1].At) {
			from = &b
		}
		last := len(*from) - 1
		out = append(out, (*from)[last])
		*from = (*from)[:last]
	}
	return out
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
	Rounds []RoundView // released, in order
	// Method is decided, X in force: the components after the last step.
	Method string
	X      []float64
}

// RoundView is a released query as shown: of its values, the noise-to-signal and an angle.
type RoundView struct {
	Query, Round, Run int
	Kind, Of          study.Kind
	Slot              int
	Retried           int       // slots of this query that were given up before
	Survivors         []int     // roster indices
	At                time.Time // of its commit; zero where the journal has forgotten it
	Rho               float64
	// NoiseToSignal and Turn are a power step's, else -1. Turn is the largest angle, in
	// degrees, of a vector of its block to the block of the step before; -1 for a run's first.
	NoiseToSignal, Turn float64
}

// Story returns a study's; false if there is none.
func (c *Coordinator) Story(digest proposal.Digest) (Story, bool) {
	m := c.machine.lock()
	state := m.studies[digest]
	if state == nil {
		c.machine.unlock()
		return Story{}, false
	}
	s := Story{View: m.view(digest, state), Plan: state.Plan(), Method: state.Method, X: state.X}
	releases := slices.Clone(state.Releases) // what they hold never changes
	times := map[int]time.Time{}
	for _, h := range m.journal {
		if h.Study == digest && h.Kind == string(round.EntryReleased) {
			times[h.Query] = h.At
		}
	}
	c.machine.unlock()
	s.Rounds = c.rounds.of(digest, s.Plan, releases)
	for i := range s.Rounds {
		s.Rounds[i].At = times[s.Rounds[i].Query]
	}
	return s, true
}

// roundCache reads each release once: the largest is of millions of numbers.
type roundCache struct {
	mu    sync.Mutex
	known map[proposal.Digest]*knownRounds
}

type knownRounds struct {
	rounds []RoundView
	last   []float64 // block of the last power step
}

// of returns a copy of a study's rounds. It runs outside of the machine's lock.
func (r *roundCache) of(digest proposal.Digest, p *study.Plan, releases []round.Released) []RoundView {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[proposal.Digest]*knownRounds{}
	}
	k := r.known[digest]
	if k == nil || len(k.rounds) > len(releases) { // an older snapshot was restored
		k = &knownRounds{}
		r.known[digest] = k
	}
	for _, raw := range releases[len(k.rounds):] {
		k.add(p, raw.Encoded)
	}
	return slices.Clone(k.rounds)
}

func (k *knownRounds) add(p *study.Plan, encoded []byte) {
	var head struct { // without the values
		Query     int        `json:"query"`
		Slot      int        `json:"slot"`
		Kind      study.Kind `json:"kind"`
		Round     int        `json:"round"`
		Survivors []int      `json:"survivors"`
		Rho       float64    `json:"rho"`
	}
	// We encoded it; a log that holds anything else has failed its checksum.
	_ = json.Unmarshal(encoded, &head)
	v := RoundView{Query: head.Query, Round: head.Round, Kind: head.Kind, Slot: head.Slot, Survivors: head.Survivors, Rho: head.Rho, NoiseToSignal: -1, Turn: -1}
	if head.Query >= 0 && head.Query < len(p.Queries) {
		v.Of, v.Run = p.Queries[head.Query].Of, p.Queries[head.Query].Run
	}
	v.Retried = head.Slot
	if n := len(k.rounds); n > 0 {
		v.Retried = head.Slot - k.rounds[n-1].Slot - 1
	}
	if head.Kind == study.KindPower {
		if r, err := study.ParseRelease(encoded); err == nil {
			v.NoiseToSignal = p.NoiseToSignal(r)
			if r.Round > 0 && len(k.last) == len(r.X) {
				v.Turn = turn(k.last, r.X, p.D)
			}
			k.last = r.X
		}
	}
	k.rounds = append(k.rounds, v)
}

// turn is the largest angle, in degrees, of a vector of block to the span of the step before's;
// both are orthonormal vectors of d. By the part outside of the span: its sine is exact where the
// angle is small.
func turn(before, block []float64, d int) float64 {
	largest := 0.0
	for at := 0; at+d <= len(block); at += d {
		rest := slices.Clone(block[at : at+d])
		for from := 0; from+d <= len(before); from += d {
			b, dot := before[from:from+d], 0.0
			for i := range rest {
				dot += rest[i] * b[i]
			}
			for i := range rest {
				rest[i] -= dot * b[i]
			}
		}
		square := 0.0
		for _, x := range rest {
			square += x * x
		}
		largest = max(largest, square)
	}
	return math.Asin(min(1, math.Sqrt(largest))) * 180 / math.Pi
}
