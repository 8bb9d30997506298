package agent

import (
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"testing"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// told is a study of five sites in which a coordinator without scruples tells results that nobody
// opened, noised values and all.
type told struct {
	*standIn
	u []int
}

func newTold(t *testing.T, change func(*proposal.Spec)) *told {
	t.Helper()
	c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) {
		s.OnDropout, s.Rounds = proposal.DropoutContinue, 4
		if change != nil {
			change(s)
		}
	})
	c.ready()
	return &told{c, c.everyone()}
}

// after is the course after a release, and the message that tells it.
func (c *told) after(course study.Course, slot int, earlier []study.Release, change func(*study.Release)) (study.Course, []study.Release, wire.Final) {
	c.t.Helper()
	ask, err := c.plan.NewAsk(course, slot)
	if err != nil {
		c.t.Fatal(err)
	}
	noised := make([]int64, c.plan.Queries[ask.Query].Values)
	noised[0] = 1 << 20
	r, err := c.plan.NewRelease(ask, c.u, noised)
	if err != nil {
		c.t.Fatal(err)
	}
	if change != nil {
		change(&r)
	}
	told := c.sign(r)
	next, err := c.plan.Next(course, r, earlier)
	if err != nil {
		next = study.Course{}
	}
	return next, append(earlier, r), told
}

func (c *told) sign(r study.Release) wire.Final {
	c.t.Helper()
	encoded, err := r.Encode()
	if err != nil {
		c.t.Fatal(err)
	}
	return c.toldAs(r, encoded)
}

// toldAs tells a release in an encoding.
func (c *told) toldAs(r study.Release, encoded []byte) wire.Final {
	q, list := c.plan.Summed(c.setup.Transcript(), r.Ask()), make([][]byte, len(c.sites))
	for i, s := range c.sites[1:] { // as many as there must be, without scruples either
		list[1+i], _ = c.setup.SignRelease(1+i, s.agent.identity, q, r.Survivors)
	}
	return wire.Final{Header: wire.Header{Study: c.plan.Digest, Query: r.Query, Slot: r.Slot}, Encoded: encoded,
		Signature: ed25519.Sign(c.key, study.SigningInput(encoded)), Certificate: c.setup.Pack(list)}
}

func (c *told) confirmed() wire.Confirmed {
	return wire.Confirmed{Header: wire.Header{Study: c.plan.Digest}, Signatures: c.signed}
}

func (c *told) asks(course study.Course, slot int) wire.Query {
	c.t.Helper()
	ask, err := c.plan.NewAsk(course, slot)
	if err != nil {
		c.t.Fatal(err)
	}
	return wire.Query{Study: c.plan.Digest, Ask: ask}
}

// but0 are survivors without site 0, which then has nothing to miss in the results of slots in
// which it did not upload.
func but0(r *study.Release) {
	r.Survivors, r.Units = r.Survivors[1:], r.Units-testUnits
}

// TestCatchesUp: AG-40. A site that was away for queries answers none before it holds and has
// followed every release, and says how many those are; in whichever order they come.
func TestCatchesUp(t *testing.T) {
	c := newTold(t, nil)
	s := c.sites[0]
	var finals []wire.Final
	course, earlier := c.plan.Start(), []study.Release(nil)
	for slot := range 3 {
		var told wire.Final
		course, earlier, told = c.after(course, slot, earlier, but0)
		finals = append(finals, told)
	}
	q := c.asks(course, 3)
	lacks := func(want int) {
		t.Helper()
		if no := refused(s, q, study.CodeOutOfOrder); no.Lacks != want {
			t.Errorf("it says that it lacks %d, want %d", no.Lacks, want)
		}
	}
	lacks(1)
	s.ask(finals[2]) // the last alone, as a coordinator tells first
	lacks(1)
	s.ask(finals[0])
	lacks(2)
	s.restart()
	s.ask(c.confirmed())
	lacks(2)
	s.ask(finals[1])
	want[wire.Upload](s, q)
	if e, _ := s.agent.ledger.Study(c.plan.Digest); e.SpentRho != c.plan.Queries[3].Rho {
		t.Errorf("charged ρ = %v, want that of the one query answered", e.SpentRho)
	}
}

