package history

import (
	"fmt"
	"slices"

	"covey/internal/failpoint"
	"covey/internal/secagg"
	"covey/internal/study"
)

// sent takes a message that an agent is about to send.
func (c *Checker) sent(e failpoint.Event) {
	site, ok := c.owner(e.Owner)
	if !ok {
		c.fail(Readable, nil, -1, -1, "a message of no known site")
		return
	}
	m, err := readSite(e.Data)
	if err != nil {
		c.fail(Readable, nil, -1, -1, "a site message that does not read")
		return
	}
	if m.kind == "hello" {
		return
	}
	s := c.studies[m.study]
	if s == nil {
		c.fail(Readable, nil, m.query, m.slot, "%q of a study that nobody proposed", m.kind)
		return
	}
	i, ok := s.index[site]
	if !ok {
		c.fail(Readable, s, m.query, m.slot, "%q of a site that is not in the roster", m.kind)
		return
	}
	need := func(point string, query, slot int) {
		if !c.journaled(site, point, s, query, slot) {
			c.fail(JournalBeforeReply, s, m.query, m.slot, "%s leaves before ledger.%s", m.kind, point)
		}
	}
	// An upload is the one message that holds a masked sum; nothing holds a bare one.
	kind := "a message of a site"
	if m.kind == "upload" {
		c.search(kind, e.Data, exact)
	} else {
		c.search(kind, e.Data, everything)
	}
	switch m.kind {
	case "decision":
		if m.approved {
			need("approve", -1, -1)
		}
	case "announcement":
		need("setup.announcement", -1, -1)
		c.same(s, said{site: i, kind: m.kind}, m.body)
	case "nonce":
		// The graph is drawn of it: whoever made an announcement after it could choose the graph.
		need("setup.announcements", -1, -1)
		c.same(s, said{site: i, kind: m.kind}, m.body)
	case "boxes":
		need("setup.boxes", -1, -1)
		c.same(s, said{site: i, kind: m.kind}, m.list...)
		c.dealt(s, i, m)
	case "confirmation":
		need("setup.confirmation", -1, -1)
		c.same(s, said{site: i, kind: m.kind}, append(slices.Clone(m.rest), m.body)...)
		if s.closed[i] {
			c.fail(OneEnd, s, -1, -1, "site %d confirms a setup whose boxes others can open", i)
		}
		s.confirmed[i] = true
		c.deposited(s, i, m)
	case "recalled":
		need("setup.confirmation", -1, -1)
		c.same(s, said{site: i, kind: m.kind}, m.rest...)
	case "upload":
		need("setup.confirmed", -1, -1)
		need("upload", m.query, m.slot)
		if !c.journaled(site, "charge", s, m.query, -1) {
			c.fail(ChargeBeforeUpload, s, m.query, m.slot, "the upload leaves before ledger.charge")
		}
		c.uploaded(s, i, m)
	case "signature":
		need("sign", m.query, m.slot)
		c.signedOnce(s, i, m)
	case "shares":
		need("shares", m.query, m.slot)
		c.shared(s, i, m)
	case "attestation":
		need("result", -1, -1)
		key, h := said{site: i, kind: m.kind}, hashOf(m.body)
		if old, ok := s.sent[key]; ok && old != h {
			c.fail(OneResult, s, -1, -1, "site %d signed two results", i)
		}
		s.sent[key] = h
	case "proof", "pairkeys":
		need("shares", m.query, m.slot)
		c.followed(s, i, m)
	case "refusal":
		if m.accuses {
			need("setup.closed", -1, -1)
			if s.confirmed[i] {
				c.fail(OneEnd, s, -1, -1, "site %d shows the keys of the setup, which it confirmed", i)
			}
			s.closed[i] = true
		}
		if len(m.body) > 0 {
			need("sign", m.query, m.slot)
			c.signedOnce(s, i, m)
		}
		if m.final != nil {
			c.oneRelease(s, m.query, "a refusal", m.final.encoded, m.final.signature)
		}
	}
}

// same compares a message with the site's first of the kind.
func (c *Checker) same(s *run, key said, parts ...[]byte) {
	h := hashOf(parts...)
	if old, ok := s.sent[key]; ok && old != h {
		query, slot := -1, -1
		if key.kind == "upload" || key.kind == "shares" {
			query, slot = key.a, key.b
		}
		c.fail(SameBytes, s, query, slot, "site %d sends another %s than before", key.site, key.kind)
		return
	}
	s.sent[key] = h
}

