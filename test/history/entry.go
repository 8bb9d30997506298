package history

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"

	"covey/internal/failpoint"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
)

// entry is what is kept of one command about a study.
type entry struct {
	study       proposal.Digest
	kind        round.EntryKind
	query, slot int
	next        int // of a release: the query that follows
	survivors   []int
	certificate [][]byte
	code        study.Code
	rejected    bool
	released    [32]byte // hash of the signed bytes
	draft       [32]byte // hash
}

// place is a slot of a query.
type place struct{ query, slot int }

// run is one study as the history shows it.
type run struct {
	plan  *study.Plan
	index map[string]int // roster index by the agent's data folder
	sites []*Site        // by roster index; nil for one that the truth does not know

	// What the log decided. Of several things committed about one place the first
	// counts: the machine refuses the others.
	proposed       bool
	ended          bool
	code           study.Code
	survivors      map[place][][]int
	certificates   map[place][][][]byte
	committed      map[int][][32]byte // by query: signed bytes
	sets, openings int
	drafts         [][32]byte // hashes
	attested       bool

	// What was released, committed or not.
	releases map[int][32]byte      // by query: the first signed bytes met
	noised   map[noised][32]byte   // values
	steps    map[int]study.Course  // by query: where the study stood before it
	finals   map[int]study.Release // by query: of the first signed bytes met
	last     map[int]bool          // queries after whose release nothing is left to ask

	// What the sites were asked and answered, until the query's release is committed.
	masks   *setup // nil before any site was shown announcements
	asks    map[place]study.Ask
	uploads map[place]map[int][]byte
	shares  map[place]map[int][]byte
	keys    map[place]map[int][]byte // of pairs
	proofs  map[place]map[int][][]byte
	sums    map[int]*sums

	// What must not change.
	sent   map[said][32]byte
	slotOf map[int]map[int]int // by site, slot: the query of its upload
	signed map[siteAt][32]byte
	opened map[siteAt][32]byte
	about  map[siteAt][32]byte // by site, query: what its shares are of
	// by site
	confirmed, closed map[int]bool
	kinds             map[siteAt][]kinds
	hashes            map[[32]byte][]int // U by H(U)
	slots             map[int]bool
}

type noised struct {
	place
	survivors, removed string
}

// siteAt is a site and a slot or query.
type siteAt struct{ site, at int }

// said is a message that is the same every time.
type said struct {
	site   int
	kind   string
	a, b   int
	header [32]byte
}

// kinds are the secrets of one dealer of which a site sent its shares in a slot.
type kinds struct{ self, pair bool }

func (s *run) completed() bool {
	for q := range s.last {
		if s.committed[q] != nil {
			return s.attested
		}
	}
	return false
}

func (s *run) over() bool { return s.ended || s.completed() }

// logged takes a passage of a coordinator's log.
func (c *Checker) logged(e failpoint.Event) {
	if !slices.Contains(c.truth.Coordinators, e.Owner) {
		c.fail(Readable, nil, -1, -1, "a log of no known coordinator")
		return
	}
	l := line{index: e.Slot, hash: hashOf(e.Data)}
	known, ok := c.entries[l.hash]
	if !ok {
		known = c.read(e.Data)
		c.entries[l.hash] = known
	}
	l.entry = known
	if e.Phase == failpoint.Before {
		c.logs.begin(e.Owner, l)
		return
	}
	c.store(e.Owner, l)
}

// store makes a write durable, and acts on what that commits.
func (c *Checker) store(owner string, l line) {
	if c.logs.store(owner, l) && l.entry != nil {
		c.commit(l.entry)
	}
}

