package coordinator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/noise"
	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/secagg"
	"covey/internal/stream"
	"covey/internal/study"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
	"covey/test/must"
	"covey/test/site"
)

// memoryLog commits at once, one entry after the other, and keeps every line.
type memoryLog struct {
	mu      sync.Mutex
	machine *Machine
	lines   [][]byte
	gate    chan struct{} // entries wait for its end, if it is there
}

func (l *memoryLog) Apply(_ context.Context, line []byte) (any, error) {
	l.mu.Lock()
	gate := l.gate
	l.mu.Unlock()
	if gate != nil {
		<-gate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, bytes.Clone(line))
	return l.machine.Apply(line), nil
}

// all returns the lines committed so far.
func (l *memoryLog) all() [][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// federation is a coordinator, a log in memory and sites that hold the protocol's
// real secrets, inside a synctest bubble.
type federation struct {
	t     *testing.T
	c     *Coordinator
	log   *memoryLog
	logs  bytes.Buffer // every log line, all levels
	auth  *pki.Authority
	sites []*fakeSite
	plan  *study.Plan
	sent  []sentMessage // to sites, in order

	// What every site of the sparse graph finds alike, once for all of them.
	board *secagg.Board
	drawn *secagg.Setup
}

type sentMessage struct {
	site int
	m    *covey.CoordinatorMessage
}

// fakeSite answers as docs/protocol.md says, from a store that a crash of the
// coordinator does not touch.
type fakeSite struct {
	index    int
	name     string
	identity ed25519.PrivateKey
	link     *link
	down     bool

	secrets   *secagg.Secrets
	announced []byte
	setup     *secagg.Setup
	boxes     [][]byte
	received  *secagg.Received
	ask       study.Ask
	query     secagg.Query
	uploads   map[int][]byte
	signed    map[int]*covey.Refusal // by slot: what it holds
	finals    map[int]*covey.Final
	// of all, and what it signed of results, by the draft's hash
	confirmations [][]byte
	drafts        map[[32]byte][]byte

	// vector is the site's own sum for an ask, before masking.
	vector func(study.Ask) []int64
	// corrupt changes what leaves, to be a faulty site.
	corrupt func(*covey.SiteMessage)
	// mute swallows answers.
	mute func(*covey.SiteMessage) bool
}

func newFederation(t *testing.T, sites int, change func(*proposal.Spec)) *federation {
	t.Helper()
	return federationOf(t, newAuthority(t), sites, change)
}

func newAuthority(t *testing.T) *pki.Authority {
	t.Helper()
	return site.Authority(t, t.TempDir(), time.Now(), "localhost")
}

func federationOf(t *testing.T, auth *pki.Authority, sites int, change func(*proposal.Spec)) *federation {
	t.Helper()
	f := &federation{t: t, auth: auth}
	f.restart(NewMachine(), nil)
	digits := len(fmt.Sprint(sites - 1)) // a roster is in the order of its names
	for i := range sites {
		seed := sha256.Sum256(fmt.Appendf(nil, "site %d", i))
		s := &fakeSite{
			index: i, name: fmt.Sprintf("site-%0*d", digits, i), identity: ed25519.NewKeyFromSeed(seed[:]),
			uploads: map[int][]byte{}, signed: map[int]*covey.Refusal{}, finals: map[int]*covey.Final{},
		}
		s.vector = s.sum
		f.sites = append(f.sites, s)
		token := fmt.Sprint("token ", i)
		f.apply(entry{Invite: &membership.InviteEntry{Token: token, Invite: membership.Invite{Site: s.name, Expires: time.Now().Add(time.Hour)}}})
		f.apply(entry{Join: &membership.JoinEntry{Token: token, Name: s.name, Key: proposal.Key(s.identity.Public().(ed25519.PublicKey)), Now: time.Now()}})
		f.connect(i)
	}
	spec := proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "test", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Rounds: 2, OnDropout: proposal.DropoutContinue, ExplainedVariance: proposal.VarianceNone,
		Columns:   []proposal.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}},
		Deadlines: proposal.Deadlines{Round: proposal.Duration(2 * time.Second), Tick: proposal.Duration(100 * time.Millisecond)},
	}
	if change != nil {
		change(&spec)
	}
	f.plan = must.Get(f.c.Create(spec))(t)
	return f
}

