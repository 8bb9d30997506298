package hostile

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

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
	var run []attack
	step := 5
	switch {
	case *variants == 0:
		step = 1
	case testing.Short():
		step = 15
	}
	for k, a := range slices.Concat(slotAttacks, openingAttacks) {
		if k%step == 0 {
			run = append(run, a)
		}
	}
	for _, noise := range noises {
		t.Run(noise, func(t *testing.T) {
			w := newWorld(t, options{sites: 5, corrupt: []int{0}, rounds: len(run) + 2, spare: 2*len(run) + 8, change: noisy(noise)})
			w.begin()
			restarts := w.crashes()
			w.attacked(run, ", with crashes")
			t.Logf("figure: %d attacks, %d crashes of an agent, each asked again", len(run), restarts())
		})
	}
}

// TestCrashInSetup crashes each agent after each message of the setup. Rules AG-5 to AG-9.
func TestCrashInSetup(t *testing.T) {
	w := newWorld(t, options{sites: 4, corrupt: []int{3}})
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
	w.round(w.asking(0, 0, 1), []int{0, 1, 3})
	if r := w.hold(); len(r.openings) != 1 {
		t.Errorf("open are %v", r.openings)
	}
}

// script is messages to one site about two slots and two sets, a few of many orders; the exhaustive
// ones are in the model.
var scripts = map[string][]func(f field, i int){
	"sign, sign, open, open": {
		func(f field, i int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int) { f.sign(i, f.at(0, 1), []int{0, 1, 2}) },
		func(f field, i int) { f.sign(i, f.at(0, 1), []int{0, 1, 3}) },
		func(f field, i int) {
			f.shares(i, f.at(0, 1), []int{0, 1, 2}, f.certificate(f.at(0, 1), []int{0, 1, 2}))
		},
		func(f field, i int) {
			f.shares(i, f.at(0, 1), []int{0, 1, 3}, f.certificate(f.at(0, 1), []int{0, 1, 3}))
		},
	},
	"open, move on, open": {
		func(f field, i int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int) { f.sign(i, f.at(0, 1), []int{0, 1, 2}) },
		func(f field, i int) {
			f.shares(i, f.at(0, 1), []int{0, 1, 2}, f.certificate(f.at(0, 1), []int{0, 1, 2}))
		},
		func(f field, i int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int) { f.sign(i, f.at(1, 1), []int{0, 1, 3}) },
		func(f field, i int) {
			f.shares(i, f.at(1, 1), []int{0, 1, 3}, f.certificate(f.at(1, 1), []int{0, 1, 3}))
		},
	},
	"move on, come back": {
		func(f field, i int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int) { f.sign(i, f.at(0, 1), []int{0, 1, 2}) },
		func(f field, i int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int) { f.sign(i, f.at(1, 1), []int{0, 1, 3}) },
		func(f field, i int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int) {
			f.shares(i, f.at(0, 1), []int{0, 1, 2}, f.certificate(f.at(0, 1), []int{0, 1, 2}))
		},
		func(f field, i int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int) {
			f.shares(i, f.at(1, 1), []int{0, 1, 3}, f.certificate(f.at(1, 1), []int{0, 1, 3}))
		},
	},
	"another x, another slot": {
		func(f field, i int) { f.upload(i, f.at(0, 1)) },
		func(f field, i int) { f.upload(i, f.at(0, 2)) },
		func(f field, i int) { f.upload(i, f.at(1, 2)) },
		func(f field, i int) { f.upload(i, f.at(1, 1)) },
		func(f field, i int) { f.sign(i, f.at(1, 2), []int{0, 1, 2}) },
		func(f field, i int) {
			f.shares(i, f.at(1, 2), []int{0, 1, 2}, f.certificate(f.at(1, 2), []int{0, 1, 2}))
		},
	},
}

// perform runs a script against all honest sites and ends the query.
func (f field) perform(script []func(field, int)) {
	f.t.Helper()
	for _, step := range script {
		for _, i := range f.honest {
			step(f, i)
		}
	}
	f.finishWith(f.everyone())
}

// TestCrashBeforeEachStep crashes one agent before each step of each script, in turn, after which
// the coordinator may ask the query again or not. Rules L4 to L12.
func TestCrashBeforeEachStep(t *testing.T) {
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
	w := newWorld(t, options{sites: 4, corrupt: []int{3}, rounds: len(run) + 1, spare: 2*len(run) + 8})
	w.begin()
	for k, at := range run {
		c, f := all[at], field{w, k, 3 * k}
		w.name[k] = c.script
		script := append([]func(field, int){}, scripts[c.script]...)
		step := script[c.at]
		script[c.at] = func(f field, i int) {
			if i == f.honest[c.site] {
				s := f.agent(i)
				last := f.latest[i]
				s.restart()
				if c.again && last.Query == f.query && c.at > 0 {
					f.upload(i, last)
				}
			}
			step(f, i)
		}
		f.perform(script)
	}
	r := w.hold()
	t.Logf("figure: %d of %d crashes before a step, %d sums open, none twice", len(run), len(all), len(r.openings))
}
