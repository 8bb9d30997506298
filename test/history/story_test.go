package history

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/failpoint"
	"covey/internal/noise"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	"covey/test/parties"
)

// story is a whole study of four sites and three coordinators as failpoints would see
// it, made with the protocol's real secrets, event by event under labels: a test moves,
// drops, changes and adds events.
type story struct {
	t       testing.TB
	moments []moment
	truth   Truth
	plan    *study.Plan
	key     ed25519.PrivateKey // the coordinator's
	members []*member
	index   int // of the next log entry
	setup   *secagg.Setup
	// released are what the story's queries gave.
	released []round.Entry
	asks     []study.Ask

	// vary changes what the story is made of, before it is made.
	vary variation
}

// variation is what a story can have otherwise. Nil fields change nothing.
type variation struct {
	coordinators int
	ask          func(*study.Ask)                       // what sites are asked
	upload       func(site int, a study.Ask, v []int64) // a site's vector before masking
	bare         bool                                   // uploads carry no masks
	noise        func(key [32]byte) [32]byte            // of the release
	entry        func(*round.Entry)                     // before it is logged
	certificate  func(secagg.Certificate)
	queries      int  // how many are worked off, if not all
	waits        bool // for every site
}

type moment struct {
	label string
	e     failpoint.Event
}

// member is one site.
type member struct {
	name, dir string
	index     int
	identity  ed25519.PrivateKey
	secrets   secagg.Secrets
	held      secagg.Held
}

const dims = 4

// survivorsOf the story's queries: all sites, then without the last.
var survivorsOf = []secagg.Survivors{{0, 1, 2, 3}, {0, 1, 2}}

// vectorOf is a site's exact sum: numbers over 2^20 that differ by site, query and place.
func vectorOf(site int, a study.Ask) []int64 {
	v := make([]int64, dims)
	for k := range v {
		v[k] = int64(1<<21 + site*1_000_003 + a.Query*70_001 + k*17_077)
		if k%2 == 1 {
			v[k] = -v[k]
		}
	}
	return v
}

func newStory(t testing.TB, vary variation) *story {
	t.Helper()
	if vary.coordinators == 0 {
		vary.coordinators = 3
	}
	st := &story{t: t, vary: vary, truth: Truth{Quorum: vary.coordinators/2 + 1, Sites: map[string]Site{}}}
	for i := range vary.coordinators {
		st.truth.Coordinators = append(st.truth.Coordinators, fmt.Sprintf("/c%d", i+1))
	}
	seed := sha256.Sum256([]byte("coordinator"))
	st.key = ed25519.NewKeyFromSeed(seed[:])
	var roster []proposal.Member
	for i := range 4 {
		seed := sha256.Sum256(fmt.Appendf(nil, "site %d", i))
		m := &member{name: fmt.Sprintf("site-%d", i), dir: fmt.Sprintf("/s%d", i), index: i, identity: ed25519.NewKeyFromSeed(seed[:])}
		st.members = append(st.members, m)
		roster = append(roster, proposal.Member{Name: m.name, Identity: proposal.Key(m.identity.Public().(ed25519.PublicKey)), Units: 1000 + i})
		st.truth.Sites[m.dir] = Site{Name: m.name, Sum: func(_ *study.Plan, _ int, a study.Ask) ([]int64, error) { return vectorOf(i, a), nil }}
	}
	spec := proposal.Spec{
		Name: "story", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Method: proposal.MethodPower, Center: proposal.CenterPublic, Rounds: 2, Radius: "3", SpareSlots: 1, ExplainedVariance: proposal.VarianceNone, OnDropout: proposal.DropoutContinue,
		Deadlines: proposal.Deadlines{Round: proposal.Duration(time.Minute), Tick: proposal.Duration(100 * time.Millisecond)},
		Columns:   []proposal.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}},
	}
	if vary.waits {
		spec.OnDropout, spec.SpareSlots = proposal.DropoutWait, 0
	}
	body, err := proposal.Propose(spec, roster, st.key.Public().(ed25519.PublicKey), [32]byte{1})
	st.must(err)
	st.plan, err = study.NewPlan(body)
	st.must(err)
	st.log(round.Entry{Kind: round.EntryProposed, Body: body})
	for _, m := range st.members {
		st.receive(m, "proposal", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Proposal{Proposal: &covey.Proposal{Body: body}}})
		st.journal(m, "approve", -1, -1)
		st.send(m, "decision", -1, -1, &covey.SiteMessage{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{
			Study: st.id(), Verdict: covey.Verdict_VERDICT_APPROVED}}})
		st.log(round.Entry{Kind: round.EntryDecided, Site: m.index, Verdict: study.VerdictApproved})
	}
	st.prepare()
	course := st.plan.Start()
	for q := range st.plan.Queries {
		if vary.queries > 0 && q == vary.queries {
			return st
		}
		course = st.query(course)
	}
	st.attest()
	for _, m := range st.members {
		st.receive(m, "ended", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Ended{Ended: &covey.Ended{
			Study: st.id(), Code: covey.Code_CODE_COMPLETED}}})
		st.journal(m, "finish", -1, -1)
	}
	return st
}