// encoded returns a machine's snapshot, restored has a machine read one.
func encoded(m *Machine) ([]byte, error) {
	write, err := m.Snapshot()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = write(&out)
	return out.Bytes(), err
}

func restored(m *Machine, raw []byte) error { return m.Restore(bytes.NewReader(raw)) }

// object returns a snapshot's JSON object, framed a snapshot of another one with the same shelf.
func object(raw []byte) string { return string(raw[8 : 8+binary.BigEndian.Uint64(raw)]) }

func framed(object string, raw []byte) []byte {
	out := append(binary.BigEndian.AppendUint64(nil, uint64(len(object))), object...)
	if raw != nil {
		out = append(out, raw[8+binary.BigEndian.Uint64(raw):]...)
	}
	return out
}

// restart replaces the coordinator by a new one over a machine's state.
func (f *federation) restart(m *Machine, lines [][]byte) {
	if f.c != nil {
		f.c.Close()
	}
	level := slog.HandlerOptions{Level: slog.LevelDebug}
	f.c = New(Options{Authority: f.auth, Machine: m, Logger: slog.New(slog.NewTextHandler(&f.logs, &level))})
	f.log = &memoryLog{machine: m, lines: lines}
	must.Do(f.t, f.c.Lead(f.log))
	for i, s := range f.sites {
		if !s.down {
			f.connect(i)
		}
	}
}

// crash restarts the coordinator from a log: the first keep lines of it, or all.
func (f *federation) crash(keep int) {
	lines := f.log.all()
	if keep >= 0 {
		lines = lines[:keep]
	}
	m := NewMachine()
	for _, line := range lines {
		if refused, ok := m.Apply(line).(error); ok {
			f.t.Logf("replay: %v", refused)
		}
	}
	f.restart(m, lines)
}

func (f *federation) apply(e entry) {
	f.t.Helper()
	must.Do(f.t, f.c.apply(e))
}

func (f *federation) connect(i int) {
	s := f.sites[i]
	s.down = false
	s.link = newLink(s.name)
	f.c.linked(s.link, map[string]int{"rows": 1000 + i}, chain.Head{})
}

func (f *federation) drop(i int) {
	f.sites[i].down = true
	f.c.dropped(f.sites[i].link)
}

// hears takes a site's message as it comes from the wire.
func (c *Coordinator) hears(l *link, m *covey.SiteMessage) error {
	raw, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	read, err := wire.DecodeSite(raw)
	if err != nil {
		return err
	}
	return c.receive(l, read)
}

func ints(v []uint32) []int {
	out := make([]int, len(v))
	for i, x := range v {
		out[i] = int(x)
	}
	return out
}

// pump delivers messages both ways until nothing moves and stop, if given, is not true. What is
// under way is taken from all links before a site answers, so that the order does not depend on how
// fast the leader is.
func (f *federation) pump(stop func() bool) {
	for {
		synctest.Wait()
		if stop != nil && stop() {
			return
		}
		taken := make([][]stream.Outgoing, len(f.sites))
		moved := false
		for i, s := range f.sites {
			if !s.down {
				taken[i] = s.link.Take()
				moved = moved || len(taken[i]) > 0
			}
		}
		for i, s := range f.sites {
			for _, late := range taken[i] {
				if !s.down {
					f.deliver(s, late)
				}
			}
		}
		if !moved {
			return
		}
	}
}

