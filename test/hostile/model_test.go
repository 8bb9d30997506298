package hostile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

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

// paths returns the shortest way to each state of one site that any messages lead to.
func paths() (states []member, way map[member][]message) {
	way = map[member][]message{fresh: nil}
	states = []member{fresh}
	for k := 0; k < len(states); k++ {
		for _, m := range messages {
			next, _ := states[k].step(m, loose{})
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
func modelWorld(t *testing.T, n int) *world {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}, book: map[int]rules{1: {}, 2: {}}, rounds: n + 1, spare: n + 8})
	w.honest = []int{0}
	for _, i := range []int{1, 2} {
		w.corrupt = append(w.corrupt, i) // for certificates alone: the checker is not asked
		delete(w.site, i)
	}
	w.begin()
	return w
}

// deliver returns a message to the agent and says whether it gives what is asked for; state is the
// model's, from which only the question that the slot is open for is taken.
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
	states, way := paths()
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
		w := modelWorld(t, len(part))
		for k, at := range part {
			c, f := all[at], field{w, k, 2 * k}
			w.name[k] = fmt.Sprintf("%v then %v", way[c.state], c.m)
			state := fresh
			for _, m := range append(slices.Clone(way[c.state]), c.m) {
				next, want := agentStep(state, m)
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
	w := modelWorld(t, walks)
	for k := range walks {
		f, state := field{w, k, 2 * k}, fresh
		w.name[k] = "a random walk"
		for range 25 {
			m := messages[rng.IntN(len(messages)-1)]
			if rng.IntN(20) == 0 {
				m = message{what: mCrash}
			}
			next, want := agentStep(state, m)
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

// whole is the state of the three honest sites.
type whole [3]member

// certified reports whether the coordinator has a certificate that a site takes: two honest
// signatures on the set in the context that the site is asked in, and the corrupt site's.
func (g whole) certified(site int, m message) bool {
	n := 0
	for _, l := range g {
		if l.sign[m.slot] == m.arg+1 && l.up[m.slot] == g[site].up[m.slot] {
			n++
		}
	}
	return n >= 2
}

// knowledge is what the coordinator has of a slot, beside uploads: by kind and dealer, and the keys
// of pairs that survivors told.
type knowledge struct {
	secret [2][3]bool
	pair   [3][3]bool
}

// told adds the keys that sites told of their pairs.
func (k *knowledge) told(g whole, slot int8, sets [2][]int, r loose) {
	for j, l := range g {
		for set, u := range sets {
			if l.keys>>(2*int(slot)+set)&1 == 0 || !slices.Contains(u, j) && !r.keysOutside {
				continue
			}
			for i := range g {
				if i != j && (r.keysInside || !slices.Contains(u, i)) {
					k.pair[i][j], k.pair[j][i] = true, true
				}
			}
		}
	}
}

// opens judges a state for two survivor sets: how many sums are open, whether one is of too few
// sites, and whether both kinds of a site's secrets are. gone are shares that were sent before
// those in the state, where a rule is left out.
func (g whole) opens(sets [2][]int, gone [4]int, r loose) (sums int, few, both bool) {
	for slot := range int8(2) {
		count := [2]int{gone[2*slot], gone[2*slot+1]} // of shares, by set
		for _, l := range g {
			if l.sent != 0 && (l.sent-1)/2 == slot {
				count[(l.sent-1)%2]++
			}
		}
		proofs := 0
		for _, l := range g {
			if l.proved {
				proofs++
			}
		}
		var known knowledge // two honest shares and the corrupt site's
		known.told(g, slot, sets, r)
		for j := range 3 {
			n := [2]int{proofs, proofs}
			for k, u := range sets {
				if slices.Contains(u, j) {
					n[kindB] += count[k]
				} else {
					n[kindE] += count[k]
				}
			}
			known.secret[kindE][j], known.secret[kindB][j] = n[kindE] >= 2, n[kindB] >= 2
			both = both || n[kindE] >= 2 && n[kindB] >= 2
		}
		for x := int8(1); x <= 2; x++ {
			sites := g.sums(slot, x, known)
			for _, size := range sites {
				sums++
				few = few || size < 2
			}
		}
	}
	return sums, few, both
}

// sums returns the sizes of the sums that are open among uploads of one slot and x. Sites whose
// common mask is not known are in one sum or in none; a mask with a site whose upload is not there
// never goes.
func (g whole) sums(slot, x int8, known knowledge) (sizes []int) {
	seen := [3]bool{}
	for i := range g {
		if seen[i] || g[i].up[slot] != x {
			continue
		}
		group, open := []int{i}, true
		seen[i] = true
		for k := 0; k < len(group); k++ {
			a := group[k]
			open = open && known.secret[kindB][a]
			for b := range g {
				if b == a || known.secret[kindE][a] || known.secret[kindE][b] || known.pair[a][b] {
					continue
				}
				if g[b].up[slot] != x {
					open = false
				} else if !seen[b] {
					seen[b] = true
					group = append(group, b)
				}
			}
		}
		if open {
			sizes = append(sizes, len(group))
		}
	}
	return sizes
}

func (l member) code() int {
	c := int(l.open + 1)
	for slot := range 2 {
		c = (c*3+int(l.up[slot]))*3 + int(l.sign[slot])
	}
	c = (c*5+int(l.sent))*16 + int(l.keys)
	if l.proved {
		return 2*c + 1
	}
	return 2 * c
}

const memberCodes = 3 * 81 * 5 * 16 * 2

// rule is the model's rule as a table, by code.
type rule struct {
	of   [memberCodes]member
	next [memberCodes][]uint16 // by message; itself where nothing changes
}

func tabled(r loose) *rule {
	t := &rule{}
	todo := []member{fresh}
	for len(todo) > 0 {
		l := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c := l.code()
		if t.next[c] != nil {
			continue
		}
		t.of[c] = l
		for _, m := range messages {
			next, _ := l.step(m, r)
			t.next[c] = append(t.next[c], uint16(next.code()))
			todo = append(todo, next)
		}
	}
	return t
}

// judged is a state: the sites' codes in order, as the rule does not tell the sites apart and all
// pairs of sets are judged; and, where rules are left out, the shares that were sent before, of
// which at most two of each (slot, set) matter.
type judged struct {
	sites [3]uint16
	gone  [4]uint8
}

// verdict is of a state's uploads and shares, for all pairs of sets.
type verdict struct {
	open   bool
	broken string
}

func (t *rule) judge(at judged, pairs [][2][]int, r loose) (v verdict) {
	g, gone := whole{}, [4]int{}
	for i, c := range at.sites {
		g[i] = t.of[c]
	}
	for k, n := range at.gone {
		gone[k] = int(n)
	}
	for _, p := range pairs {
		sums, few, both := g.opens(p, gone, r)
		v.open = v.open || sums > 0
		if sums > 1 || few || both {
			v.broken = fmt.Sprintf("%+v, shares before %v, sets %v: %d sums, of too few %v, both kinds %v", g, gone, p, sums, few, both)
		}
	}
	return v
}

// explored is what explore found.
type explored struct {
	states, moves, open int
	broken              string
}

// explore walks every interleaving of messages, with as many values of x, and stops at a state that
// breaks a promise.
func explore(r loose, xs int8) (out explored) {
	var pairs [][2][]int
	lawful := subsets(4, 3)
	for a := range lawful {
		for b := range a {
			pairs = append(pairs, [2][]int{lawful[b], lawful[a]})
		}
	}
	t, verdicts := tabled(r), map[judged]verdict{}
	c := uint16(fresh.code())
	start := judged{sites: [3]uint16{c, c, c}}
	seen, queue := map[judged]bool{start: true}, []judged{start}
	for len(queue) > 0 {
		at := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		out.states++
		key := at
		for i, c := range at.sites { // neither signatures nor what is asked now decide what is open
			l := t.of[c]
			l.sign, l.open = [2]int8{}, -1
			key.sites[i] = uint16(l.code())
		}
		v, ok := verdicts[key]
		if !ok {
			v = t.judge(at, pairs, r)
			verdicts[key] = v
		}
		if out.broken = v.broken; out.broken != "" {
			return out
		}
		if v.open {
			out.open++
		}
		var g whole
		for i, c := range at.sites {
			g[i] = t.of[c]
		}
		for i, c := range at.sites {
			if i > 0 && c == at.sites[i-1] {
				continue // the same again
			}
			for k, m := range messages {
				if m.what == mQuery && m.arg >= xs || m.what == mOpen && !g.certified(i, m) {
					continue
				}
				out.moves++
				if t.next[c][k] == c {
					continue
				}
				next := at
				next.sites[i] = t.next[c][k]
				if old := g[i].sent; old != 0 && t.of[next.sites[i]].sent != old {
					next.gone[old-1] = min(2, next.gone[old-1]+1)
				}
				slices.Sort(next.sites[:])
				if !seen[next] {
					seen[next] = true
					queue = append(queue, next)
				}
			}
		}
	}
	return out
}

// TestEveryInterleaving explores the model to its end: whatever a coordinator delivers to three
// honest sites of four, about two slots of a query, two values of x and any two lawful survivor
// sets, with crashes between, at most one sum is open, of at least two honest sites, and never both
// kinds of a site's secrets. What the coordinator was not told because of a crash it is taken to
// know, so a lost answer is among them. The short form has one x. Rules L4 to L11, A9.
func TestEveryInterleaving(t *testing.T) {
	xs := int8(1)
	if *variants == 0 {
		xs = 2
	}
	e := explore(loose{}, xs)
	if e.broken != "" {
		t.Fatal(e.broken)
	}
	if e.open == 0 {
		t.Error("no state has an open sum: the model does not get as far as shares")
	}
	t.Logf("figure: %d states of the three sites (%d x), %d moves, %d states with an open sum, 10 pairs of sets each: none breaks", e.states, xs, e.moves, e.open)
	// What the rules are worth: which of them, left out alone or together, break a promise in the
	// model.
	for _, c := range []struct {
		name   string
		r      loose
		breaks bool
	}{
		{"L6, one signature a slot", loose{signTwice: true}, true}, // shares for one set, keys of another

		{"L8, one opening a query", loose{sentTwice: true}, true},
		{"L9, no older slot", loose{older: true}, false},
		{"L10, no other slot after shares", loose{move: true}, false},
		{"L8 and L10", loose{sentTwice: true, move: true}, true},
		{"L6, L9 and L10", loose{signTwice: true, older: true, move: true}, true},
		{"L6 and L8", loose{signTwice: true, sentTwice: true}, true},
		{"keys only after shares", loose{keysBefore: true}, true},
		{"keys only for the shares' set", loose{keysOther: true}, true},
		{"keys of no pair inside the set", loose{keysInside: true}, true},
		{"keys of no site outside of the set", loose{keysOutside: true}, false},
		{"no keys after a later signature", loose{keysLate: true}, false},
		{"leaves in a proof", loose{proofShares: true}, true},
	} {
		if *variants > 0 && !c.breaks {
			continue // to the end of a larger model: in the long form
		}
		e := explore(c.r, 1)
		if (e.broken != "") != c.breaks {
			t.Errorf("without %s: broken is %q", c.name, e.broken)
		}
		t.Logf("without %s: %d states, %.200s", c.name, e.states, e.broken)
	}
}