// read takes a command that was not met before: what it says is judged whether
// it is ever committed or not. It gives nil for one that is not about a study.
func (c *Checker) read(data []byte) *entry {
	c.search("a log entry", data, everything)
	var command struct {
		Round *round.Entry `json:"round"`
	}
	if err := json.Unmarshal(data, &command); err != nil {
		c.fail(Readable, nil, -1, -1, "a log entry that is no JSON")
		return nil
	}
	e := command.Round
	if e == nil {
		return nil
	}
	out := &entry{study: e.Study, kind: e.Kind, query: e.Query, slot: e.Slot, survivors: e.Survivors,
		certificate: e.Certificate, code: e.Code, rejected: e.Verdict == study.VerdictRejected}
	s := c.studies[e.Study]
	if e.Kind == round.EntryProposed && s == nil {
		var err error
		if s, err = c.newRun(e.Body); err != nil || s.plan.Digest != e.Study {
			c.fail(Readable, nil, -1, -1, "a proposal that makes no plan, or is another study's")
			return nil
		}
		c.studies[e.Study] = s
	}
	if s == nil {
		c.fail(Readable, nil, e.Query, e.Slot, "entry %q of a study that nobody proposed", e.Kind)
		return nil
	}
	switch e.Kind {
	case round.EntryPrepared:
		c.announced(s, e.Announcements)
		if s.plan.Thresholds.Sparse() {
			c.drawn(s, e.Nonces)
		}
		c.prepared(s, e)
	case round.EntrySurvivors:
		s.hashes[secagg.Survivors(e.Survivors).Hash()] = e.Survivors
		c.followTotal(s, e.Query, e.Survivors)
	case round.EntryOpening:
		if s.waits() { // all uploads are in
			c.followTotal(s, e.Query, s.all())
		}
	case round.EntryDrafted:
		out.draft = hashOf(e.Draft)
	case round.EntryReleased:
		if e.Released == nil {
			c.fail(Readable, s, e.Query, e.Slot, "a release without its value")
			return nil
		}
		out.released = hashOf(e.Released.Encoded, e.Released.Signature)
		if e.Course != nil {
			out.next = e.Course.Query
		}
		c.release(s, e)
	}
	return out
}

func (c *Checker) newRun(body []byte) (*run, error) {
	plan, err := study.NewPlan(body)
	if err != nil {
		return nil, err
	}
	s := &run{
		plan: plan, index: map[string]int{}, sites: make([]*Site, len(plan.Proposal.Roster)),
		survivors: map[place][][]int{}, certificates: map[place][][][]byte{}, committed: map[int][][32]byte{},
		releases: map[int][32]byte{}, noised: map[noised][32]byte{}, steps: map[int]study.Course{0: plan.Start()}, finals: map[int]study.Release{}, last: map[int]bool{},
		asks: map[place]study.Ask{}, uploads: map[place]map[int][]byte{},
		shares: map[place]map[int][]byte{}, keys: map[place]map[int][]byte{}, proofs: map[place]map[int][][]byte{}, sums: map[int]*sums{}, sent: map[said][32]byte{}, slotOf: map[int]map[int]int{},
		signed: map[siteAt][32]byte{}, opened: map[siteAt][32]byte{}, about: map[siteAt][32]byte{}, confirmed: map[int]bool{}, closed: map[int]bool{}, kinds: map[siteAt][]kinds{},
		hashes: map[[32]byte][]int{}, slots: map[int]bool{},
	}
	for owner, site := range c.truth.Sites {
		if i := slices.IndexFunc(plan.Proposal.Roster, func(m proposal.Member) bool { return m.Name == site.Name }); i >= 0 {
			s.index[owner], s.sites[i] = i, &site
		}
	}
	return s, nil
}

// commit acts on an entry that a quorum holds.
func (c *Checker) commit(e *entry) {
	s := c.studies[e.study]
	at := place{e.query, e.slot}
	again := c.logs.rewound // then what was committed before may be lost, and count no more
	c.report.Entries++
	if e.kind == round.EntryProposed {
		s.proposed = true
		return
	}
	if s.over() && !again {
		return
	}
	switch e.kind {
	case round.EntryDecided:
		if e.rejected {
			s.end(e.code)
		}
	case round.EntryEnded:
		s.end(e.code)
		if e.code == "" {
			c.fail(HonestEnd, s, -1, -1, "the study ended without a code")
		}
	case round.EntryPrepared:
		if s.waits() {
			s.decide(place{s.plan.Start().Query, 0}, s.all(), again)
		}
	case round.EntrySurvivors:
		s.decide(at, e.survivors, again)
	case round.EntryOpening:
		if known := s.certificates[at]; !slices.ContainsFunc(known, func(v [][]byte) bool { return sameList(v, e.certificate) }) && (again || known == nil) {
			s.certificates[at] = append(known, e.certificate)
			if known == nil {
				s.openings++
			}
		}
	case round.EntryDrafted:
		if !slices.Contains(s.drafts, e.draft) && (again || s.drafts == nil) {
			s.drafts = append(s.drafts, e.draft)
		}
	case round.EntryAttested:
		s.attested = s.drafts != nil
	case round.EntryReleased:
		// two are one-release's
		if known := s.committed[e.query]; !slices.Contains(known, e.released) {
			s.committed[e.query] = append(known, e.released)
			s.forget(e.query)
		}
		if s.waits() && e.next < len(s.plan.Queries) {
			s.decide(place{e.next, e.slot + 1}, s.all(), again)
		}
	}
}

