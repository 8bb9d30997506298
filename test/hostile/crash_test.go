package hostile

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"covey/internal/proposal"
	covey "covey/proto/covey/v1"
)

// crashing is an agent that dies after each message, its answer on the way, and is asked the same
// again by the next process: of all that it said, the coordinator has both.
type crashing struct {
	*realSite
	w        *world
	index    int
	restarts int
}

func (s *crashing) ask(m *covey.CoordinatorMessage) []*covey.SiteMessage {
	first := s.realSite.ask(m)
	s.restart()
	s.restarts++
	// It knows what a slot is about only once it was asked its query again, which it answers
	// as before.
	if a, ok := s.w.latest[s.index]; ok && bytes.Equal(studyOf(m), s.w.plan.Digest[:]) {
		for _, said := range s.realSite.ask(query(s.w.plan.Digest, a)) {
			if up := said.GetUpload(); up != nil && !s.w.view.has(s.index, a, up.GetMasked()) {
				s.f.t.Errorf("%s uploads other bytes after a crash", s.name)
			}
		}
	}
	again := s.realSite.ask(m)
	s.compare(m, first, again)
	return append(first, again...)
}

// compare checks that what was given before is given again byte for byte, or refused, and that what
// was refused before is not given.
func (s *crashing) compare(m *covey.CoordinatorMessage, first, again []*covey.SiteMessage) {
	s.f.t.Helper()
	given := func(said []*covey.SiteMessage) (out [][]byte) {
		for _, a := range said {
			if a.GetRefusal() == nil {
				raw, err := proto.Marshal(a)
				if err != nil {
					s.f.t.Fatal(err)
				}
				out = append(out, raw)
			}
		}
		return out
	}
	a, b := given(first), given(again)
	for _, raw := range b {
		if len(a) != 1 || !bytes.Equal(raw, a[0]) {
			s.f.t.Errorf("%s answers %T after a crash with other bytes, or with what it refused before", s.name, m.GetBody())
		}
	}
}

// crashes puts the world's agents into a state in which each message is followed by a crash.
func (w *world) crashes() (restarts func() int) {
	var all []*crashing
	for _, i := range w.real() {
		s := &crashing{realSite: w.agent(i), w: w, index: i}
		w.site[i] = s
		all = append(all, s)
	}
	return func() (n int) {
		for _, s := range all {
			n += s.restarts
		}
		return n
	}
}

// TestCrashAfterEveryMessage runs the attacks on slots against agents that crash after every
// message and are asked again: nothing more is opened, nothing is said otherwise. Rules L4, L6, L8,
// AG-5.
func TestCrashAfterEveryMessage(t *testing.T) {
	step := 5
	switch {
	case *variants == 0:
		step = 1
	case testing.Short():
		step = 15
	}
	some := func(all []attack) (run []attack) {
		for k, a := range all {
			if k%step == 0 {
				run = append(run, a)
			}
		}
		return run
	}
	run := some(slices.Concat(slotAttacks, openingAttacks))
	attacked := func(t *testing.T, run []attack, change func(*proposal.Spec)) {
		w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: len(run) + 2, spare: 2*len(run) + 8, change: change})
		w.begin()
		restarts := w.crashes()
		w.attacked(run, ", with crashes")
		t.Logf("figure: %d attacks, %d crashes of an agent, each asked again", len(run), restarts())
	}
	for _, noise := range noises {
		t.Run(noise, func(t *testing.T) { attacked(t, run, noisy(noise)) })
	}
	t.Run("wait", func(t *testing.T) { attacked(t, some(waitAttacks(t)), waits) })
}

// waits is a study whose sums are all over all sites.
func waits(s *proposal.Spec) { s.OnDropout = proposal.DropoutWait }

// waitAttacks are those on slots that take no sum without a site for lawful, nor a slot for one
// that can be given up.
func waitAttacks(t *testing.T) (out []attack) {
	fit := []string{
		"another x in a used slot", "another x to half of the sites", "another x to one site, which is in U",
		"one set's signatures in another context", "the same x again without one site, after opening",
		"the earlier slot after the later", "a slot of the query before", "the next query before this one's result",
		"shares before signing, then a signature on another set", "shares for a set other than the certified one",
		"signatures of two sets mixed", "another grid, noise, x or history", "after the result: everything again",
		"a result of what was never opened", "keys of other sets than the one that is open",
	}
	for _, a := range slices.Concat(slotAttacks, openingAttacks) {
		if slices.Contains(fit, a.name) {
			out = append(out, a)
		}
	}
	if len(out) != len(fit) {
		t.Fatalf("%d of %d attacks are there", len(out), len(fit))
	}
	return out
}

// TestCrashInSetup crashes each agent after each message of the setup. Rules AG-5 to AG-9.
func TestCrashInSetup(t *testing.T) {
	t.Run("continue", func(t *testing.T) { crashInSetup(t, nil, []int{0, 1, 3}) })
	t.Run("wait", func(t *testing.T) { crashInSetup(t, waits, []int{0, 1, 2, 3}) })
}

