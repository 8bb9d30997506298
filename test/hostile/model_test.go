package hostile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
)

// The release rule as a small model: one query, two slots, two values of x, two survivor sets,
// four sites of which one is corrupt. local is what one honest site knows of it.
type member struct {
	up   [2]int8 // by slot: 0, or 1 + which x it uploaded for
	sign [2]int8 // by slot: 0, or 1 + which set it signed
	sent int8    // 0, or 1 + 2·slot + set that its shares went out for
	open int8    // -1, or the slot that this process was last asked about
	// What it said besides of an opening, and the coordinator keeps: bit 2·slot + set for its keys
	// of pairs with sites outside of the set, if it is in it; and whether it ever proved a share,
	// where proofs are not as they should be. A good one tells nothing that is secret.
	keys   uint8
	proved bool

	// checked is whether it checked a certificate for the open slot since it was last asked for its
	// upload; of waitStep alone.
	checked bool
}

var fresh = member{open: -1}

type what int8

const (
	mQuery what = iota // slot, x
	mSign              // slot, set
	mOpen              // slot, set, with a certificate
	mKeys              // slot, set
	mProve             // slot, set
	mCrash
)

type message struct {
	what what
	slot int8
	arg  int8 // x or set
}

func (m message) String() string {
	return fmt.Sprintf("%s(%d,%d)", [...]string{"query", "sign", "open", "keys", "prove", "crash"}[m.what], m.slot, m.arg)
}

// messages are all that a coordinator can deliver.
var messages = func() (out []message) {
	for _, w := range []what{mQuery, mSign, mOpen, mKeys, mProve} {
		for slot := range int8(2) {
			for arg := range int8(2) {
				out = append(out, message{w, slot, arg})
			}
		}
	}
	return append(out, message{what: mCrash})
}()

// latest is the latest slot that was signed, -1 for none.
func (l member) latest() int8 {
	for slot := int8(1); slot >= 0; slot-- {
		if l.sign[slot] != 0 {
			return slot
		}
	}
	return -1
}

// loose leaves rules out of the model, to see that they are needed.
type loose struct {
	signTwice, sentTwice, older, move bool

	// of keys: with no shares on record; with shares for another set of the slot on record; after a
	// signature in a later slot; of pairs inside the set; of a site that is not in it
	keysBefore, keysOther, keysLate, keysInside, keysOutside bool
	// a proof shows the dealer's other shares, not their leaves
	proofShares bool
}

// step is the rule of docs/protocol.md, L4 to L11 and AG-10 to AG-12: what a site does with a
// message, and whether it gives what is asked for. An mOpen comes with a good certificate.
// TestModelIsTheAgent holds agents to it.
func (l member) step(m message, r loose) (member, bool) {
	s := m.slot
	switch m.what {
	case mCrash:
		l.open = -1
		return l, false
	case mQuery:
		if l.up[s] != 0 { // L4
			if l.up[s] == m.arg+1 {
				l.open = s
				return l, true
			}
			return l, false
		}
		if l.sent != 0 && !r.move || s == 0 && l.up[1] != 0 { // L10, L5
			return l, false
		}
		l.up[s], l.open = m.arg+1, s
		return l, true
	case mSign:
		switch {
		case l.open != s, s < l.latest() && !r.older,
			l.sign[s] != 0 && l.sign[s] != m.arg+1 && !r.signTwice,            // L6
			l.sign[s] == 0 && l.sent != 0 && l.sent != 1+2*s+m.arg && !r.move: // L10
			return l, false
		}
		l.sign[s] = m.arg + 1
		return l, true
	}
	if m.what == mKeys || m.what == mProve {
		switch {
		case l.open != s, s < l.latest() && !r.keysLate,
			l.sent == 0 && !r.keysBefore,
			l.sent != 0 && l.sent != 1+2*s+m.arg && !r.keysBefore && !(r.keysOther && (l.sent-1)/2 == s):
			return l, false
		}
		if m.what == mKeys {
			l.keys |= 1 << (2*s + m.arg)
		} else {
			l.proved = r.proofShares
		}
		return l, true
	}
	// L9, L8
	if l.open != s || s < l.latest() && !r.older || l.sent != 0 && l.sent != 1+2*s+m.arg && !r.sentTwice {
		return l, false
	}
	l.sent = 1 + 2*s + m.arg
	return l, true
}

// waitStep is step in a study that waits for every site: all sites, the second of modelSets, are
// its only lawful set, for which a site signs and records its shares as it uploads (L7), and there
// are no keys of pairs. A proof needs a certificate that the site has checked.
func (l member) waitStep(m message) (member, bool) {
	if m.what == mKeys || m.arg == 0 && (m.what == mSign || m.what == mOpen || m.what == mProve) || m.what == mProve && !l.checked {
		return l, false
	}
	next, given := l.step(m, loose{})
	switch m.what {
	case mQuery:
		if next.up[m.slot] != l.up[m.slot] {
			next.sign[m.slot], next.sent = 2, 1+2*m.slot+1
		}
		next.checked = l.checked && !given
	case mOpen:
		next.checked = l.checked || given
	case mCrash:
		next.checked = false
	}
	return next, given
}