// attest has three sites sign a result.
func (st *story) attest() {
	draft := []byte("a draft")
	st.log(round.Entry{Kind: round.EntryDrafted, Draft: draft})
	signatures := make([][]byte, len(st.members))
	for i, m := range st.members[:3] {
		st.receive(m, "attest", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Attest{Attest: &covey.Attest{Study: st.id(), Draft: draft}}})
		st.journal(m, "result", -1, -1)
		signatures[i] = ed25519.Sign(m.identity, draft)
		st.attestation(m, signatures[i])
	}
	st.log(round.Entry{Kind: round.EntryAttested, Attestations: signatures})
}

func (st *story) attestation(m *member, signature []byte) {
	st.send(m, "attestation", -1, -1, &covey.SiteMessage{Body: &covey.SiteMessage_Attestation{Attestation: &covey.Attestation{Study: st.id(), Signature: signature}}})
}

func (st *story) must(err error) {
	if err != nil {
		st.t.Helper()
		st.t.Fatal(err)
	}
}

func (st *story) id() []byte { return st.plan.Digest[:] }

func (st *story) add(label string, e failpoint.Event) {
	st.moments = append(st.moments, moment{label, e})
}

// log stores an entry on every coordinator.
func (st *story) log(e round.Entry) {
	if e.Study == (proposal.Digest{}) {
		e.Study = st.plan.Digest
	}
	if st.vary.entry != nil {
		st.vary.entry(&e)
	}
	data, err := json.Marshal(map[string]any{"round": e})
	st.must(err)
	st.index++
	st.store(fmt.Sprintf("log/%s/%d/%d", e.Kind, e.Query, e.Slot), st.index, data, st.truth.Coordinators...)
}

func (st *story) store(label string, index int, data []byte, owners ...string) {
	for _, owner := range owners {
		for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
			st.add(fmt.Sprintf("%s%s/%s", label, owner, phase), failpoint.Event{
				Point: failpoint.Log, Phase: phase, Owner: owner, Query: -1, Slot: index, Data: data})
		}
	}
}

// journal writes to a site's ledger.
func (st *story) journal(m *member, point string, query, slot int) {
	for _, phase := range []failpoint.Phase{failpoint.Before, failpoint.After} {
		st.add(fmt.Sprintf("ledger.%s/%d/%d/s%d/%s", point, query, slot, m.index, phase), failpoint.Event{
			Point: failpoint.LedgerPrefix + point, Phase: phase, Owner: m.dir + "/ledger", Study: st.plan.Digest, Query: query, Slot: slot})
	}
}

func (st *story) send(m *member, kind string, query, slot int, message *covey.SiteMessage) {
	raw, err := proto.Marshal(message)
	st.must(err)
	st.add(fmt.Sprintf("send/%s/%d/%d/s%d", kind, query, slot, m.index), failpoint.Event{
		Point: failpoint.Send, Phase: failpoint.Before, Owner: m.dir, Query: -1, Slot: -1, Data: raw})
}

func (st *story) receive(m *member, kind string, query, slot int, message *covey.CoordinatorMessage) {
	raw, err := proto.Marshal(message)
	st.must(err)
	st.add(fmt.Sprintf("receive/%s/%d/%d/s%d", kind, query, slot, m.index), failpoint.Event{
		Point: failpoint.Receive, Phase: failpoint.After, Owner: m.dir, Query: -1, Slot: -1, Data: raw})
}

func (st *story) config() secagg.Config {
	p := st.plan
	c := secagg.Config{Study: p.Digest, Corrupt: p.Thresholds.Corrupt, Quorum: p.Thresholds.Quorum,
		MinSurvivors: p.Thresholds.MinSurvivors, Slots: p.Slots}
	for _, m := range p.Proposal.Roster {
		c.Identity = append(c.Identity, ed25519.PublicKey(m.Identity))
	}
	return c
}