func (c *Checker) uploaded(s *run, site int, m message) {
	at := place{m.query, m.slot}
	key := said{site: site, kind: m.kind, a: m.query, b: m.slot}
	if _, again := s.sent[key]; !again {
		c.report.Uploads++
	}
	c.same(s, key, m.body)
	if s.slotOf[site] == nil {
		s.slotOf[site] = map[int]int{}
	}
	if old, ok := s.slotOf[site][m.slot]; ok && old != m.query {
		c.fail(OneQueryPerSlot, s, m.query, m.slot, "site %d used the slot for query %d", site, old)
	}
	s.slotOf[site][m.slot] = m.query
	s.slots[m.slot] = true
	c.leaks.masked(fmt.Sprintf("site %d's masked upload", site), m.body)
	if s.uploads[at] == nil {
		s.uploads[at] = map[int][]byte{}
	}
	if s.uploads[at][site] == nil && s.committed[m.query] == nil {
		s.uploads[at][site] = m.body
	}
	c.unmasked(s, site, m)
}

// unmasked compares an upload with the vector that it hides: two equal values have a
// chance of (lanes choose 2)·2^-2b, below 2^-46 at 512 lanes of 32 bits.
func (c *Checker) unmasked(s *run, site int, m message) {
	parts := s.sums[m.query]
	if parts == nil || parts.vector[site] == nil {
		return
	}
	v := make([]uint64, s.plan.Queries[m.query].Lanes)
	if secagg.SumPacked(v, m.body, s.plan.Bits) != nil {
		return
	}
	mask, equal := ^uint64(0)>>(64-s.plan.Bits), 0
	for k, x := range parts.vector[site] {
		if uint64(x)&mask == v[k] {
			equal++
		}
	}
	if equal >= 2 {
		c.fail(UnNoised, s, m.query, m.slot, "site %d's upload holds %d of its values unmasked", site, equal)
	}
}

// signedOnce compares a site's signature in a slot with its first: Ed25519 is deterministic, so
// another one signs another set or question.
func (c *Checker) signedOnce(s *run, site int, m message) {
	key, h := siteAt{site, m.slot}, hashOf(m.body)
	if old, ok := s.signed[key]; ok && old != h {
		c.fail(OneSetPerSlot, s, m.query, m.slot, "site %d signed two sets", site)
		return
	}
	s.signed[key] = h
}

// sharesHeader is what comes before the shares: two labels, transcript, slot, ctx, H(U)
// and the helper's index (docs/protocol.md).
const sharesHeader = len("covey secagg shares v2\x00") + len("covey secagg release v2\x00") + 32 + 4 + 32 + 32 + 2

func (c *Checker) shared(s *run, site int, m message) {
	at, n := place{m.query, m.slot}, len(s.sites)
	setup := s.setup()
	if setup == nil {
		c.fail(Readable, s, m.query, m.slot, "site %d sends shares before a setup", site)
		return
	}
	held := setup.Graph().Held(site)
	if n := len(m.body) - 32*len(held); n != sharesHeader && n != sharesHeader+32 { // a key of noise behind
		c.fail(Readable, s, m.query, m.slot, "site %d's shares are not %d bytes long", site, sharesHeader+32*len(held))
		return
	}
	header := hashOf(m.body[:sharesHeader])
	c.same(s, said{site: site, kind: m.kind, a: m.query, b: m.slot, header: header}, m.body)
	key := siteAt{site, m.query}
	if old, ok := s.opened[key]; ok && old != header {
		c.fail(OneOpeningPerQuery, s, m.query, m.slot, "site %d sends shares for a second slot or set", site)
	} else {
		s.opened[key] = header
	}
	s.about[key] = hashOf(m.body[len("covey secagg shares v2\x00"):sharesHeader])
	u, known := s.hashes[[32]byte(m.body[sharesHeader-34:sharesHeader-2])]
	if !known || !c.certified(s, at, u) {
		c.fail(OpeningBeforeShares, s, m.query, m.slot, "site %d sends shares for a set whose certificate is not durable on a quorum", site)
	}
	if known {
		in := siteAt{site, m.slot}
		if s.kinds[in] == nil {
			s.kinds[in] = make([]kinds, n)
		}
		for _, share := range held {
			j := share.Dealer
			k := &s.kinds[in][j]
			if secagg.Survivors(u).Contains(j) {
				k.self = true
			} else {
				k.pair = true
			}
			if k.self && k.pair {
				c.fail(OneKind, s, m.query, m.slot, "site %d sent shares of both secrets of site %d", site, j)
				break
			}
		}
	}
	if s.shares[at] == nil {
		s.shares[at] = map[int][]byte{}
	}
	if s.shares[at][site] == nil && s.committed[m.query] == nil {
		s.shares[at][site] = m.body
	}
}

