package agent

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"

	"covey/internal/aggregate"
	"covey/internal/chain"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/siteconfig"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	"covey/test/must"
	"covey/test/site"
)

// standIn is a coordinator in memory: it knows the sites' handlers and secagg's
// public side, and does in order what internal/round decides.
type standIn struct {
	t          *testing.T
	dir        string
	key        ed25519.PrivateKey
	sites      []*testSite
	body       []byte
	plan       *study.Plan
	setup      *secagg.Setup
	signed     [][]byte // confirmations
	boxes      [][][]byte
	all        [][]byte // announcements
	kept       secagg.Kept
	statements [][]byte

	courses map[int]study.Course // by the query that is due
	told    []study.Release      // that led there
}

// testSite is one agent, and everything it ever sent.
type testSite struct {
	t      *testing.T
	name   string
	dir    string
	config *siteconfig.Config
	values []float64 // what its file holds, row-major
	agent  *Agent
	sent   [][]byte
	log    bytes.Buffer

	options []grpc.DialOption
	key     ed25519.PrivateKey // the coordinator's
	chain   chain.Log          // as the coordinator shows it to this site
	asked   func(wire.Message) // if not nil, is told what the agent is asked before it is
	// stands between the agent and what is sent
	between func(wire.Message, wire.Message) wire.Message
}

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const testUnits, testColumns = 40, 3

// newStandIn makes n joined sites with fixed rows, and proposes a study of two
// power rounds with a public radius, changed by change.
func newStandIn(t *testing.T, n int, policy string, change func(*proposal.Spec)) *standIn {
	t.Helper()
	c := &standIn{t: t, dir: t.TempDir()}
	authority := site.Authority(t, filepath.Join(c.dir, "coordinator"), testNow)
	c.key = authority.SigningKey()
	spec := proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "test", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Rounds: 2, Radius: "4", SpareSlots: 4, ExplainedVariance: proposal.VarianceNone,
		Columns: site.Columns(testColumns, 1),
	}
	if change != nil {
		change(&spec)
	}
	r := rand.New(rand.NewPCG(7, 7)) // of rows, not of keys
	if strings.Contains(policy, siteconfig.ApproveWithinLimits) && !strings.Contains(policy, "peers") {
		policy = c.peers(n) + policy
	}
	var roster []proposal.Member
	for i := range n {
		s := newTestSite(t, c.dir, fmt.Sprintf("site-%d", i), authority, policy, spec, r)
		c.sites = append(c.sites, s)
		roster = append(roster, proposal.Member{Name: s.name, Identity: proposal.Key(s.agent.identity.Public().(ed25519.PublicKey)), Units: testUnits})
	}
	c.propose(spec, roster)
	return c
}

// peers makes the keys of n sites and gives the line of a policy that lists them all.
func (c *standIn) peers(n int) string {
	c.t.Helper()
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("site-%d", i))
	}
	keys := must.Get(siteconfig.PeersIn(c.dir, names...))(c.t)
	var all []string
	for name, key := range keys {
		all = append(all, fmt.Sprintf("%s = %q", name, key))
	}
	return "peers = { " + strings.Join(all, ", ") + " }\n"
}

func (c *standIn) propose(spec proposal.Spec, roster []proposal.Member) {
	c.t.Helper()
	c.body = must.Get(proposal.Propose(spec, roster, c.key.Public().(ed25519.PublicKey), [32]byte{1}))(c.t)
	c.plan = must.Get(study.NewPlan(c.body))(c.t)
}

const autoPolicy = `approve = "within-limits"
max_epsilon = 1.0
max_delta = 1e-6
on_dropout = ["wait", "continue"]
noise = ["central", "distributed"]
`

func newTestSite(t *testing.T, root, name string, authority *pki.Authority, policy string, spec proposal.Spec, r *rand.Rand) *testSite {
	t.Helper()
	s := &testSite{t: t, name: name, dir: filepath.Join(root, name), key: authority.SigningKey()}
	site.Issue(t, s.dir, name, authority, testNow)
	var names []string
	for _, column := range spec.Columns {
		names = append(names, column.Name)
	}
	var text string
	text, s.values = site.CSV(names, testUnits, func(_, j int) float64 { return r.NormFloat64() * float64(1+j%3) })
	s.write("rows.csv", text)
	s.write(siteconfig.File, fmt.Sprintf(`site = %q
coordinator = ["127.0.0.1:1"]
[[population]]
name = "people"
budget = { epsilon = 1.3, delta = 1e-6 }
[[dataset]]
name = "rows"
path = "rows.csv"
population = "people"
[policy]
%s`, name, policy))
	s.start()
	t.Cleanup(func() { s.agent.Close() })
	return s
}