// decide notes a survivor set of a slot that a quorum holds.
func (s *run) decide(at place, u []int, again bool) {
	if known := s.survivors[at]; !slices.ContainsFunc(known, func(v []int) bool { return slices.Equal(u, v) }) && (again || known == nil) {
		s.survivors[at] = append(known, u)
		s.sets++
	}
}

// waits reports whether every sum is over all sites, so that what opens a slot decides its
// survivors.
func (s *run) waits() bool { return s.plan.Proposal.Spec.Waits() }

// all are the sites of the roster.
func (s *run) all() []int {
	all := make([]int, len(s.sites))
	for i := range all {
		all[i] = i
	}
	return all
}

func (s *run) end(code study.Code) { s.ended, s.code = true, code }

// forget drops what is needed no more once a query's release is committed.
func (s *run) forget(query int) {
	for at := range s.uploads {
		if at.query <= query {
			delete(s.uploads, at)
		}
	}
	for at := range s.shares {
		if at.query <= query {
			delete(s.shares, at)
			delete(s.keys, at)
			delete(s.proofs, at)
		}
	}
	for q := range s.sums {
		if q <= query {
			delete(s.sums, q)
		}
	}
}

// release judges a release the first time it is met in a log: committed or not,
// its bytes are out of the leader's memory.
func (c *Checker) release(s *run, e *round.Entry) {
	r, err := study.ParseRelease(e.Released.Encoded)
	if err == nil && s.opensOtherwise(r) {
		// Nothing can have followed from what was not committed.
		delete(s.releases, r.Query)
		delete(s.finals, r.Query)
		delete(s.last, r.Query)
		maps.DeleteFunc(s.steps, func(query int, _ study.Course) bool { return query > r.Query })
	}
	fresh := c.oneRelease(s, e.Query, "a log entry", e.Released.Encoded, e.Released.Signature)
	if err != nil || r.Query < 0 || r.Query >= len(s.plan.Queries) {
		c.fail(Readable, s, e.Query, e.Slot, "a release that does not read")
		return
	}
	if r.Study != s.plan.Digest || r.Query != e.Query {
		c.fail(OneRelease, s, e.Query, e.Slot, "the entry holds the release of another query")
		return
	}
	values := hashOf(encodeInts(r.Noised))
	key := noised{place{r.Query, r.Slot}, string(secagg.Survivors(r.Survivors).Bytes()), string(secagg.Survivors(r.Removed).Bytes())}
	if old, ok := s.noised[key]; ok && old != values {
		c.fail(OneRelease, s, r.Query, r.Slot, "the noise of one sum was drawn twice")
	}
	s.noised[key] = values
	if rho := s.plan.Queries[r.Query].Rho; e.Rho != rho || r.Rho != rho {
		c.fail(ChargeBeforeRelease, s, r.Query, r.Slot, "the entry charges %g and the release says %g, the plan %g", e.Rho, r.Rho, rho)
	}
	if !ed25519.Verify(ed25519.PublicKey(s.plan.Proposal.Coordinator), study.SigningInput(e.Released.Encoded), e.Released.Signature) {
		c.fail(OneRelease, s, r.Query, r.Slot, "the release's signature is wrong")
	}
	// else what it needs is forgotten, and one-release was said
	if fresh && s.committed[r.Query] == nil {
		c.rightSum(s, r)
	}
	c.nextStep(s, e, r)
}

// opensOtherwise reports whether a release has the same sum as the one before it, with another part
// of the survivors' own noise taken away. A leader takes away what the keys that reached it allow,
// so the next leader's release may differ as long as none is committed (docs/privacy.md): who has
// both knew the keys of what they differ by.
func (s *run) opensOtherwise(r study.Release) bool {
	before, ok := s.finals[r.Query]
	return ok && s.plan.Noise.Removes() && s.committed[r.Query] == nil && r.Slot == before.Slot &&
		slices.Equal(r.Survivors, before.Survivors) && !slices.Equal(r.Removed, before.Removed)
}