// followed judges proofs and keys: they have the slot, context and set of the site's shares, and
// the keys come from a site inside and are those of all its pairs with sites outside.
func (c *Checker) followed(s *run, site int, m message) {
	at := place{m.query, m.slot}
	label := len("covey secagg keys v2\x00")
	if m.kind == "proof" {
		label = len("covey secagg proof v2\x00")
	}
	header := label + sharesHeader - len("covey secagg shares v2\x00")
	setup := s.setup()
	if setup == nil || len(m.body) < header {
		c.fail(Readable, s, m.query, m.slot, "site %d sends a short %s, or one before a setup", site, m.kind)
		return
	}
	if s.about[siteAt{site, m.query}] != hashOf(m.body[label:header]) {
		c.fail(OneOpeningPerQuery, s, m.query, m.slot, "site %d sends %s for another slot or set than its shares", site, m.kind)
		return
	}
	c.same(s, said{site: site, kind: m.kind, a: m.query, b: m.slot, header: hashOf(m.body[:min(header+2, len(m.body))])}, m.body)
	if m.kind == "proof" {
		if s.proofs[at] == nil {
			s.proofs[at] = map[int][][]byte{}
		}
		s.proofs[at][site] = append(s.proofs[at][site], m.body)
		return
	}
	u, known := s.hashes[[32]byte(m.body[header-34:header-2])]
	outside := 0
	for _, j := range setup.Graph().Neighbors(site) {
		if !secagg.Survivors(u).Contains(j) {
			outside++
		}
	}
	if !known || !secagg.Survivors(u).Contains(site) || len(m.body) != header+32*outside {
		c.fail(OneKind, s, m.query, m.slot, "site %d sends keys that are not those of its pairs with sites outside of the set", site)
	}
	if s.keys[at] == nil {
		s.keys[at] = map[int][]byte{}
	}
	s.keys[at][site] = m.body
}

// decided reports whether a survivor set is committed for a place, certified whether a
// certificate is too.
func (s *run) decided(at place, u []int) bool {
	return slices.ContainsFunc(s.survivors[at], func(v []int) bool { return slices.Equal(u, v) })
}

func (c *Checker) certified(s *run, at place, u []int) bool {
	return s.decided(at, u) && s.certificates[at] != nil
}

// received takes a message that an agent was sent.
func (c *Checker) received(e failpoint.Event) {
	site, ok := c.owner(e.Owner)
	if !ok {
		c.fail(Readable, nil, -1, -1, "a message to no known site")
		return
	}
	m, err := readCoordinator(e.Data)
	if err != nil {
		c.fail(Readable, nil, -1, -1, "a coordinator message that does not read")
		return
	}
	if m.kind == "head" { // of no study
		c.search("a message to a site", e.Data, everything)
		return
	}
	s := c.studies[m.study]
	if s == nil {
		c.fail(Readable, nil, m.query, m.slot, "%q of a study that nobody proposed", m.kind)
		return
	}
	if _, ok := s.index[site]; !ok {
		c.fail(Readable, s, m.query, m.slot, "%q to a site that is not in the roster", m.kind)
		return
	}
	m.ask = s.plan.Queries.Fill(m.ask)
	if m.kind == "query" && c.asked(s, m) {
		c.contributions(s, m.ask)
	}
	c.search("a message to a site", e.Data, everything)
	at := place{m.query, m.slot}
	switch m.kind {
	case "reveal":
		c.announced(s, m.list)
	case "deal":
		if s.plan.Thresholds.Sparse() {
			c.drawn(s, m.nonces)
		} else {
			c.announced(s, m.list)
		}
	case "release":
		s.hashes[secagg.Survivors(m.survivors).Hash()] = m.survivors
		if !s.decided(at, m.survivors) {
			c.fail(SurvivorsBeforeSignature, s, m.query, m.slot, "a signature is asked for before the set is durable on a quorum, or on another set")
		}
	case "prove", "keys":
		if !c.certified(s, at, m.survivors) {
			c.fail(OpeningBeforeShares, s, m.query, m.slot, "%s are asked for before this set's certificate is durable on a quorum", m.kind)
		}
	case "open":
		s.hashes[secagg.Survivors(m.survivors).Hash()] = m.survivors
		c.shown(s, at, m)
	case "final":
		c.told(s, m)
	case "attest":
		if !slices.Contains(s.drafts, hashOf(m.body)) {
			c.fail(OneResult, s, -1, -1, "a signature on a result is asked for before its draft is durable on a quorum, or on another")
		}
	case "ended":
		c.toldEnded(s, m)
	}
}