// paths returns the shortest way to each state of one site that any messages lead to.
func paths(step func(member, message) (member, bool)) (states []member, way map[member][]message) {
	way = map[member][]message{fresh: nil}
	states = []member{fresh}
	for k := 0; k < len(states); k++ {
		for _, m := range messages {
			next, _ := step(states[k], m)
			if _, ok := way[next]; !ok {
				way[next] = append(slices.Clone(way[states[k]]), m)
				states = append(states, next)
			}
		}
	}
	return states, way
}

// modelSets are the two sets of the model where agents are held to it: one without the agent.
var modelSets = [2][]int{{1, 2, 3}, {0, 1, 2, 3}}

// modelWorld is one agent among sites whose keys the test has, with room for n queries of two
// slots.
func modelWorld(t *testing.T, n int, onDropout string) *world {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}, book: map[int]rules{1: {}, 2: {}}, rounds: n + 1, spare: n + 8,
		change: func(s *proposal.Spec) { s.OnDropout = onDropout }})
	w.honest = []int{0}
	for _, i := range []int{1, 2} {
		w.corrupt = append(w.corrupt, i) // for certificates alone: the checker is not asked
		delete(w.site, i)
	}
	w.begin()
	return w
}

// deliver hands a message to the agent and reports whether the agent answers with what is asked
// for; state is the model's, from which only the question that the slot is open for is taken.
func (f field) deliver(m message, state member) bool {
	at := func(slot int8) study.Ask { return f.at(int(slot), int(max(state.up[slot], 1))) }
	switch m.what {
	case mCrash:
		f.agent(0).restart()
		return false
	case mQuery:
		return f.upload(0, f.at(int(m.slot), int(m.arg)+1)) != nil
	case mSign:
		return f.sign(0, at(m.slot), modelSets[m.arg]) != nil
	case mKeys:
		return f.keys(0, at(m.slot), modelSets[m.arg]) != nil
	case mProve:
		return f.prove(0, at(m.slot), modelSets[m.arg], 1) != nil
	}
	a, u := at(m.slot), modelSets[m.arg]
	cert := f.certificate(a, u)
	cert[0] = nil // of the others: the agent's own is not always there
	bad := slices.Clone(cert)
	bad[1] = nil
	if f.shares(0, a, u, bad) != nil {
		f.t.Errorf("%s: shares without a certificate", f.name[f.query])
	}
	return f.shares(0, a, u, cert) != nil
}

// agentSteps are the model's, for the agent, by on_dropout.
var agentSteps = map[string]func(member, message) (member, bool){proposal.DropoutContinue: agentStep, proposal.DropoutWait: member.waitStep}

// agentStep is the model's, for the agent: keys are told of a set that it is in.
func agentStep(state member, m message) (member, bool) {
	next, given := state.step(m, loose{})
	return next, given && (m.what != mKeys || slices.Contains(modelSets[m.arg], 0))
}

// over ends the query, whatever the agent did in it.
func (f field) over() {
	f.t.Helper()
	for slot := 1; slot >= 0; slot-- {
		if f.upload(0, f.at(slot, 1)) != nil || f.upload(0, f.at(slot, 2)) != nil {
			f.final(f.latest[0], f.everyone())
			return
		}
	}
	f.t.Fatal("nothing to end the query with")
}

// TestModelIsTheAgent takes a real agent to each state of the model, over the wire, delivers each
// message there and compares: exhaustively with -variants 0. Then random walks do the same.
func TestModelIsTheAgent(t *testing.T) {
	for onDropout, step := range agentSteps {
		t.Run(onDropout, func(t *testing.T) { modelIsTheAgent(t, onDropout, step) })
	}
}

func modelIsTheAgent(t *testing.T, onDropout string, step func(member, message) (member, bool)) {
	states, way := paths(step)
	type trial struct {
		state member
		m     message
	}
	var all []trial
	for _, s := range states {
		for _, m := range messages {
			all = append(all, trial{s, m})
		}
	}
	run := chosen(len(all))
	total := len(run)
	for len(run) > 0 {
		part := run[:min(200, len(run))]
		run = run[len(part):]
		w := modelWorld(t, len(part), onDropout)
		for k, at := range part {
			c, f := all[at], field{w, k, 2 * k}
			w.name[k] = fmt.Sprintf("%v then %v", way[c.state], c.m)
			state := fresh
			for _, m := range append(slices.Clone(way[c.state]), c.m) {
				next, want := step(state, m)
				if got := f.deliver(m, state); got != want {
					t.Fatalf("%s: the agent gives %v at %v, the model %v", w.name[k], got, m, want)
				}
				state = next
			}
			f.over()
		}
		w.stop()
	}
	walks := 4
	if *variants == 0 {
		walks = 190
	}
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	w := modelWorld(t, walks, onDropout)
	for k := range walks {
		f, state := field{w, k, 2 * k}, fresh
		w.name[k] = "a random walk"
		for range 25 {
			m := messages[rng.IntN(len(messages)-1)]
			if rng.IntN(20) == 0 {
				m = message{what: mCrash}
			}
			next, want := step(state, m)
			if got := f.deliver(m, state); got != want {
				t.Fatalf("walk %d: in %+v the agent gives %v at %v, the model %v", k, state, got, m, want)
			}
			state = next
		}
		f.over()
	}
	t.Logf("figure: %d of %d pairs of a site's state (%d) and a message (%d) compared with an agent, and %d random walks of 25",
		total, len(all), len(states), len(messages), walks)
}
