package hostile

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/aggregate"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	"covey/test/must"
	"covey/test/parties"
	folder "covey/test/site"
)

// options of a world. Sites that are neither corrupt nor in a book are real agents.
type options struct {
	sites   int
	corrupt []int
	book    map[int]rules
	rounds  int // power steps; 2 if 0
	spare   int // slots; 4 if 0
	columns int // of the rows; 2 if 0
	units   int // rows of each site; 6 if 0
	change  func(*proposal.Spec)
}

// world is one study under a hostile coordinator, and all that it saw of it.
type world struct {
	t    testing.TB
	fed  *federation
	key  ed25519.PrivateKey // signs results
	plan *study.Plan
	body []byte

	columns int   // of the rows
	honest  []int // roster indices
	corrupt []int
	site    map[int]site // the honest ones
	party   map[int]*party
	rows    map[int]*folder.Rows
	truth   map[int][][32]byte // slot secrets by site: the checker's alone
	// What the sites made their setup of, by site: the checker's, and the oracle's.
	seeds map[int]secagg.Secrets
	// Keys of pairs that a corrupt owner dealt, which its e does not give, by slot and pair.
	falseKeys map[[3]int][32]byte

	parties.Group // what the coordinator saw of the setup
	nonces        [][]byte
	confirmed     [][]byte
	mail          []letter // all boxes that were dealt

	// of the oracle: transport keys that an accusation showed, what it looks for, and in which
	// setup
	shown          map[[32]byte]bool
	needles        needles
	needlesOf      [32]byte
	everythingRead bool

	courses map[int]study.Course // by the query that is due, as the results told so far lead there
	told    []study.Release

	sending map[int]study.Ask // to each site, the last
	latest  map[int]study.Ask // that each site answered
	view    view
	name    map[int]string // of the attack that used a query
}

func newWorld(t testing.TB, o options) *world {
	t.Helper()
	w := &world{t: t, corrupt: o.corrupt, site: map[int]site{}, party: map[int]*party{}, rows: map[int]*folder.Rows{},
		truth: map[int][][32]byte{}, seeds: map[int]secagg.Secrets{}, falseKeys: map[[3]int][32]byte{}, shown: map[[32]byte]bool{}, sending: map[int]study.Ask{}, latest: map[int]study.Ask{}, name: map[int]string{}}
	w.columns, o.units = cmp.Or(o.columns, columns), cmp.Or(o.units, units)
	spec := proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "hostile", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Rounds: max(o.rounds, 2), Radius: "4", SpareSlots: max(o.spare, 4),
		ExplainedVariance: proposal.VarianceNone, OnDropout: proposal.DropoutContinue,
		Columns: folder.Columns(w.columns, 1),
	}
	if o.change != nil {
		o.change(&spec)
	}
	var roster []proposal.Member
	rng := rand.New(rand.NewPCG(1, 2)) // of rows, not of keys
	for i := range o.sites {
		name := fmt.Sprintf("site-%d", i)
		member := proposal.Member{Name: name, Units: o.units}
		r, inBook := o.book[i]
		switch {
		case slices.Contains(o.corrupt, i):
			p := newParty(t, name)
			w.party[i], member.Identity = p, proposal.Key(p.public())
		case inBook:
			p := newParty(t, name)
			w.party[i], member.Identity = p, proposal.Key(p.public())
			values := make([]float64, o.units*w.columns)
			for k := range values {
				values[k] = rng.NormFloat64()
			}
			w.setRows(i, values)
			w.honest = append(w.honest, i)
			w.site[i] = newBook(t, w, p, r)
		default:
			if w.fed == nil {
				w.fed = newFederation(t)
			}
			s := w.fed.newSite(name, o.units, w.columns)
			t.Cleanup(s.kill)
			member.Identity = proposal.Key(s.public)
			w.setRows(i, s.values)
			w.honest = append(w.honest, i)
			w.site[i] = s
		}
		roster = append(roster, member)
	}
	if w.fed != nil {
		w.key = w.fed.authority.SigningKey()
	} else {
		w.key = newParty(t, "coordinator").identity
	}
	w.propose(spec, roster, 1)
	return w
}

func (w *world) setRows(i int, values []float64) {
	w.t.Helper()
	rows := must.Get(folder.Exact(values, w.columns, 1))(w.t)
	w.rows[i] = rows
}