// deliver gives a site one message, and its answers to the coordinator.
func (f *federation) deliver(s *fakeSite, late stream.Outgoing) {
	raw := late.Raw
	if late.Encode != nil {
		if raw = must.Get(late.Encode())(f.t); raw == nil {
			return
		}
	}
	m := &covey.CoordinatorMessage{}
	must.Do(f.t, proto.Unmarshal(raw, m))
	f.sent = append(f.sent, sentMessage{s.index, m})
	for _, answer := range s.handle(f, m) {
		if s.corrupt != nil {
			s.corrupt(answer)
		}
		if s.mute == nil || !s.mute(answer) {
			if err := f.c.hears(s.link, answer); err != nil {
				f.t.Fatalf("%s: %v", s.name, err)
			}
		}
	}
}

// finish lets time pass until the study is over.
func (f *federation) finish() outline.View {
	f.t.Helper()
	for range 500 {
		f.pump(nil)
		if v := f.view(); v.Status == round.StatusCompleted || v.Status == round.StatusEnded {
			return v
		}
		time.Sleep(100 * time.Millisecond) // of the bubble's clock
	}
	f.t.Fatalf("the study does not end: %+v", f.view())
	return outline.View{}
}

func (f *federation) view() outline.View { return f.c.View(f.plan.Digest) }

// state is a copy of the study's state as it is now.
func (f *federation) state() *round.State {
	m := f.c.machine.lock()
	defer f.c.machine.unlock()
	r, _ := m.find(f.plan.Digest)
	if r.Closed != nil {
		state, _, err := r.Closed.Load()
		must.Do(f.t, err)
		must.Do(f.t, r.Closed.Releases(func(r round.Released) error {
			state.Releases = append(state.Releases, r)
			return nil
		}))
		return state
	}
	now := *r.State
	return &now
}

// sum is a site's vector: small numbers that differ by site and query.
func (s *fakeSite) sum(a study.Ask) []int64 {
	n := map[study.Kind]int{study.KindHistogram: study.HistogramBins, study.KindVariance: 1, study.KindTotal: 1}[a.Kind]
	if n == 0 {
		n = 4
	}
	v := make([]int64, n)
	for i := range v {
		v[i] = int64((s.index+1)*1000 + a.Query*10 + i)
		if a.Kind == study.KindPower && i%2 == 1 {
			v[i] = -v[i]
		}
	}
	return v
}

func (s *fakeSite) handle(f *federation, m *covey.CoordinatorMessage) []*covey.SiteMessage {
	switch b := m.GetBody().(type) {
	case *covey.CoordinatorMessage_Proposal:
		digest := proposal.DigestOf(b.Proposal.GetBody())
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{
			Study: digest[:], Verdict: covey.Verdict_VERDICT_APPROVED,
			Signature: study.SignDecision(s.identity, digest, study.VerdictApproved, "")}}}}
	case *covey.CoordinatorMessage_Announce:
		cfg := f.plan.Setup()
		if s.secrets == nil {
			secrets := must.Get(secagg.NewSecrets(cfg))(f.t)
			s.secrets, s.announced = &secrets, must.Get(secagg.Announce(cfg, s.index, secrets, s.identity))(f.t)
		}
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Announcement{Announcement: &covey.Announcement{
			Study: b.Announce.GetStudy(), Signed: s.announced}}}}
	case *covey.CoordinatorMessage_Reveal:
		if f.board == nil {
			f.board = must.Get(secagg.VerifyHeads(f.plan.Setup(), b.Reveal.GetAnnouncements()))(f.t)
		}
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Nonce{Nonce: &covey.Nonce{
			Study: b.Reveal.GetStudy(), Nonce: s.secrets.Nonce[:]}}}}
	case *covey.CoordinatorMessage_Deal:
		switch {
		case f.board == nil:
			s.setup = must.Get(secagg.Verify(f.plan.Setup(), b.Deal.GetAnnouncements()))(f.t)
		case f.drawn == nil:
			f.drawn = must.Get(f.board.Draw(b.Deal.GetNonces()))(f.t)
			fallthrough
		default:
			s.setup = f.drawn
		}
		if s.boxes == nil {
			s.boxes = must.Get(s.setup.Deal(s.index, *s.secrets, s.identity, b.Deal.GetKeys()))(f.t)
		}
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Boxes{Boxes: &covey.Boxes{Study: b.Deal.GetStudy(), Boxes: s.boxes}}}}
	case *covey.CoordinatorMessage_Confirm:
		return s.confirm(f, b.Confirm)
	case *covey.CoordinatorMessage_Recall:
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Recalled{Recalled: &covey.Recalled{
			Study: b.Recall.GetStudy(), Tags: s.setup.Tags(s.index, s.boxes), Deposits: s.received.Deposits}}}}
	case *covey.CoordinatorMessage_Confirmed:
		must.Do(f.t, s.setup.CheckConfirmations(b.Confirmed.GetSignatures()))
		s.confirmations = b.Confirmed.GetSignatures()
	case *covey.CoordinatorMessage_Query:
		return s.upload(f, b.Query)
	case *covey.CoordinatorMessage_Release:
		r := b.Release
		u := secagg.Survivors(ints(r.GetSurvivors()))
		if old := s.signed[s.query.Slot]; old != nil && !slices.Equal(ints(old.GetSurvivors()), u) {
			return []*covey.SiteMessage{{Body: &covey.SiteMessage_Refusal{Refusal: old}}}
		}
		signature := must.Get(s.setup.SignRelease(s.index, s.identity, s.query, u))(f.t)
		s.signed[s.query.Slot] = &covey.Refusal{Study: r.GetStudy(), Query: r.GetQuery(), Slot: r.GetSlot(), Code: covey.Code_CODE_HELD,
			Context: s.query.Context[:], Survivors: r.GetSurvivors(), Signature: signature}
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_ReleaseSignature{ReleaseSignature: &covey.ReleaseSignature{
			Study: r.GetStudy(), Query: r.GetQuery(), Slot: r.GetSlot(), Signature: signature}}}}
	case *covey.CoordinatorMessage_Open:
		o := b.Open
		shares := must.Get(s.setup.OpenShares(s.index, s.secrets.Slots[s.query.Slot], s.held(), s.query, ints(o.GetSurvivors()), o.GetCertificate()))(f.t)
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Shares{Shares: &covey.Shares{
			Study: o.GetStudy(), Query: o.GetQuery(), Slot: o.GetSlot(), Shares: shares}}}}
	case *covey.CoordinatorMessage_Prove:
		p := b.Prove
		proof := must.Get(s.setup.Proof(s.index, int(p.GetDealer())-1, s.query, ints(p.GetSurvivors()), s.received.Public))(f.t)
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Proof{Proof: &covey.Proof{
			Study: p.GetStudy(), Query: p.GetQuery(), Slot: p.GetSlot(), Dealer: p.GetDealer(), Proof: proof}}}}
	case *covey.CoordinatorMessage_Keys:
		k := b.Keys
		keys := must.Get(s.setup.Keys(s.index, s.secrets.Slots[s.query.Slot], s.held(), s.query, ints(k.GetSurvivors())))(f.t)
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_PairKeys{PairKeys: &covey.PairKeys{
			Study: k.GetStudy(), Query: k.GetQuery(), Slot: k.GetSlot(), Keys: keys}}}}
	case *covey.CoordinatorMessage_Final:
		s.finals[int(b.Final.GetQuery())] = b.Final
	case *covey.CoordinatorMessage_Attest:
		return []*covey.SiteMessage{s.attest(f, b.Attest)}
	}
	return nil
}

// held is what the site holds of the open slot.
func (s *fakeSite) held() secagg.SlotHeld { return s.received.Held[s.query.Slot] }

// confirm takes a site's boxes: it accuses whose do not hold, and who signed two.
func (s *fakeSite) confirm(f *federation, c *covey.Confirm) []*covey.SiteMessage {
	no := &covey.Refusal{Study: c.GetStudy(), Code: covey.Code_CODE_BAD_BOX}
	refuse := []*covey.SiteMessage{{Body: &covey.SiteMessage_Refusal{Refusal: no}}}
	if s.received != nil {
		if owner, evidence, ok := s.setup.Contradiction(s.index, s.received.Public, c.GetBoxes()); ok {
			no.Culprit, no.Evidence = 1+uint32(owner), evidence
			return refuse
		}
	} else {
		r, err := s.setup.Receive(s.index, *s.secrets, s.identity, c.GetBoxes(), c.GetBodies())
		if at, ok := errors.AsType[*secagg.SiteError](err); ok {
			k, _ := slices.BinarySearch(s.setup.Graph().Senders(s.index), at.Site)
			no.Code, no.Culprit, no.Evidence = covey.Code_CODE_BAD_SHARE, 1+uint32(at.Site), s.setup.Accusation(*s.secrets, c.GetBoxes()[k])
			return refuse
		}
		if _, ok := errors.AsType[*secagg.RelayError](err); ok {
			return refuse
		}
		if err != nil {
			f.t.Fatalf("%s: %v", s.name, err)
		}
		s.received = r
	}
	return []*covey.SiteMessage{{Body: &covey.SiteMessage_Confirmation{Confirmation: &covey.Confirmation{
		Study: c.GetStudy(), Signature: s.received.Confirmation, Deposits: s.received.Deposits, Statement: s.received.Statement}}}}
}

func (s *fakeSite) upload(f *federation, q *covey.Query) []*covey.SiteMessage {
	if final := s.finals[int(q.GetQuery())]; final != nil {
		return []*covey.SiteMessage{{Body: &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{
			Study: q.GetStudy(), Query: q.GetQuery(), Slot: q.GetSlot(), Code: covey.Code_CODE_FINAL, Final: final}}}}
	}
	ask := f.plan.Queries.Fill(study.Ask{Query: int(q.GetQuery()), Slot: int(q.GetSlot()), History: proposal.Digest(q.GetHistory()),
		X: q.GetX(), Center: q.GetCenter(), Found: q.GetFound(), Radius: q.GetRadius(), Grid: q.GetGrid(), Sigma: noise.Sigma(q.GetSigma())})
	if err := f.plan.Check(ask); err != nil {
		f.t.Fatalf("%s: %v", s.name, err)
	}
	s.ask = ask
	s.query = f.plan.Summed(s.setup.Transcript(), ask)
	if s.uploads[ask.Slot] == nil {
		var v []uint64
		for _, x := range s.vector(ask) {
			v = append(v, uint64(x)<<(64-f.plan.Bits)>>(64-f.plan.Bits))
		}
		if f.plan.Honest > 0 {
			for k, x := range f.share(s.index, ask, s.query.Context, f.plan.Thresholds.MinSurvivors) {
				v[k] += uint64(x)
			}
		} else {
			v = append(v, secagg.NoiseLanes(s.secrets.Slots[ask.Slot], s.query.Context, f.plan.Bits)...)
		}
		if err := s.setup.Mask(s.index, s.secrets.Slots[ask.Slot], s.received.Held[ask.Slot], s.query, v); err != nil {
			f.t.Fatalf("%s: %v", s.name, err)
		}
		s.uploads[ask.Slot] = secagg.Pack(v, f.plan.Bits)
	}
	out := []*covey.SiteMessage{{Body: &covey.SiteMessage_Upload{Upload: &covey.Upload{
		Study: q.GetStudy(), Query: q.GetQuery(), Slot: q.GetSlot(), Masked: s.uploads[ask.Slot]}}}}
	if old := s.signed[ask.Slot]; old != nil {
		out = append(out, &covey.SiteMessage{Body: &covey.SiteMessage_Refusal{Refusal: old}})
	}
	return out
}