func (s *testSite) write(name, text string) {
	s.t.Helper()
	must.Do(s.t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
}

// start opens the agent on its directory; after a first time that is a restart.
func (s *testSite) start() {
	s.t.Helper()
	s.config = must.Get(siteconfig.Read(s.dir))(s.t)
	s.agent = must.Get(New(Options{Config: s.config, Now: func() time.Time { return testNow }, Logger: slog.New(slog.NewTextHandler(&s.log, nil)),
		DialOptions: s.options}))(s.t)
}

// restart loses everything but the data directory.
func (s *testSite) restart() {
	s.agent.work.Wait() // as Run does before the ledger is closed
	s.t.Helper()
	must.Do(s.t, s.agent.Close())
	s.start()
}

// ask hands the agent a request and keeps the bytes of what it answers.
func (s *testSite) ask(r wire.Message) wire.Message {
	s.t.Helper()
	if s.asked != nil {
		s.asked(r)
	}
	s.heads(r)
	a := s.agent.handle(r)
	if s.between != nil {
		a = s.between(r, a)
	}
	if a == nil {
		return nil
	}
	raw := must.Get(wire.Encode(a))(s.t)
	s.sent = append(s.sent, raw)
	return a
}

// heads extends the chain by what the agent is told, and shows it ahead of a query, as on a link of
// its own.
func (s *testSite) heads(r wire.Message) {
	var step chain.Step
	switch r := r.(type) {
	case wire.Proposal:
		step = chain.Proposed(r.About().Study)
	case wire.Final:
		step = chain.Released(r.Study, r.Encoded)
	case wire.Query, wire.Attest:
		s.shows()
		return
	default:
		return
	}
	if !slices.Contains(s.chain.Since(0), step) {
		s.chain.Append(step)
	}
}

// shows begins a link's place in the chain and shows all that is new.
func (s *testSite) shows() {
	var h wire.Hello
	s.agent.Chain.Greet(&h)
	base := min(h.Chain.Number, s.chain.Head().Number)
	s.agent.Chain.Take(headOf(s.key, &s.chain, base))
}

// headOf shows a chain from a base on.
func headOf(key ed25519.PrivateKey, l *chain.Log, base uint64) wire.Head {
	shown := chain.Signed{Head: l.Head(), Base: l.At(base)}
	return wire.Head{Shown: chain.Shown{Base: shown.Base, Steps: l.Since(base), Signature: ed25519.Sign(key, shown.SigningInput())}}
}

// want asks and wants an answer of one type, not a refusal.
func want[A wire.Message](s *testSite, r wire.Message) A {
	s.t.Helper()
	got := s.ask(r)
	if two, ok := got.(uplink.Pair); ok {
		got = two.Second // what was asked for, behind what the site holds
	}
	a, ok := got.(A)
	if !ok {
		s.t.Fatalf("%s answers %T with %+v", s.name, r, got)
	}
	return a
}

// refused asks and wants a refusal of one code.
func refused(s *testSite, r wire.Message, code study.Code) wire.Refusal {
	s.t.Helper()
	got := s.ask(r)
	no, ok := got.(wire.Refusal)
	if !ok || no.Code != code {
		s.t.Fatalf("%s answers %T with %+v, want the refusal %q", s.name, r, got, code)
	}
	return no
}

func (c *standIn) approve() {
	c.t.Helper()
	for _, s := range c.sites {
		if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictApproved {
			c.t.Fatalf("%s: %+v", s.name, d)
		}
	}
}

// prepare runs the setup's exchanges up to the confirmations, which it keeps.
func (c *standIn) prepare() {
	c.t.Helper()
	id, n := c.plan.Digest, len(c.sites)
	c.all, c.boxes, c.signed = make([][]byte, n), make([][][]byte, n), make([][]byte, n)
	for i, s := range c.sites {
		c.all[i] = want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed
	}
	for i, s := range c.sites {
		c.boxes[i] = want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Announcements: c.all}).Boxes
	}
	for i, s := range c.sites {
		said := want[wire.Confirmation](s, wire.Confirm{Header: wire.Header{Study: id}, Boxes: c.boxesFor(i)})
		c.signed[i] = said.Signature
		c.keep(i, said)
	}
	c.setup = must.Get(secagg.Verify(c.sites[0].session(c).config(), c.all))(c.t)
	for i := range c.sites {
		if c.setup.Config().Whole() {
			break
		}
		c.kept.Tags = append(c.kept.Tags, c.setup.Tags(i, c.boxes[i]))
		c.kept.TagHashes = append(c.kept.TagHashes, c.setup.TagHashes(i, c.kept.Tags[i]))
		must.Do(c.t, c.setup.CheckStatement(i, c.kept.Deposits[i], c.statements[i], c.boxesFor(i)))
	}
}