// dealt is a setup's messages and what the sites hold after it. All stories have one proposal, or
// that one with waiting for all sites, so two setups are enough.
type dealt struct {
	*parties.Group
	inbox         [][][]byte
	confirmations [][]byte
}

var (
	dealing sync.Mutex
	deals   = map[bool]*dealt{}
)

func (st *story) deal() *dealt {
	dealing.Lock()
	defer dealing.Unlock()
	if d := deals[st.vary.waits]; d != nil {
		return d
	}
	d := &dealt{}
	var keys []ed25519.PrivateKey
	for _, m := range st.members {
		keys = append(keys, m.identity)
	}
	var err error
	d.Group, err = parties.New(st.config(), keys, nil)
	st.must(err)
	st.must(d.Hold())
	d.confirmations = d.Confirmations()
	for i := range st.members {
		boxes, _ := d.Received(i)
		d.inbox = append(d.inbox, boxes)
	}
	deals[st.vary.waits] = d
	return d
}

// prepare is the setup.
func (st *story) prepare() {
	d := st.deal()
	st.setup = d.Setup
	for i, m := range st.members {
		m.secrets, m.held = d.Secrets[i], d.Held[i]
		st.receive(m, "announce", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Announce{Announce: &covey.Announce{Study: st.id()}}})
		st.journal(m, "setup.announcement", -1, -1)
		st.send(m, "announcement", -1, -1, &covey.SiteMessage{Body: &covey.SiteMessage_Announcement{Announcement: &covey.Announcement{
			Study: st.id(), Signed: d.Announcements[i]}}})
	}
	for i, m := range st.members {
		st.receive(m, "deal", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Deal{Deal: &covey.Deal{
			Study: st.id(), Announcements: d.Announcements}}})
		st.journal(m, "setup.boxes", -1, -1)
		st.send(m, "boxes", -1, -1, &covey.SiteMessage{Body: &covey.SiteMessage_Boxes{Boxes: &covey.Boxes{Study: st.id(), Boxes: d.Dealt[i]}}})
	}
	for i, m := range st.members {
		st.receive(m, "confirm", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirm{Confirm: &covey.Confirm{
			Study: st.id(), Boxes: d.inbox[i]}}})
		st.journal(m, "setup.confirmation", -1, -1)
		st.send(m, "confirmation", -1, -1, &covey.SiteMessage{Body: &covey.SiteMessage_Confirmation{Confirmation: &covey.Confirmation{
			Study: st.id(), Signature: d.confirmations[i], Deposits: d.Taken[i].Deposits, Statement: d.Taken[i].Statement}}})
	}
	kept := d.Kept()
	st.log(round.Entry{Kind: round.EntryPrepared, Announcements: d.Announcements, Confirmations: d.confirmations, Tags: kept.Tags, Deposits: kept.Deposits})
	for _, m := range st.members {
		st.receive(m, "confirmed", -1, -1, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Confirmed{Confirmed: &covey.Confirmed{
			Study: st.id(), Signatures: d.confirmations}}})
		st.journal(m, "setup.confirmed", -1, -1)
	}
}

// secagg returns what secagg calls an ask.
func (st *story) secagg(a study.Ask) secagg.Query {
	return st.plan.Summed(st.setup.Transcript(), a)
}

// ring returns vectors' elements of Z_2^b.
func (st *story) ring(v []int64) []uint64 {
	out := make([]uint64, len(v))
	for i, x := range v {
		out[i] = uint64(x) << (64 - st.plan.Bits) >> (64 - st.plan.Bits)
	}
	return out
}

// masked is a site's upload.
func (st *story) masked(m *member, a study.Ask) []byte {
	vector := vectorOf(m.index, a)
	if st.vary.upload != nil {
		st.vary.upload(m.index, a, vector)
	}
	q := st.secagg(a)
	v := append(st.ring(vector), secagg.NoiseLanes(m.secrets.Slots[a.Slot], q.Context, q.Bits)...)
	if !st.vary.bare {
		st.must(st.setup.Mask(m.index, m.secrets.Slots[a.Slot], m.held[a.Slot], q, v))
	}
	return secagg.Pack(v, q.Bits)
}

func (st *story) askSite(m *member, a study.Ask) {
	st.receive(m, "query", a.Query, a.Slot, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Query{Query: &covey.Query{
		Study: st.id(), Query: uint32(a.Query), Slot: uint32(a.Slot), History: a.History[:],
		X: a.X, Radius: a.Radius, Grid: a.Grid, Sigma: uint64(a.Sigma)}}})
}