// TestForkedHistory: AG-40, AG-41. A site that was told one result of a query acts on no other,
// whatever it is told later and after a restart.
func TestForkedHistory(t *testing.T) {
	c := newTold(t, nil)
	s := c.sites[0]
	start := c.plan.Start()
	want[wire.Upload](s, c.asks(start, 0))
	first, _, told := c.after(start, 0, nil, nil)
	second, _, other := c.after(start, 0, nil, func(r *study.Release) { r.Noised[0]++ })
	if first.History == second.History {
		t.Fatal("two releases have one link")
	}
	s.ask(told)
	for range 2 {
		s.ask(other)
		refused(s, c.asks(second, 1), study.CodeForked)
		s.agent.work.Wait()
		s.restart()
		s.ask(c.confirmed())
	}
	// The vectors may be the same: what they follow from is not.
	same := first
	same.History = second.History
	refused(s, c.asks(same, 1), study.CodeForked)
	if e, _ := s.agent.ledger.Study(c.plan.Digest); e.SpentRho != c.plan.Queries[0].Rho {
		t.Errorf("charged ρ = %v, want that of the first query alone", e.SpentRho)
	}
	want[wire.Upload](s, c.asks(first, 1))
}

// TestForkBehindAGap: AG-41. A result of a later query, which came before those it follows, joins
// no other history.
func TestForkBehindAGap(t *testing.T) {
	c := newTold(t, nil)
	s := c.sites[0]
	start := c.plan.Start()
	first, _, told := c.after(start, 0, nil, but0)
	fork, earlier, _ := c.after(start, 0, nil, func(r *study.Release) { but0(r); r.Noised[0] = 5 })
	after, _, late := c.after(fork, 1, earlier, but0)
	s.ask(late)
	s.ask(told)
	refused(s, c.asks(first, 1), study.CodeFinal) // it shows what it holds of that query
	refused(s, c.asks(after, 2), study.CodeForked)
	s.agent.work.Wait()
	s.restart()
	s.ask(c.confirmed())
	refused(s, c.asks(after, 2), study.CodeForked)
}

// TestResultsOffTheCourse: AG-13, AG-41. A signed result that the plan allows, and that does not
// follow from those before it, is no result.
func TestResultsOffTheCourse(t *testing.T) {
	c := newTold(t, func(s *proposal.Spec) { s.Radius, s.Center = proposal.RadiusPrivate, proposal.CenterPrivate })
	s := c.sites[0]
	course, earlier := c.plan.Start(), []study.Release(nil)
	slot := 0
	for c.plan.Queries[course.Query].Kind != study.KindPower {
		var told wire.Final
		want[wire.Upload](s, c.asks(course, slot))
		course, earlier, told = c.after(course, slot, earlier, nil)
		s.ask(told)
		slot++
	}
	q := c.asks(course, slot)
	want[wire.Upload](s, q)
	held := func() bool {
		s.agent.work.Wait()
		_, ok := s.agent.ledger.Journal(c.plan.Digest).FinalResult(q.Ask.Query)
		return ok
	}
	turn := func(v []float64) []float64 {
		v = slices.Clone(v)
		slices.Reverse(v)
		return v
	}
	good, _ := c.plan.NewRelease(q.Ask, c.u, make([]int64, testColumns))
	for name, change := range map[string]func(*study.Release){
		"previous":    func(r *study.Release) { r.Previous[3] ^= 4 },
		"no previous": func(r *study.Release) { r.Previous = proposal.Digest{} },
		"x":           func(r *study.Release) { r.X = turn(r.X) },
		"center":      func(r *study.Release) { r.Center = turn(r.Center) },
		"radius": func(r *study.Release) {
			r.Radius, r.Grid = 2*r.Radius, 2*r.Grid
		},
	} {
		r := good
		change(&r)
		if err := c.plan.CheckRelease(r); err != nil {
			t.Fatalf("%s: the plan does not allow it: %v", name, err)
		}
		if s.ask(c.sign(r)); held() {
			t.Fatalf("%s: taken for the result", name)
		}
	}
	loose, err := json.MarshalIndent(good, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	s.ask(c.toldAs(good, loose))
	if held() {
		t.Fatal("another encoding: taken for the result")
	}
	if s.ask(c.sign(good)); !held() {
		t.Fatal("the good one is dropped")
	}
}
