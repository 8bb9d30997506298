//go:build failpoint

package hostile

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"covey/internal/failpoint"
	"covey/internal/ledger"
	"covey/internal/proposal"
	covey "covey/proto/covey/v1"
)

// deadly is an agent that dies at one side of one write of its ledger, and is then asked the same
// again by the next process.
type deadly struct {
	*realSite
	w     *world
	index int

	mu     sync.Mutex
	at     int // which passage of a write is the last of the process; -1: none
	passed []string
	died   bool
}

var errDied = errors.New("the process was killed")

func (s *deadly) hit(e failpoint.Event) error {
	if e.Owner != filepath.Join(s.dir, "ledger") {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed = append(s.passed, fmt.Sprintf("%s %s", e.Point, e.Phase))
	if len(s.passed)-1 != s.at {
		return nil
	}
	s.died = true
	return errDied
}

func (s *deadly) ask(m *covey.CoordinatorMessage) []*covey.SiteMessage {
	s.f.t.Helper()
	said, err := s.try(m)
	if err == nil {
		return said
	}
	s.mu.Lock()
	died := s.died
	s.died = false
	s.mu.Unlock()
	if !died {
		s.f.t.Fatalf("%s ended by itself\n%s", s.name, s.log.String())
	}
	s.restart()
	if a, ok := s.w.latest[s.index]; ok && m.GetQuery() == nil {
		s.realSite.ask(query(s.w.plan.Digest, a))
	}
	return append(said, s.realSite.ask(m)...)
}

// TestCrashAtEveryWrite runs a setup and two attacks again and again, with one agent that dies just
// before or just after each write of its ledger, in turn, and is asked again. Nothing more is
// opened than without the crash. Rules L4 to L12, AG-5, AG-17; with "wait" L7.
func TestCrashAtEveryWrite(t *testing.T) {
	t.Run("continue", func(t *testing.T) { crashAtEveryWrite(t, nil, []int{0, 1, 3}, []int{0, 1, 2}) })
	t.Run("wait", func(t *testing.T) { crashAtEveryWrite(t, waits, []int{0, 1, 2, 3}, []int{0, 1, 2, 3}) })
	t.Run("wait, another set", func(t *testing.T) { crashAtEveryWrite(t, waits, []int{0, 1, 2, 3}, []int{0, 1, 2}) })
}

func crashAtEveryWrite(t *testing.T, change func(*proposal.Spec), u, other []int) {
	defer failpoint.Set(nil)
	run := func(at int) []string {
		w := newWorld(t, options{sites: 4, corrupt: []int{3}, book: map[int]rules{1: {}, 2: {}}, change: change})
		w.start()
		s := &deadly{realSite: w.agent(0), w: w, index: 0, at: at}
		w.site[0] = s
		failpoint.Set(s.hit)
		w.approve()
		w.announce()
		failpoint.Set(nil)
		w.lookAside()
		failpoint.Set(s.hit)
		w.deal()
		w.confirm()
		failpoint.Set(nil)
		failpoint.Set(s.hit)
		f := field{w, 0, 0}
		a, b := f.at(0, 1), f.at(1, 1)
		ended, last := b, other
		if w.Config.Whole() { // no slot is given up, and no other set is lawful
			ended, last = a, u
		}
		// Two sets in a slot, then the same x in another slot, then what is certified in either.
		for _, i := range w.honest {
			w.upload(i, a)
			w.sign(i, a, u)
			w.sign(i, a, other)
			w.upload(i, f.at(0, 2))
		}
		for _, i := range []int{0, 1} {
			w.upload(i, b)
			w.sign(i, b, other)
		}
		for range 2 {
			for _, i := range w.honest {
				for _, ask := range []int{0, 1} {
					w.upload(i, f.at(ask, 1))
					for _, set := range [][]int{u, other} {
						w.shares(i, f.at(ask, 1), set, w.certificate(f.at(ask, 1), set))
					}
				}
			}
		}
		w.final(ended, w.everyone())
		f = field{w, 1, 3}
		w.round(f.at(0, 1), last)
		failpoint.Set(nil)
		w.name[0], w.name[1] = "two sets, two slots", "the next query"
		if at >= 0 && len(s.passed) <= at {
			t.Errorf("write %d is not reached", at)
		}
		if r := w.hold(); len(r.openings) != 2 {
			t.Errorf("death at passage %d: open are %v, want one sum a query", at, r.openings)
		}
		w.stop()
		// as a process that begins, before it is asked anything
		l, err := ledger.Open(filepath.Join(s.dir, "ledger"))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		j := l.Journal(w.plan.Digest)
		if _, _, err := j.Setup(ledger.SetupSecrets); !errors.Is(err, ledger.ErrErased) {
			t.Errorf("death at passage %d: the confirmed setup's secrets: %v", at, err)
		}
		return s.passed
	}
	points := run(-1)
	some := chosen(len(points))
	for _, at := range some {
		t.Run(fmt.Sprintf("%d %s", at, points[at]), func(*testing.T) { run(at) })
	}
	t.Logf("figure: an agent killed at %d of %d sides of its ledger's writes", len(some), len(points))
}