func (st *story) upload(m *member, a study.Ask, masked []byte) {
	st.send(m, "upload", a.Query, a.Slot, &covey.SiteMessage{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{
		Study: st.id(), Query: uint32(a.Query), Slot: uint32(a.Slot), Masked: masked}}})
}

func (st *story) sign(m *member, a study.Ask, u secagg.Survivors) []byte {
	signature, err := st.setup.SignRelease(m.index, m.identity, st.secagg(a), u)
	st.must(err)
	return signature
}

// certificate is all sites' signatures.
func (st *story) certificate(a study.Ask, u secagg.Survivors) secagg.Certificate {
	var out secagg.Certificate
	for _, m := range st.members {
		out = append(out, st.sign(m, a, u))
	}
	return out
}

func (st *story) sendShares(m *member, a study.Ask, u secagg.Survivors) {
	shares, err := st.setup.OpenShares(m.index, m.secrets.Slots[a.Slot], m.held[a.Slot], st.secagg(a), u, st.certificate(a, u))
	st.must(err)
	st.send(m, "shares", a.Query, a.Slot, &covey.SiteMessage{Body: &covey.SiteMessage_Shares{Shares: &covey.Shares{
		Study: st.id(), Query: uint32(a.Query), Slot: uint32(a.Slot), Shares: shares}}})
}

func (st *story) sendKeys(m *member, a study.Ask, u secagg.Survivors) {
	keys, err := st.setup.Keys(m.index, m.secrets.Slots[a.Slot], m.held[a.Slot], st.secagg(a), u)
	st.must(err)
	st.send(m, "pairkeys", a.Query, a.Slot, &covey.SiteMessage{Body: &covey.SiteMessage_PairKeys{PairKeys: &covey.PairKeys{
		Study: st.id(), Query: uint32(a.Query), Slot: uint32(a.Slot), Keys: keys}}})
}

func (st *story) sendProof(m *member, a study.Ask, u secagg.Survivors, dealer int) {
	proof, err := st.setup.Proof(m.index, dealer, st.secagg(a), u, st.deal().Taken[m.index].Public)
	st.must(err)
	st.send(m, fmt.Sprint("proof of ", dealer), a.Query, a.Slot, &covey.SiteMessage{Body: &covey.SiteMessage_Proof{Proof: &covey.Proof{
		Study: st.id(), Query: uint32(a.Query), Slot: uint32(a.Slot), Dealer: uint32(1 + dealer), Proof: proof}}})
}

// accuse has a site show the keys of its boxes.
func (st *story) accuse(m *member) {
	st.journal(m, "setup.closed", -1, -1)
	st.send(m, "accusation", -1, -1, &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{
		Study: st.id(), Code: covey.Code_CODE_BAD_SHARE, Culprit: 1, Evidence: []byte("keys and a box")}}})
}

func uints(v []int) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = uint32(x)
	}
	return out
}

// query is one query in the slot of its number. In the second the last site neither
// survives nor helps.
func (st *story) query(course study.Course) study.Course {
	q := course.Query
	a, err := st.plan.NewAsk(course, q)
	st.must(err)
	if st.vary.ask != nil {
		st.vary.ask(&a)
	}
	st.asks = append(st.asks, a)
	u := survivorsOf[q]
	if st.vary.waits {
		u = survivorsOf[0]
	}
	for _, m := range st.members[:len(u)] {
		st.askSite(m, a)
		st.journal(m, "charge", q, -1)
		st.journal(m, "upload", q, a.Slot)
		st.upload(m, a, st.masked(m, a))
	}
	if !st.vary.waits { // what opened the slot decided it
		st.log(round.Entry{Kind: round.EntrySurvivors, Query: q, Slot: a.Slot, Survivors: u})
	}
	for _, m := range st.members[:len(u)] {
		st.receive(m, "release", q, a.Slot, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Release{Release: &covey.Release{
			Study: st.id(), Query: uint32(q), Slot: uint32(a.Slot), Survivors: uints(u)}}})
		st.journal(m, "sign", q, a.Slot)
		st.send(m, "signature", q, a.Slot, &covey.SiteMessage{Body: &covey.SiteMessage_ReleaseSignature{ReleaseSignature: &covey.ReleaseSignature{
			Study: st.id(), Query: uint32(q), Slot: uint32(a.Slot), Signature: st.sign(m, a, u)}}})
	}
	certificate := st.certificate(a, u)
	if st.vary.certificate != nil {
		st.vary.certificate(certificate)
	}
	st.log(round.Entry{Kind: round.EntryOpening, Query: q, Slot: a.Slot, Certificate: certificate})
	for _, m := range st.members[:len(u)] {
		st.receive(m, "open", q, a.Slot, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Open{Open: &covey.Open{
			Study: st.id(), Query: uint32(q), Slot: uint32(a.Slot), Survivors: uints(u), Certificate: certificate}}})
		st.journal(m, "shares", q, a.Slot)
		st.sendShares(m, a, u)
	}
	e := st.release(a, u)
	st.released = append(st.released, e)
	st.log(e)
	for _, m := range st.members {
		st.finalTo(m, e)
		st.journal(m, "final", q, a.Slot)
	}
	return *e.Course
}

func (st *story) finalTo(m *member, e round.Entry) {
	st.receive(m, "final", e.Query, e.Slot, &covey.CoordinatorMessage{Body: &covey.CoordinatorMessage_Final{Final: &covey.Final{
		Study: st.id(), Query: uint32(e.Query), Slot: uint32(e.Slot), Released: e.Released.Encoded, Signature: e.Released.Signature}}})
}

// release is the entry of a query's answer.
func (st *story) release(a study.Ask, u secagg.Survivors) round.Entry {
	q := st.secagg(a)
	sum := make([]uint64, q.Lanes)
	for _, i := range u {
		vector := vectorOf(i, a)
		if st.vary.upload != nil {
			st.vary.upload(i, a, vector)
		}
		secagg.SumInto(sum, append(st.ring(vector), secagg.NoiseLanes(st.members[i].secrets.Slots[a.Slot], q.Context, q.Bits)...), q.Bits)
	}
	key := noise.Key(sum[dims:], q.Bits, q.Context, u.Hash())
	if st.vary.noise != nil {
		key = st.vary.noise(key)
	}
	sampler, err := noise.NewGaussian(a.Sigma)
	st.must(err)
	draws := make([]int64, dims)
	st.must(sampler.Fill(noise.NewKeyed(key), draws))
	for k := range draws {
		draws[k] = int64((sum[k]+uint64(draws[k]))<<(64-q.Bits)) >> (64 - q.Bits)
	}
	r, err := st.plan.NewRelease(a, u, draws)
	st.must(err)
	return st.entryOf(r)
}

func (st *story) entryOf(r study.Release) round.Entry {
	encoded, err := r.Encode()
	st.must(err)
	var earlier []study.Release
	for _, e := range st.released {
		if before, err := study.ParseRelease(e.Released.Encoded); err == nil && before.Query < r.Query {
			earlier = append(earlier, before)
		}
	}
	next, err := st.plan.Next(st.courseAt(r.Query, r.X), r, earlier)
	st.must(err)
	return round.Entry{Study: st.plan.Digest, Kind: round.EntryReleased, Query: r.Query, Slot: r.Slot, Course: &next, Rho: r.Rho,
		Released: &round.Released{Encoded: encoded, Signature: ed25519.Sign(st.key, study.SigningInput(encoded))}}
}

// courseAt is the course in which a power query asks about x.
func (st *story) courseAt(query int, x []float64) study.Course {
	c := st.plan.Start()
	c.Query, c.X = query, x
	if query < len(st.asks) {
		c.History = st.asks[query].History
	}
	return c
}

// at returns the place of the only event with a label.
func (st *story) at(label string) int {
	st.t.Helper()
	found := -1
	for i, m := range st.moments {
		if m.label == label {
			if found >= 0 {
				st.t.Fatalf("two events %q", label)
			}
			found = i
		}
	}
	if found < 0 {
		st.t.Fatalf("no event %q", label)
	}
	return found
}

// drop takes all events out whose label begins so.
func (st *story) drop(prefix string) {
	n := len(st.moments)
	st.moments = slices.DeleteFunc(st.moments, func(m moment) bool { return strings.HasPrefix(m.label, prefix) })
	if len(st.moments) == n {
		st.t.Fatalf("no event %q", prefix)
	}
}

// move puts an event just before another.
func (st *story) move(label, before string) {
	i := st.at(label)
	m := st.moments[i]
	st.moments = slices.Delete(st.moments, i, i+1)
	st.moments = slices.Insert(st.moments, st.at(before), m)
}

// insert runs something that adds events, and puts these just before another.
func (st *story) insert(before string, something func()) {
	n := len(st.moments)
	something()
	added := slices.Clone(st.moments[n:])
	st.moments = slices.Insert(st.moments[:n:n], st.at(before), added...)
}

func (st *story) check() (Report, []Violation) {
	var events []failpoint.Event
	for _, m := range st.moments {
		events = append(events, m.e)
	}
	return Check(events, st.truth)
}