// asked judges a query as sites get it, and says whether it makes sense.
func (c *Checker) asked(s *run, m message) bool {
	a := m.ask
	if err := s.plan.Check(a); err != nil {
		c.fail(NextStep, s, m.query, m.slot, "%v", err)
		return false
	}
	at := place{a.Query, a.Slot}
	if old, ok := s.asks[at]; ok {
		if !sameAsk(old, a) {
			c.fail(OneQuestion, s, m.query, m.slot, "sites are asked two things in one slot")
		}
		return true
	}
	s.asks[at] = a
	if now, ok := s.steps[a.Query]; ok {
		if want, err := s.plan.NewAsk(now, a.Slot); err != nil || !sameQuestion(a, want) {
			c.fail(NextStep, s, m.query, m.slot, "x or radius does not follow from the release before")
		}
	}
	if !s.due(a.Query) {
		c.fail(ChargeBeforeRelease, s, m.query, m.slot, "asked before the release that it follows is durable on a quorum")
	}
	return true
}

// due reports whether the query is the first, or follows one whose release is committed.
func (s *run) due(query int) bool {
	if s.plan.Queries.Follows(-1, query) {
		return true
	}
	for q := range s.committed {
		if s.plan.Queries.Follows(q, query) {
			return true
		}
	}
	return false
}

func sameAsk(a, b study.Ask) bool {
	return a.Kind == b.Kind && a.Round == b.Round && a.History == b.History && slices.Equal(a.X, b.X) &&
		slices.Equal(a.Center, b.Center) && slices.Equal(a.Found, b.Found) && slices.Equal(a.Scale, b.Scale) && slices.Equal(a.Fill, b.Fill) && slices.Equal(a.Deviations, b.Deviations) &&
		a.Radius == b.Radius && a.Grid == b.Grid && a.Sigma == b.Sigma
}

// shown judges a certificate as sites are shown it.
func (c *Checker) shown(s *run, at place, m message) {
	equal := slices.ContainsFunc(s.certificates[at], func(v [][]byte) bool { return sameList(v, m.list) })
	if !equal || !s.decided(at, m.survivors) {
		c.fail(OpeningBeforeShares, s, m.query, m.slot, "shares are asked for before this set's certificate is durable on a quorum")
		return
	}
	setup, q, ok := s.query(at)
	if !ok {
		return // asked of a site alone that never got the query; right-sum needs it
	}
	key := said{kind: "certificate", a: m.query, b: m.slot, header: hashOf(m.list...)}
	if _, checked := s.sent[key]; checked {
		return
	}
	s.sent[key] = [32]byte{}
	if err := setup.CheckCertificate(q, m.survivors, m.list); err != nil {
		c.fail(OpeningBeforeShares, s, m.query, m.slot, "the certificate does not hold: %v", err)
	}
}

// told judges a result as sites get it.
func (c *Checker) told(s *run, m message) {
	if m.final == nil {
		return
	}
	c.search("a message to a site", m.final.encoded, everything)
	c.oneRelease(s, m.query, "a message to a site", m.final.encoded, m.final.signature)
	if !slices.Contains(s.committed[m.query], hashOf(m.final.encoded, m.final.signature)) {
		c.fail(ChargeBeforeRelease, s, m.query, m.slot, "the result reaches a site before it is durable on a quorum")
	}
}

func (c *Checker) toldEnded(s *run, m message) {
	switch {
	case m.code == study.CodeCompleted && !s.completed():
		c.fail(HonestEnd, s, -1, -1, "sites are told completed with %d of %d queries released", len(s.committed), len(s.plan.Queries))
	case m.code != study.CodeCompleted && !s.ended:
		c.fail(HonestEnd, s, -1, -1, "sites are told %q, but the log has no end", m.code)
	case m.code == "" || m.code == "unspecified":
		c.fail(HonestEnd, s, -1, -1, "sites are told an end without a code")
	}
}