// propose writes a proposal and takes it for the world's study.
func (w *world) propose(spec proposal.Spec, roster []proposal.Member, nonce byte) {
	w.t.Helper()
	w.body = must.Get(proposal.Propose(spec, roster, w.key.Public().(ed25519.PublicKey), [32]byte{nonce}))(w.t)
	w.plan = must.Get(study.NewPlan(w.body))(w.t)
	w.Config = w.plan.Setup()
	w.courses, w.told = map[int]study.Course{0: w.plan.Start()}, nil
	for i, p := range w.party {
		p.index = i
	}
}

func (w *world) n() int { return w.plan.Thresholds.Sites }

// real returns the agents among the honest sites.
func (w *world) real() (out []int) {
	for _, i := range w.honest {
		if w.agent(i) != nil {
			out = append(out, i)
		}
	}
	return out
}

// agent returns a site's agent, nil for one that has none.
func (w *world) agent(i int) *realSite {
	if s, ok := w.site[i].(interface{ agent() *realSite }); ok {
		return s.agent()
	}
	return nil
}

// begin starts the agents and brings the study to its first query, as an honest
// coordinator does.
func (w *world) begin() {
	w.t.Helper()
	w.start()
	w.approve()
	w.announce()
	w.lookAside()
	w.deal()
	w.confirm()
}

// kinds is how many secrets of a slot are shared.
func (w *world) kinds() int {
	if w.Config.Whole() {
		return 1
	}
	return 2
}

func (w *world) start() {
	w.t.Helper()
	for _, i := range w.real() {
		w.agent(i).pin(w.plan.Proposal.Roster)
		w.agent(i).start()
	}
}

func (w *world) approve() {
	w.t.Helper()
	for _, i := range w.real() {
		d := answerTo(w.ask(i, proposed(w.body)), (*covey.SiteMessage).GetDecision)
		switch s, real := w.site[i].(*realSite); {
		case d.GetVerdict() == covey.Verdict_VERDICT_APPROVED:
		case real && d.GetVerdict() == covey.Verdict_VERDICT_PENDING: // its η is not the usual
			s.approve(w.plan.Digest)
		default:
			w.t.Fatalf("site %d decides %v", i, d)
		}
	}
}

// answerTo returns the answer of one kind among those of a site, nil if there is none.
func answerTo[A any](said []*covey.SiteMessage, get func(*covey.SiteMessage) *A) *A {
	for _, m := range said {
		if a := get(m); a != nil {
			return a
		}
	}
	return nil
}

// announce collects announcements, and on the sparse graph nonces.
func (w *world) announce() {
	w.t.Helper()
	w.Config = w.plan.Setup()
	whole := make([][]byte, w.n())
	for i := range whole {
		if w.agent(i) != nil {
			whole[i] = answerTo(w.ask(i, announce(w.plan.Digest)), (*covey.SiteMessage).GetAnnouncement).GetSigned()
		} else {
			whole[i] = w.party[i].announce(w.t, w.Config, i)
		}
	}
	w.Announcements, w.Seals, w.Bodies, w.nonces = whole, nil, nil, nil
	if !w.plan.Thresholds.Sparse() {
		w.must(func() (err error) { w.Setup, err = secagg.Verify(w.Config, whole); return err })
		return
	}
	w.Announcements, w.nonces = make([][]byte, w.n()), make([][]byte, w.n())
	w.Seals, w.Bodies = make([][]byte, w.n()), make([][]byte, w.n())
	for i := range whole {
		w.must(func() (err error) {
			w.Announcements[i], w.Seals[i], w.Bodies[i], err = w.Config.Split(i, whole[i])
			return err
		})
	}
	for i := range whole {
		if w.agent(i) != nil {
			w.nonces[i] = answerTo(w.ask(i, reveal(w.plan.Digest, w.Announcements)), (*covey.SiteMessage).GetNonce).GetNonce()
		} else {
			w.nonces[i] = w.party[i].secrets.Nonce[:]
		}
	}
	w.must(func() error {
		board, err := secagg.VerifyHeads(w.Config, w.Announcements)
		if err == nil {
			w.Setup, err = board.Draw(w.nonces)
		}
		return err
	})
}

func (w *world) must(do func() error) {
	w.t.Helper()
	must.Do(w.t, do())
}

// dealing is the message that asks a site for boxes.
func (w *world) dealing(i int) *covey.CoordinatorMessage {
	if w.plan.Thresholds.Sparse() {
		return deal(w.plan.Digest, nil, w.nonces, w.SealsFor(i)...)
	}
	return deal(w.plan.Digest, w.Announcements, nil)
}

