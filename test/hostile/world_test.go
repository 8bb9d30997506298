package hostile

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
	folder "covey/test/site"
)

// options of a world. Sites that are neither corrupt nor in a book are real agents.
type options struct {
	sites   int
	corrupt []int
	book    map[int]rules
	rounds  int // power steps; 2 if 0
	spare   int // slots; 4 if 0
	change  func(*proposal.Spec)
}

// world is one study under a hostile coordinator, and all that it saw of it.
type world struct {
	t    testing.TB
	fed  *federation
	key  ed25519.PrivateKey // signs results
	plan *study.Plan
	body []byte

	honest  []int // roster indices
	corrupt []int
	site    map[int]site // the honest ones
	party   map[int]*party
	rows    map[int]*folder.Rows
	truth   map[int][][32]byte // slot secrets by site: the checker's alone

	config    secagg.Config
	setup     *secagg.Setup
	announced [][]byte // heads on the sparse graph
	bodies    [][]byte
	nonces    [][]byte
	boxes     [][][]byte
	confirmed [][]byte

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
		truth: map[int][][32]byte{}, sending: map[int]study.Ask{}, latest: map[int]study.Ask{}, name: map[int]string{}}
	spec := proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "hostile", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Rounds: max(o.rounds, 2), Radius: "4", SpareSlots: max(o.spare, 4),
		ExplainedVariance: proposal.VarianceNone, OnDropout: proposal.DropoutContinue,
		Columns: []proposal.Column{{Name: "c0", Scale: 1}, {Name: "c1", Scale: 1}},
	}
	if o.change != nil {
		o.change(&spec)
	}
	var roster []proposal.Member
	rng := rand.New(rand.NewPCG(1, 2)) // of rows, not of keys
	for i := range o.sites {
		name := fmt.Sprintf("site-%d", i)
		member := proposal.Member{Name: name, Units: units}
		r, inBook := o.book[i]
		switch {
		case slices.Contains(o.corrupt, i):
			p := newParty(t, name)
			w.party[i], member.Identity = p, proposal.Key(p.public())
		case inBook:
			p := newParty(t, name)
			w.party[i], member.Identity = p, proposal.Key(p.public())
			values := make([]float64, units*columns)
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
			s := w.fed.newSite(name)
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
	rows, err := folder.Exact(values, columns, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	w.rows[i] = rows
}

// propose writes a proposal and takes it for the world's study.
func (w *world) propose(spec proposal.Spec, roster []proposal.Member, nonce byte) {
	w.t.Helper()
	var err error
	if w.body, err = proposal.Propose(spec, roster, w.key.Public().(ed25519.PublicKey), [32]byte{nonce}); err != nil {
		w.t.Fatal(err)
	}
	if w.plan, err = study.NewPlan(w.body); err != nil {
		w.t.Fatal(err)
	}
	w.config = w.plan.Setup(0)
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
	w.announce(0)
	w.deal(0)
	w.confirm(0)
	w.lookAside()
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
		if d := answerTo(w.ask(i, proposed(w.body)), (*covey.SiteMessage).GetDecision); d.GetVerdict() != covey.Verdict_VERDICT_APPROVED {
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
func (w *world) announce(attempt uint32) {
	w.t.Helper()
	w.config = w.plan.Setup(attempt)
	whole := make([][]byte, w.n())
	for i := range whole {
		if w.agent(i) != nil {
			whole[i] = answerTo(w.site[i].ask(announce(w.plan.Digest, attempt)), (*covey.SiteMessage).GetAnnouncement).GetSigned()
		} else {
			whole[i] = w.party[i].announce(w.t, w.config, i)
		}
	}
	w.announced, w.bodies, w.nonces = whole, nil, nil
	if !w.plan.Thresholds.Sparse() {
		w.must(func() (err error) { w.setup, err = secagg.Verify(w.config, whole); return err })
		return
	}
	w.announced, w.bodies, w.nonces = make([][]byte, w.n()), make([][]byte, w.n()), make([][]byte, w.n())
	for i := range whole {
		w.must(func() (err error) { w.announced[i], w.bodies[i], err = w.config.Split(i, whole[i]); return err })
	}
	for i := range whole {
		if w.agent(i) != nil {
			w.nonces[i] = answerTo(w.site[i].ask(reveal(w.plan.Digest, w.announced)), (*covey.SiteMessage).GetNonce).GetNonce()
		} else {
			w.nonces[i] = w.config.Nonce(i, w.party[i].secrets)
		}
	}
	w.must(func() error {
		board, err := secagg.VerifyHeads(w.config, w.announced)
		if err == nil {
			w.setup, err = board.Draw(w.nonces)
		}
		return err
	})
}

func (w *world) must(do func() error) {
	w.t.Helper()
	if err := do(); err != nil {
		w.t.Fatal(err)
	}
}

// dealing is the message that asks for boxes.
func (w *world) dealing(attempt uint32) *covey.CoordinatorMessage {
	if w.plan.Thresholds.Sparse() {
		return deal(w.plan.Digest, attempt, nil, w.nonces)
	}
	return deal(w.plan.Digest, attempt, w.announced, nil)
}

func (w *world) deal(attempt uint32) {
	w.t.Helper()
	w.boxes = make([][][]byte, w.n())
	for i := range w.boxes {
		if w.agent(i) != nil {
			w.boxes[i] = answerTo(w.site[i].ask(w.dealing(attempt)), (*covey.SiteMessage).GetBoxes).GetBoxes()
			continue
		}
		w.must(func() (err error) { w.boxes[i], err = w.setup.Deal(i, w.party[i].secrets); return err })
	}
}

// boxesFor returns what site i gets from its dealers.
func (w *world) boxesFor(i int) (boxes, bodies [][]byte) {
	for _, at := range w.setup.Graph().Held(i) {
		var box []byte
		if at.Dealer != i {
			box = w.boxes[at.Dealer][at.X-1]
		}
		boxes = append(boxes, box)
		if w.bodies != nil {
			bodies = append(bodies, w.bodies[at.Dealer])
		}
	}
	return boxes, bodies
}

func (w *world) confirm(attempt uint32) {
	w.t.Helper()
	w.confirmed = make([][]byte, w.n())
	for i := range w.confirmed {
		boxes, bodies := w.boxesFor(i)
		if w.agent(i) != nil {
			w.confirmed[i] = answerTo(w.site[i].ask(confirm(w.plan.Digest, attempt, boxes, bodies)), (*covey.SiteMessage).GetConfirmation).GetSignature()
			continue
		}
		p := w.party[i]
		b, ok := w.site[i].(*book)
		if ok {
			b.setup = w.setup
		}
		if !ok || !w.plan.Thresholds.Sparse() { // else holdings computes it
			w.must(func() (err error) { p.held, err = w.setup.Receive(i, p.secrets, boxes, bodies); return err })
		}
		w.confirmed[i] = w.setup.Confirm(p.identity, i)
	}
	for _, i := range w.real() {
		if said := w.ask(i, confirmed(w.plan.Digest, attempt, w.confirmed)); len(said) != 0 {
			w.t.Fatalf("site %d answers the confirmations with %v", i, said)
		}
	}
}

// lookAside learns the honest sites' slot secrets, for the checker.
func (w *world) lookAside() {
	w.t.Helper()
	for i := range w.n() {
		if s := w.agent(i); s != nil {
			s.kill()
			w.truth[i] = s.slots(w.plan.Digest, w.plan.Slots)
			s.start()
		} else {
			w.truth[i] = w.party[i].slots()
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
	a, err := w.plan.NewAsk(course, slot, w.config.Attempt)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
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
	r, err := study.ParseRelease(m.GetFinal().GetReleased())
	if err != nil {
		w.t.Fatal(err)
	}
	next, err := w.plan.Next(w.courses[r.Query], r, w.told)
	if err != nil {
		w.t.Fatal(err)
	}
	w.courses[next.Query], w.told = next, append(w.told, r)
}

func (w *world) secagg(a study.Ask) secagg.Query {
	return secagg.Query{Slot: a.Slot, Context: w.plan.Context(w.setup.Transcript(), a), Bits: w.plan.Bits, Lanes: w.plan.Queries[a.Query].Lanes}
}

// vector is what a site has to hide: its sum and the lanes that key the noise.
func (w *world) vector(i int, a study.Ask) []uint64 {
	w.t.Helper()
	sum, err := w.rows[i].Answer(w.plan, i, a)
	if err != nil {
		w.t.Fatal(err)
	}
	var v []uint64
	for _, x := range sum {
		v = append(v, uint64(x)&ring(w.plan.Bits))
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
		out[c] = ed25519.Sign(w.party[c].identity, releaseBytes(w.setup.Transcript(), q, u))
	}
	return out
}

// shares shows a site U and a certificate and asks for its shares; nil if it refuses.
func (w *world) shares(i int, a study.Ask, u []int, certificate [][]byte) []byte {
	w.t.Helper()
	return answerTo(w.ask(i, open(w.plan.Digest, a.Query, a.Slot, u, certificate)), (*covey.SiteMessage).GetShares).GetShares()
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
	r, err := w.plan.NewRelease(a, u, noised)
	if err != nil {
		w.t.Fatal(err)
	}
	encoded, err := r.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
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

// signed names what a release signature is on.
type signed struct {
	slot int
	ctx  [32]byte
	u    string
}

type uploaded struct {
	site   int
	ask    study.Ask
	masked []byte
}

// view is all that the coordinator was told by honest sites and can use.
type view struct {
	uploads    []uploaded
	shares     [][]byte
	signatures map[signed]map[int][]byte
	refusals   map[covey.Code]int
}

func (v *view) note(w *world, i int, m *covey.CoordinatorMessage, said []*covey.SiteMessage) {
	if v.signatures == nil {
		v.signatures, v.refusals = map[signed]map[int][]byte{}, map[covey.Code]int{}
	}
	for _, s := range said {
		switch b := s.GetBody().(type) {
		case *covey.SiteMessage_Upload:
			w.latest[i] = w.sending[i]
			v.upload(uploaded{i, w.latest[i], b.Upload.GetMasked()})
		case *covey.SiteMessage_Shares:
			v.shares = append(v.shares, b.Shares.GetShares())
		case *covey.SiteMessage_ReleaseSignature:
			if r := m.GetRelease(); r != nil {
				v.sign(signed{int(r.GetSlot()), w.secagg(w.latest[i]).Context, fmt.Sprint(ints(r.GetSurvivors()))}, i, b.ReleaseSignature.GetSignature())
			}
		case *covey.SiteMessage_Refusal:
			v.refusals[b.Refusal.GetCode()]++
			if r := b.Refusal; len(r.GetSignature()) > 0 && len(r.GetContext()) == 32 {
				v.sign(signed{int(r.GetSlot()), [32]byte(r.GetContext()), fmt.Sprint(ints(r.GetSurvivors()))}, i, r.GetSignature())
			}
		}
	}
}

// has reports whether a site's upload was seen before.
func (v *view) has(site int, a study.Ask, masked []byte) bool {
	return slices.ContainsFunc(v.uploads, func(u uploaded) bool {
		return u.site == site && u.ask.Slot == a.Slot && u.ask.Query == a.Query && bytes.Equal(u.masked, masked)
	})
}

func (v *view) upload(u uploaded) {
	if !v.has(u.site, u.ask, u.masked) {
		v.uploads = append(v.uploads, u)
	}
}

func (v *view) sign(s signed, site int, signature []byte) {
	if v.signatures[s] == nil {
		v.signatures[s] = map[int][]byte{}
	}
	v.signatures[s][site] = signature
}