// keep keeps what a site deposits with its confirmation.
func (c *standIn) keep(i int, said wire.Confirmation) {
	if i == 0 {
		c.kept, c.statements = secagg.Kept{}, nil
	}
	c.kept.Deposits, c.statements = append(c.kept.Deposits, said.Deposits), append(c.statements, said.Statement)
}

// boxesFor is what all others seal for a site. Each deals to all others, ascending.
func (c *standIn) boxesFor(i int) [][]byte {
	var mine [][]byte
	for from, dealt := range c.boxes {
		switch {
		case from < i:
			mine = append(mine, dealt[i-1])
		case from > i:
			mine = append(mine, dealt[i])
		}
	}
	return mine
}

func (s *testSite) session(c *standIn) *session {
	s.t.Helper()
	found, code := s.agent.sessions.of(c.plan.Digest)
	if found == nil {
		s.t.Fatalf("%s has no session: %s", s.name, code)
	}
	return found
}

func (c *standIn) confirm() {
	c.t.Helper()
	for _, s := range c.sites {
		if got := s.ask(wire.Confirmed{Header: wire.Header{Study: c.plan.Digest}, Signatures: c.signed}); got != nil {
			c.t.Fatalf("%s answers the confirmations with %+v", s.name, got)
		}
	}
}

// ready brings a study to its first query.
func (c *standIn) ready() {
	c.t.Helper()
	c.approve()
	c.prepare()
	c.confirm()
}

// query asks what follows from the releases so far, unless x is another than the start.
func (c *standIn) query(query, slot int, x []float64) wire.Query {
	c.t.Helper()
	course, ok := c.courses[query]
	if !ok {
		course = c.plan.Start()
		course.Query = query
	}
	if !slices.Equal(x, c.plan.Start().X) { // off the rule
		course.X = x
	}
	ask := must.Get(c.plan.NewAsk(course, slot))(c.t)
	return wire.Query{Study: c.plan.Digest, Ask: ask}
}

func (c *standIn) secaggQuery(q wire.Query) secagg.Query {
	return secagg.Query{Slot: q.Ask.Slot, Context: c.plan.Context(c.setup.Transcript(), q.Ask),
		Bits: c.plan.Bits, Lanes: c.plan.Queries[q.Ask.Query].Lanes, Chain: c.plan.Noise.Removes()}
}

// everyone is U of all sites.
func (c *standIn) everyone() []int {
	out := make([]int, len(c.sites))
	for i := range out {
		out[i] = i
	}
	return out
}

// certify asks all sites to sign U.
func (c *standIn) certify(q wire.Query, u []int) [][]byte {
	c.t.Helper()
	certificate := make([][]byte, len(c.sites))
	for i, s := range c.sites {
		certificate[i] = want[wire.Signature](s, wire.Release{Header: wire.Header{Study: c.plan.Digest, Query: q.Ask.Query, Slot: q.Ask.Slot}, Survivors: u}).Signature
	}
	return certificate
}

// open runs one query over U to its exact sum, signed numbers, values only.
func (c *standIn) open(q wire.Query, u []int) []int64 {
	c.t.Helper()
	sq := c.secaggQuery(q)
	sum := make([]uint64, sq.Lanes)
	for i, s := range c.sites {
		up := want[wire.Upload](s, q)
		if !slices.Contains(u, i) {
			continue
		}
		if err := secagg.SumPacked(sum, up.Masked, sq.Bits); err != nil {
			c.t.Fatal(err)
		}
	}
	certificate := c.certify(q, u)
	opening := must.Get(c.setup.NewOpening(sq, u, c.kept))(c.t)
	for i, s := range c.sites {
		sent := want[wire.Shares](s, wire.Open{Header: wire.Header{Study: c.plan.Digest, Query: q.Ask.Query, Slot: q.Ask.Slot}, Survivors: u, Certificate: certificate})
		must.Do(c.t, opening.Add(i, sent.Shares))
	}
	must.Do(c.t, opening.Unmask(sum))
	out := make([]int64, c.plan.Queries[q.Ask.Query].Values)
	for i := range out {
		out[i] = int64(sum[i]<<(64-sq.Bits)) >> (64 - sq.Bits)
	}
	return out
}