func crashInSetup(t *testing.T, change func(*proposal.Spec), u []int) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}, change: change})
	w.start()
	var all []*realSite
	for _, i := range w.real() {
		all = append(all, w.agent(i))
	}
	crash := func() {
		for _, s := range all {
			s.restart()
		}
	}
	id := w.plan.Digest
	same := func(what string, i int, a, b [][]byte) {
		for k := range a {
			if len(a[k]) == 0 && len(b[k]) == 0 {
				continue
			}
			if !bytes.Equal(a[k], b[k]) {
				t.Errorf("%s of site %d differs after a crash", what, i)
			}
		}
	}
	w.approve()
	crash()
	w.approve()
	w.announce()
	first := w.Announcements
	crash()
	w.announce()
	w.lookAside()
	same("the announcement", -1, first, w.Announcements)
	w.deal()
	dealt := w.Dealt
	crash()
	w.deal()
	for i := range dealt {
		same("a box", i, dealt[i], w.Dealt[i])
	}
	for _, i := range w.honest {
		boxes, _ := w.Received(i)
		a := answerTo(w.ask(i, confirm(id, boxes, nil)), (*covey.SiteMessage).GetConfirmation).GetSignature()
		crash()
		b := answerTo(w.ask(i, confirm(id, boxes, nil)), (*covey.SiteMessage).GetConfirmation).GetSignature()
		same("the confirmation", i, [][]byte{a}, [][]byte{b})
		if w.upload(i, w.asking(0, 0, 1)) != nil {
			t.Errorf("site %d uploads before it has all confirmations", i)
		}
	}
	w.confirm()
	crash()
	w.round(w.asking(0, 0, 1), u)
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
}

// scripts are messages to one site about two slots and two sets, a few of many orders; the
// exhaustive ones are in the model.
var scripts = map[string][]func(f field, i int, u, v []int){
	"sign, sign, open, open": {
		func(f field, i int, _, _ []int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int, u, v []int) { f.sign(i, f.at(0, 1), u) },
		func(f field, i int, u, v []int) { f.sign(i, f.at(0, 1), v) },
		func(f field, i int, u, v []int) { f.shares(i, f.at(0, 1), u, f.certificate(f.at(0, 1), u)) },
		func(f field, i int, u, v []int) { f.shares(i, f.at(0, 1), v, f.certificate(f.at(0, 1), v)) },
	},
	"open, move on, open": {
		func(f field, i int, _, _ []int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int, u, v []int) { f.sign(i, f.at(0, 1), u) },
		func(f field, i int, u, v []int) { f.shares(i, f.at(0, 1), u, f.certificate(f.at(0, 1), u)) },
		func(f field, i int, _, _ []int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int, u, v []int) { f.sign(i, f.at(1, 1), v) },
		func(f field, i int, u, v []int) { f.shares(i, f.at(1, 1), v, f.certificate(f.at(1, 1), v)) },
	},
	"move on, come back": {
		func(f field, i int, _, _ []int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int, u, v []int) { f.sign(i, f.at(0, 1), u) },
		func(f field, i int, _, _ []int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int, u, v []int) { f.sign(i, f.at(1, 1), v) },
		func(f field, i int, _, _ []int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int, u, v []int) { f.shares(i, f.at(0, 1), u, f.certificate(f.at(0, 1), u)) },
		func(f field, i int, _, _ []int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int, u, v []int) { f.shares(i, f.at(1, 1), v, f.certificate(f.at(1, 1), v)) },
	},
	"another x, another slot": {
		func(f field, i int, _, _ []int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int, _, _ []int) { f.upload(i, f.at(0, 2)) },
		func(f field, i int, _, _ []int) { f.upload(i, f.at(1, 2)) },
		func(f field, i int, _, _ []int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int, u, v []int) { f.sign(i, f.at(1, 2), u) },
		func(f field, i int, u, v []int) { f.shares(i, f.at(1, 2), u, f.certificate(f.at(1, 2), u)) },
	},
}

// perform runs a script about two sets against all honest sites and ends the query.
func (f field) perform(script []func(field, int, []int, []int), u, v []int) {
	f.t.Helper()
	for _, step := range script {
		for _, i := range f.honest {
			step(f, i, u, v)
		}
	}
	f.finishWith(f.everyone())
}

// TestCrashBeforeEachStep crashes one agent before each step of each script, in turn, after which
// the coordinator may ask the query again or not. Rules L4 to L12.
func TestCrashBeforeEachStep(t *testing.T) {
	whole := []int{0, 1, 2, 3}
	for name, c := range map[string]struct {
		change func(*proposal.Spec)
		u, v   []int
	}{
		"continue":            {nil, []int{0, 1, 2}, []int{0, 1, 3}},
		"wait":                {waits, whole, whole},
		"wait, another set":   {waits, whole, []int{0, 1, 3}},
		"wait, another first": {waits, []int{0, 1, 2}, whole},
	} {
		t.Run(name, func(t *testing.T) { crashBeforeEachStep(t, c.change, c.u, c.v) })
	}
}

func crashBeforeEachStep(t *testing.T, change func(*proposal.Spec), u, v []int) {
	type crash struct {
		script   string
		at, site int
		again    bool
	}
	var all []crash
	for name, s := range scripts {
		for at := range s {
			for site := range 3 {
				all = append(all, crash{name, at, site, true}, crash{name, at, site, false})
			}
		}
	}
	run := chosen(len(all))
	w := newWorld(t, options{sites: 4, corrupt: []int{3}, rounds: len(run) + 1, spare: 2*len(run) + 8, change: change})
	w.begin()
	for k, at := range run {
		c, f := all[at], field{w, k, 3 * k}
		w.name[k] = c.script
		script := slices.Clone(scripts[c.script])
		step := script[c.at]
		script[c.at] = func(f field, i int, u, v []int) {
			if i == f.honest[c.site] {
				s := f.agent(i)
				last := f.latest[i]
				s.restart()
				if c.again && last.Query == f.query && c.at > 0 {
					f.upload(i, last)
				}
			}
			step(f, i, u, v)
		}
		f.perform(script, u, v)
	}
	r := w.hold()
	if len(r.openings) == 0 {
		t.Error("nothing was opened: the scripts do not get as far as shares")
	}
	t.Logf("figure: %d of %d crashes before a step, %d sums open, none twice", len(run), len(all), len(r.openings))
}