func (w *world) deal() {
	w.t.Helper()
	w.Dealt = make([][][]byte, w.n())
	for i := range w.Dealt {
		if w.agent(i) != nil {
			w.Dealt[i] = answerTo(w.ask(i, w.dealing(i)), (*covey.SiteMessage).GetBoxes).GetBoxes()
		} else {
			w.Dealt[i] = w.party[i].deal(w.t, w.Setup, w.SealsFor(i))
		}
		if got, want := len(w.Dealt[i]), len(w.Setup.Graph().Recipients(i)); got != want {
			w.t.Fatalf("site %d deals %d boxes, want %d", i, got, want)
		}
		for k, to := range w.Setup.Graph().Recipients(i) {
			w.mail = append(w.mail, letter{setup: w.Setup, from: i, to: to, box: w.Dealt[i][k], sender: w.seeds[i], receiver: w.seeds[to]})
		}
	}
}

// box is where the coordinator keeps one.
func (w *world) box(from, to int) *[]byte {
	return &w.Dealt[from][slices.Index(w.Setup.Graph().Recipients(from), to)]
}

func (w *world) confirm() {
	w.t.Helper()
	w.confirmed, w.Taken = make([][]byte, w.n()), make([]*secagg.Received, w.n())
	for i := range w.confirmed {
		boxes, bodies := w.Received(i)
		if w.agent(i) != nil {
			c := answerTo(w.ask(i, confirm(w.plan.Digest, boxes, bodies)), (*covey.SiteMessage).GetConfirmation)
			w.confirmed[i], w.Taken[i] = c.GetSignature(), &secagg.Received{Deposits: c.GetDeposits()}
			w.must(func() error { return w.Setup.CheckConfirmation(i, w.confirmed[i]) })
			w.must(func() error { return w.Setup.CheckStatement(i, c.GetDeposits(), c.GetStatement(), boxes) })
			continue
		}
		p := w.party[i]
		if b, ok := w.site[i].(*book); ok {
			b.setup = w.Setup
		}
		w.must(func() error {
			r, err := w.Setup.Receive(i, p.secrets, p.identity, boxes, bodies)
			if err == nil {
				p.held, p.stored, w.confirmed[i], w.Taken[i] = r.Held, r.Public, r.Confirmation, r
			}
			return err
		})
	}
	for _, i := range w.real() {
		if said := w.ask(i, confirmed(w.plan.Digest, w.confirmed)); len(said) != 0 {
			w.t.Fatalf("site %d answers the confirmations with %v", i, said)
		}
	}
}

// lookAside learns what the sites made the setup of that they have just announced, for the checker.
func (w *world) lookAside() {
	w.t.Helper()
	for i := range w.n() {
		if s := w.agent(i); s != nil {
			s.kill()
			w.seeds[i] = s.secrets(w.plan.Digest)
			s.start()
		} else {
			w.seeds[i] = w.party[i].secrets
		}
		w.truth[i] = nil
		for _, slot := range w.seeds[i].Slots {
			w.truth[i] = append(w.truth[i], slot)
		}
	}
}

// direction is a unit vector; different numbers give different ones.
func direction(k int) []float64 {
	return []float64{math.Cos(float64(k)), math.Sin(float64(k))}
}

// asking makes a query of the plan, about x that follows from the results so far, but for its last
// digits: all that is left to a coordinator. Different numbers give different ones.
func (w *world) asking(query, slot, x int) study.Ask {
	w.t.Helper()
	course, ok := w.courses[query]
	if !ok {
		course = w.plan.Start()
		course.Query = query
	}
	course.X = turned(course.X, 1e-11*float64(x))
	return must.Get(w.plan.NewAsk(course, slot))(w.t)
}

// turned turns vectors of the plane, one after another, by an angle.
func turned(x []float64, by float64) []float64 {
	sin, cos := math.Sincos(by)
	var out []float64
	for ; len(x) > 0; x = x[2:] { // vectors of two
		out = append(out, cos*x[0]-sin*x[1], sin*x[0]+cos*x[1])
	}
	return out
}

// follow goes on to the query after a result.
func (w *world) follow(m *covey.CoordinatorMessage) {
	w.t.Helper()
	r := must.Get(study.ParseRelease(m.GetFinal().GetReleased()))(w.t)
	next := must.Get(w.plan.Next(w.courses[r.Query], r, w.told))(w.t)
	w.courses[next.Query], w.told = next, append(w.told, r)
}

func (w *world) secagg(a study.Ask) secagg.Query {
	return w.plan.Summed(w.Setup.Transcript(), a)
}

// vector is what a site has to hide: its sum and the lanes that key the noise, or with its share
// of distributed noise.
func (w *world) vector(i int, a study.Ask) []uint64 {
	w.t.Helper()
	sum := must.Get(w.rows[i].Answer(w.plan, i, a))(w.t)
	var v []uint64
	for _, x := range sum {
		v = append(v, uint64(x)&ring(w.plan.Bits))
	}
	if w.plan.Honest > 0 {
		w.must(func() error { return aggregate.AddShare(w.plan, v, w.truth[i][a.Slot], w.secagg(a), a) })
		for k := range v {
			v[k] &= ring(w.plan.Bits)
		}
		return v
	}
	return append(v, noiseLanes(w.truth[i][a.Slot], w.secagg(a).Context, w.plan.Bits)...)
}

// ask delivers a message to an honest site and notes what comes back.
func (w *world) ask(i int, m *covey.CoordinatorMessage) []*covey.SiteMessage {
	w.t.Helper()
	if f := m.GetFinal(); f != nil && len(f.GetCertificate()) == 0 {
		m = proto.CloneOf(m)
		m.GetFinal().Certificate = w.colluding(i, f.GetReleased())
	}
	said := w.site[i].ask(m)
	w.view.note(w, i, m, said)
	return said
}

// upload asks a site a query; nil if it refuses.
func (w *world) upload(i int, a study.Ask) []byte {
	w.t.Helper()
	w.sending[i] = a
	return answerTo(w.ask(i, query(w.plan.Digest, a)), (*covey.SiteMessage).GetUpload).GetMasked()
}

// sign asks a site for its signature on U; nil if it refuses.
func (w *world) sign(i int, a study.Ask, u []int) []byte {
	w.t.Helper()
	return answerTo(w.ask(i, release(w.plan.Digest, a.Query, a.Slot, u)), (*covey.SiteMessage).GetReleaseSignature).GetSignature()
}

// certificate is the best that the coordinator can show for U: every signature it has, and
// those of the corrupt sites.
func (w *world) certificate(a study.Ask, u []int) [][]byte {
	q := w.secagg(a)
	out := make([][]byte, w.n())
	for site, signature := range w.view.signatures[signed{a.Slot, q.Context, fmt.Sprint(u)}] {
		out[site] = signature
	}
	for _, c := range w.corrupt {
		out[c] = ed25519.Sign(w.party[c].identity, releaseBytes(w.Setup.Transcript(), q, u))
	}
	return out
}

// shares shows a site U and a certificate and asks for its shares; nil if it refuses.
func (w *world) shares(i int, a study.Ask, u []int, certificate [][]byte) []byte {
	w.t.Helper()
	return answerTo(w.ask(i, open(w.plan.Digest, a.Query, a.Slot, u, certificate)), (*covey.SiteMessage).GetShares).GetShares()
}

// prove asks a site for the proof of a share that it sent; nil if it refuses.
func (w *world) prove(i int, a study.Ask, u []int, dealer int) []byte {
	w.t.Helper()
	return answerTo(w.ask(i, prove(w.plan.Digest, a.Query, a.Slot, u, dealer)), (*covey.SiteMessage).GetProof).GetProof()
}

// keys asks a site for the keys of its pairs with sites outside of U; nil if it refuses.
func (w *world) keys(i int, a study.Ask, u []int) []byte {
	w.t.Helper()
	return answerTo(w.ask(i, keys(w.plan.Digest, a.Query, a.Slot, u)), (*covey.SiteMessage).GetPairKeys).GetKeys()
}

// final signs some result of a query, which nobody has opened perhaps, and tells all.
func (w *world) final(a study.Ask, u []int) *covey.CoordinatorMessage {
	w.t.Helper()
	m := w.result(a, u, 0)
	w.follow(m)
	for _, i := range w.real() {
		w.ask(i, m)
	}
	return m
}

func (w *world) result(a study.Ask, u []int, value int64) *covey.CoordinatorMessage {
	w.t.Helper()
	noised := make([]int64, w.plan.Queries[a.Query].Values)
	noised[0] = value
	return w.resultOf(a, u, noised)
}

// resultOf is a result of any numbers.
func (w *world) resultOf(a study.Ask, u []int, noised []int64) *covey.CoordinatorMessage {
	w.t.Helper()
	r := must.Get(w.plan.NewRelease(a, u, noised))(w.t)
	encoded := must.Get(r.Encode())(w.t)
	return final(w.plan.Digest, a.Query, a.Slot, encoded, ed25519.Sign(w.key, study.SigningInput(encoded)))
}

// everyone is U of all sites.
func (w *world) everyone() []int { return upTo(w.n()) }

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