// oneRelease compares a query's signed bytes with those met before, and says whether
// they are new.
func (c *Checker) oneRelease(s *run, query int, where string, encoded, signature []byte) (fresh bool) {
	h := hashOf(encoded, signature)
	old, ok := s.releases[query]
	if !ok {
		s.releases[query] = h
		return true
	}
	if old != h {
		c.fail(OneRelease, s, query, -1, "%s holds other signed bytes than those met before", where)
	}
	return old != h
}

// nextStep checks that a release asked about what the one before it gave, and that the
// entry says what follows from it.
func (c *Checker) nextStep(s *run, e *round.Entry, r study.Release) {
	now, ok := s.steps[r.Query]
	if !ok {
		c.fail(NextStep, s, r.Query, r.Slot, "released before the query that it follows")
		return
	}
	if want, err := s.plan.NewAsk(now, r.Slot); err != nil || !sameQuestion(r.Ask(), want) {
		c.fail(NextStep, s, r.Query, r.Slot, "the release is about another x or radius than the one before it gave")
	}
	if _, ok := s.finals[r.Query]; !ok {
		s.finals[r.Query] = r
	}
	var earlier []study.Release
	for _, q := range slices.Sorted(maps.Keys(s.finals)) {
		if q < r.Query {
			earlier = append(earlier, s.finals[q])
		}
	}
	next, err := s.plan.Next(now, r, earlier)
	if err != nil {
		c.fail(NextStep, s, r.Query, r.Slot, "nothing follows from the release: %v", err)
		return
	}
	if e.Course == nil || e.Course.Query != next.Query || e.Course.End != next.End || e.Course.Method != next.Method ||
		!near(e.Course.X, next.X) || !near(e.Course.Center, next.Center) || !near(e.Course.Found, next.Found) || !near(e.Course.Scale, next.Scale) || !near(e.Course.Observed, next.Observed) || !near(e.Course.Deviations, next.Deviations) || !sameRadii(e.Course.Radii, next.Radii) {
		c.fail(NextStep, s, r.Query, r.Slot, "the entry's course does not follow from its release")
	}
	if next.Query == len(s.plan.Queries) {
		s.last[r.Query] = true
	}
	if _, ok := s.steps[next.Query]; !ok {
		s.steps[next.Query] = next
	}
}

// sameQuestion reports whether two asks of one query are about the same vectors and radius, after
// the same releases.
func sameQuestion(a, b study.Ask) bool {
	return a.History == b.History && near(a.X, b.X) && near(a.Center, b.Center) && near(a.Found, b.Found) && near(a.Scale, b.Scale) && near(a.Fill, b.Fill) && near(a.Deviations, b.Deviations) && near([]float64{a.Radius}, []float64{b.Radius})
}

func sameRadii(a, b map[study.Kind]float64) bool {
	return maps.EqualFunc(a, b, func(x, y float64) bool { return near([]float64{x}, []float64{y}) })
}

// near allows for the last bits of another processor's division.
func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*max(1, math.Abs(y)) })
}

// snapshot takes a coordinator's snapshot, or a piece of one on its way to another.
func (c *Checker) snapshot(e failpoint.Event) {
	if !slices.Contains(c.truth.Coordinators, e.Owner) {
		c.fail(Readable, nil, -1, -1, "a snapshot of no known coordinator")
		return
	}
	if e.Phase != failpoint.Before {
		return
	}
	c.report.Snapshots++
	h := hashOf(e.Data)
	if c.snapshots[h] {
		return
	}
	c.snapshots[h] = true
	c.search("a snapshot", e.Data, everything)
	var whole struct {
		Studies []round.Durable `json:"studies"`
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(e.Data, &whole); errors.As(err, &syntax) {
		return // a piece
	}
	for _, d := range whole.Studies {
		s := c.studies[proposal.DigestOf(d.Body)]
		if s == nil {
			c.fail(Readable, nil, -1, -1, "a snapshot of a study that nobody proposed")
			continue
		}
		for _, r := range d.Releases {
			query := -1
			if released, err := study.ParseRelease(r.Encoded); err == nil {
				query = released.Query
			}
			c.oneRelease(s, query, "a snapshot", r.Encoded, r.Signature)
			if !slices.Contains(s.committed[query], hashOf(r.Encoded, r.Signature)) {
				c.fail(ChargeBeforeRelease, s, query, -1, "a snapshot holds a release that is not durable on a quorum")
			}
		}
	}
}

func sameList(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }
