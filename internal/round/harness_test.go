package round

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// harness is a leader, a log that commits what it is given, and sites that
// answer what they are asked, all in memory and in order.
type harness struct {
	t     testing.TB
	state *State
	sites int
	down  map[int]bool // sites that answer nothing
	mute  map[string]bool

	log     []Entry
	asked   []string // "kind site query slot"
	pending []Effect
	opened  map[string]int
	drafts  int
	served  map[int]int // by site, the slot that it was last asked for shares of
	// trouble is what an opening meets, each once
	trouble []func(Open) Event
	dropped []int
}

// proposed returns the bytes of a small study.
func proposed(t testing.TB, sites int, change func(*proposal.Spec)) []byte {
	t.Helper()
	spec := proposal.Spec{
		Center: proposal.CenterPublic,
		Name:   "test", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Rounds: 2, OnDropout: proposal.DropoutContinue, ExplainedVariance: proposal.VarianceNone,
		Columns:   []proposal.Column{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Deadlines: proposal.Deadlines{Round: proposal.Duration(time.Second), Tick: proposal.Duration(time.Millisecond)},
	}
	if change != nil {
		change(&spec)
	}
	var roster []proposal.Member
	for i := range sites {
		key := ed25519.NewKeyFromSeed(append(make([]byte, 30), byte((i+1)>>8), byte(i+1))).Public().(ed25519.PublicKey)
		roster = append(roster, proposal.Member{Name: fmt.Sprintf("site-%d", i), Identity: proposal.Key(key), Units: 1000 + i})
	}
	return must.Get(proposal.Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{1}))(t)
}

func newHarness(t testing.TB, sites int, change func(*proposal.Spec)) *harness {
	t.Helper()
	h := &harness{t: t, state: &State{}, sites: sites, down: map[int]bool{}, mute: map[string]bool{}, opened: map[string]int{}, served: map[int]int{}}
	body := proposed(t, sites, change)
	h.commit(Entry{Kind: EntryProposed, Study: proposal.DigestOf(body), Body: body})
	h.lead()
	return h
}

func (h *harness) lead() {
	var up []int
	for i := range h.sites {
		if !h.down[i] {
			up = append(up, i)
		}
	}
	led := Led{Connected: up}
	if h.state.plan.Thresholds.Sparse() && h.state.Status == StatusRunning {
		led.Graph = complete{h.state.plan.Thresholds.Quorum}
	}
	h.event(led)
}

func (h *harness) commit(e Entry) {
	// The log is bytes: what does not survive encoding is not there after a crash.
	raw := must.Get(json.Marshal(e))(h.t)
	var back Entry
	must.Do(h.t, json.Unmarshal(raw, &back))
	effects, err := h.state.Step(Committed{back})
	if err == nil {
		h.log = append(h.log, back)
	}
	h.pending = append(h.pending, effects...)
}

func (h *harness) event(e Event) {
	effects, err := h.state.Step(e)
	if err != nil {
		h.t.Fatalf("%T: %v", e, err)
	}
	h.pending = append(h.pending, effects...)
}

// crash loses the leader's memory and starts again from the durable state.
func (h *harness) crash() {
	raw := must.Get(json.Marshal(h.state.Durable))(h.t)
	var d Durable
	must.Do(h.t, json.Unmarshal(raw, &d))
	h.state = must.Get(Restore(d))(h.t)
	h.pending = nil
	h.lead()
}

// one runs the oldest effect; false if there is none.
func (h *harness) one() bool {
	if len(h.pending) == 0 {
		return false
	}
	e := h.pending[0]
	h.pending = h.pending[1:]
	switch e := e.(type) {
	case Propose:
		h.commit(e.Entry)
	case VerifySetup:
		h.event(SetupVerified{})
	case DrawGraph:
		h.event(Drawn{Graph: complete{h.state.plan.Thresholds.Quorum}})
	case Open:
		if len(h.trouble) > 0 {
			met := h.trouble[0]
			h.trouble = h.trouble[1:]
			h.event(met(e))
			break
		}
		h.open(e)
	case Draft:
		h.drafts++
		h.commit(h.state.NewDrafted(fmt.Appendf(nil, "draft of %d releases", len(h.state.Releases))))
	case Drop:
		h.dropped = append(h.dropped, e.Helpers...)
	case Send:
		if !h.down[e.Site] {
			h.answer(e.Site, e.Message)
		}
	}
	return true
}

func (h *harness) run() {
	for h.one() {
	}
}

// expire passes a deadline of the open slot.
func (h *harness) expire(p Phase) {
	h.event(Expired{Query: h.state.Query, Slot: h.state.Slot, Phase: p})
	h.run()
}

func (h *harness) open(e Open) {
	h.opened[fmt.Sprint(e.Ask.Query)]++
	noised := make([]int64, h.state.plan.Queries[e.Ask.Query].Values)
	for i := range noised {
		noised[i] = int64(1000 * (i + 1))
	}
	r := must.Get(h.state.plan.NewRelease(e.Ask, e.Survivors, noised))(h.t)
	raw := must.Get(r.Encode())(h.t)
	next := must.Get(h.state.Next(r, raw))(h.t)
	h.commit(h.state.NewReleased(r, Released{Encoded: raw, Signature: []byte("signature")}, next))
}

// answer checks what may be asked of a site and when, and answers as a site does.
func (h *harness) answer(i int, m wire.Message) {
	s := h.state
	note := func(kind string) { h.asked = append(h.asked, fmt.Sprintf("%s %d %d %d", kind, i, s.Query, s.Slot)) }
	switch m := m.(type) {
	case wire.Proposal:
		h.event(Decided{Site: i, Verdict: study.VerdictApproved})
	case wire.Announce:
		h.event(Announced{Site: i, Signed: fmt.Appendf(nil, "announcement %d", i)})
	case wire.Reveal:
		h.event(Revealed{Site: i, Nonce: []byte("nonce")})
	case wire.Deal:
		var boxes [][]byte
		for _, j := range h.others(i) {
			boxes = append(boxes, fmt.Appendf(nil, "box %d to %d", i, j))
		}
		h.event(Dealt{Site: i, Boxes: boxes, Tags: fmt.Appendf(nil, "tags of %d", i)})
	case wire.Confirm:
		for k, from := range h.others(i) {
			if len(m.Boxes) != h.sites-1 || string(m.Boxes[k]) != fmt.Sprintf("box %d to %d", from, i) {
				h.t.Fatalf("site %d got the boxes %q", i, m.Boxes)
			}
		}
		h.event(Confirmed{Site: i, Signature: []byte("confirmed"), Deposits: fmt.Appendf(nil, "deposits of %d", i)})
	case wire.Recall:
		note("recall")
		if !h.mute[fmt.Sprint("recall ", i)] {
			h.event(Recalled{i})
		}
	case wire.Query:
		note("upload")
		if !h.mute["upload"] && !h.mute[fmt.Sprint("upload ", i)] {
			h.event(Uploaded{i, m.Ask.Query, m.Ask.Slot})
		}
	case wire.Release:
		note("sign")
		if h.last(EntrySurvivors, m.Query, m.Slot) == nil && !h.state.waits() {
			h.t.Fatalf("a signature on U of slot %d was asked for before U was committed", m.Slot)
		}
		if !h.mute["sign"] {
			h.event(Signed{i, m.Query, m.Slot, fmt.Appendf(nil, "signature %d", i)})
		}
	case wire.Open:
		note("share")
		if h.last(EntryOpening, m.Query, m.Slot) == nil {
			h.t.Fatalf("shares of slot %d were asked for before the opening was committed", m.Slot)
		}
		h.served[i] = m.Slot
		if !h.mute["share"] && !h.mute[fmt.Sprint("share ", i)] {
			h.event(Shared{i, m.Query, m.Slot})
		}
	case wire.Attest:
		note("attest")
		if h.state.Draft == nil || string(m.Draft) != string(h.state.Draft) {
			h.t.Fatalf("a signature on %q was asked for, %q is committed", m.Draft, h.state.Draft)
		}
		if !h.mute["attest"] {
			h.event(Attested{i, fmt.Appendf(nil, "attestation %d", i)})
		}
	case wire.Prove:
		note(fmt.Sprintf("prove of %d", m.Dealer.Site()))
		h.afterOpen(i, m.Slot)
		if !h.mute[fmt.Sprint("prove ", i)] && s.WantsProof(i, m.Dealer.Site()) {
			h.event(Proved{i, m.Query, m.Slot})
		}
	case wire.Keys:
		note("keys")
		h.afterOpen(i, m.Slot)
		if !h.mute[fmt.Sprint("keys ", i)] && s.WantsKeys(i) {
			h.event(Keyed{i, m.Query, m.Slot})
		}
	case wire.Final:
		if h.last(EntryReleased, m.Query, m.Slot) == nil {
			h.t.Fatalf("a release of query %d was told before it was committed", m.Query)
		}
	}
}

// afterOpen checks that a site was asked for its shares of the slot before.
func (h *harness) afterOpen(site, slot int) {
	h.t.Helper()
	if at, ok := h.served[site]; !ok || at != slot {
		h.t.Fatalf("site %d was not asked for its shares of slot %d", site, slot)
	}
}

// others are all sites but one.
func (h *harness) others(than int) []int {
	var out []int
	for i := range h.sites {
		if i != than {
			out = append(out, i)
		}
	}
	return out
}

func (h *harness) last(kind EntryKind, query, slot int) *Entry {
	for i := len(h.log) - 1; i >= 0; i-- {
		if e := h.log[i]; e.Kind == kind && e.Query == query && e.Slot == slot {
			return &h.log[i]
		}
	}
	return nil
}

// audit checks the log as a whole.
func (h *harness) audit() {
	h.t.Helper()
	released, survivors := map[int]int{}, map[int]int{}
	slot := -1
	for _, e := range h.log {
		switch e.Kind {
		case EntryReleased:
			released[e.Query]++
			if e.Slot <= slot {
				h.t.Fatalf("query %d was released in slot %d, not after slot %d", e.Query, e.Slot, slot)
			}
			slot = e.Slot
			if h.last(EntryOpening, e.Query, e.Slot) == nil {
				h.t.Fatalf("query %d was released without a committed opening", e.Query)
			}
		case EntrySurvivors:
			survivors[e.Slot]++
			if len(e.Survivors) < h.state.plan.Thresholds.MinSurvivors {
				h.t.Fatalf("slot %d has %d survivors, at least %d are needed", e.Slot, len(e.Survivors), h.state.plan.Thresholds.MinSurvivors)
			}
		case EntryAbandoned:
			if h.last(EntryOpening, e.Query, e.Slot) != nil {
				h.t.Fatalf("slot %d was abandoned after its opening was committed", e.Slot)
			}
		}
	}
	for q, n := range released {
		if n != 1 {
			h.t.Fatalf("query %d was released %d times", q, n)
		}
	}
	for s, n := range survivors {
		if n != 1 {
			h.t.Fatalf("slot %d has %d survivor sets", s, n)
		}
	}
}

func (h *harness) want(status Status) {
	h.t.Helper()
	if h.state.Status != status {
		h.t.Fatalf("the study is %s (%s), want %s; waiting for %v", h.state.Status, h.state.Code, status, h.state.WaitingFor())
	}
	h.audit()
}