// remade is the upload of a query as the site would make it now, whatever it has on record.
func (s *testSite) remade(c *standIn, q wire.Query) ([]byte, error) {
	on, ask := s.session(c), c.plan.Queries.Fill(q.Ask)
	own, held, err := on.ring.Slot(ask.Slot)
	if err != nil {
		return nil, err
	}
	sum, err := on.rows.Answer(c.plan, ask)
	if err != nil {
		return nil, err
	}
	return aggregate.Upload(c.plan, on.ring.Setup, on.self, ask, c.plan.Summed(on.ring.Setup.Transcript(), ask), sum, own, held)
}

// plain is the same sum without any of the protocol.
func (c *standIn) plain(q wire.Query, u []int) []int64 {
	c.t.Helper()
	total := make([]int64, c.plan.Queries[q.Ask.Query].Values)
	for _, i := range u {
		rows := must.Get(site.Exact(c.sites[i].values, c.plan.D, 1))(c.t)
		sum := must.Get(rows.Answer(c.plan, i, q.Ask))(c.t)
		for j, v := range sum {
			total[j] += v
		}
	}
	return total
}

// release signs a result of a query; the noise is the caller's.
func (c *standIn) release(q wire.Query, u []int, noised []int64) wire.Final {
	c.t.Helper()
	r := must.Get(c.plan.NewRelease(q.Ask, u, noised))(c.t)
	encoded := must.Get(r.Encode())(c.t)
	course := c.plan.Start()
	if q.Ask.Query > 0 {
		course = c.courses[q.Ask.Query]
	}
	if next, err := c.plan.Next(course, r, c.told); err == nil { // else the test makes it up
		if c.courses == nil {
			c.courses = map[int]study.Course{}
		}
		if _, known := c.courses[next.Query]; !known {
			c.courses[next.Query], c.told = next, append(c.told, r)
		}
	}
	return wire.Final{Header: wire.Header{Study: c.plan.Digest, Query: q.Ask.Query, Slot: q.Ask.Slot}, Encoded: encoded,
		Signature: ed25519.Sign(c.key, study.SigningInput(encoded)), Certificate: c.certified(r)}
}

// certified is a packed certificate of a release: of sites that have its U on record, and if they
// are too few of others, which then have it on record, too. It is empty where no site would sign.
func (c *standIn) certified(r study.Release) []byte {
	c.t.Helper()
	if c.setup == nil || r.Query < 0 || r.Query >= len(c.plan.Queries) {
		return nil
	}
	q, u := c.plan.Summed(c.setup.Transcript(), r.Ask()), secagg.Survivors(r.Survivors)
	list, n := make([][]byte, len(c.sites)), 0
	for _, only := range []bool{true, false} {
		for i, s := range c.sites {
			journal := s.agent.ledger.Journal(c.plan.Digest)
			on, ok, err := journal.SignedIn(q.Slot)
			if list[i] != nil || n >= c.plan.Thresholds.Threshold || err != nil || only != ok || ok && (on.Context != q.Context || !bytes.Equal(on.Survivors, u.Bytes())) {
				continue
			}
			signature, err := c.setup.SignRelease(i, s.agent.identity, q, u)
			if err != nil {
				return nil
			}
			if !ok {
				journal.Sign(r.Query, q.Slot, q.Context, u.Bytes(), func() ([]byte, error) { return signature, nil })
			}
			list[i], n = signature, n+1
		}
	}
	return c.setup.Pack(list)
}

func (c *standIn) tell(r wire.Message) {
	c.t.Helper()
	for _, s := range c.sites {
		if got := s.ask(r); got != nil {
			c.t.Fatalf("%s answers %T with %+v", s.name, r, got)
		}
	}
}

func same(t *testing.T, what string, a, b []byte) {
	t.Helper()
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("%s: %d and %d bytes that differ, want the same", what, len(a), len(b))
	}
}
