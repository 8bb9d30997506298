package agent

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// mail is what a site posts, and when after the mail was opened.
type mail struct {
	began time.Time
	mu    sync.Mutex // verdicts that wait leave in goroutines of their own
	said  []wire.Decision
	after []time.Duration
}

// all is what was posted so far.
func (m *mail) all() []wire.Decision {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.said)
}

// times is when, each after the mail was opened.
func (m *mail) times() []time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.after)
}

// openMail takes what a site posts from now on, in a bubble.
func openMail(s *testSite) *mail {
	m := &mail{began: time.Now()}
	s.agent.post = func(w wire.Message) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.said = append(m.said, w.(wire.Decision))
		m.after = append(m.after, time.Since(m.began))
	}
	return m
}

// TestVerdictsLeaveOnTheMinute: R7. What is decided of an analyst's proposal without the operator
// leaves whole minutes after it came, however long the rows took; until then a coordinator learns
// nothing, whatever it asks. What is left to the operator is said at once, as is what nobody
// signed.
func TestVerdictsLeaveOnTheMinute(t *testing.T) {
	ada, print := analystKey(1)
	listed := fmt.Sprintf("%sanalysts = { ada = { key = %q } }\n", autoPolicy, print)
	for name, c := range map[string]struct {
		policy string
		change func(*proposal.Spec)
		reads  time.Duration // each look at the clock, of which an approval takes two
		leaves time.Duration
		code   study.Code
	}{
		"approved":           {listed, nil, 0, time.Minute, ""},
		"approved, slowly":   {listed, nil, 29 * time.Second, time.Minute, ""},
		"approved, slower":   {listed, nil, 31 * time.Second, 2 * time.Minute, ""},
		"by the policy":      {autoPolicy + `outside = "reject"`, nil, 0, time.Minute, study.CodeRejected},
		"by the schema":      {listed, func(s *proposal.Spec) { s.Columns[1].Name = "absent" }, 0, time.Minute, study.CodeColumns},
		"by the data set":    {listed, func(s *proposal.Spec) { s.Dataset = "other" }, 0, time.Minute, study.CodeData},
		"by the budget":      {listed, func(s *proposal.Spec) { s.Epsilon = 9 }, 0, time.Minute, study.CodeBudget},
		"by budget, slowly":  {listed, func(s *proposal.Spec) { s.Epsilon = 9 }, 20 * time.Second, time.Minute, study.CodeBudget},
		"left to a person":   {`approve = "ask"`, nil, 0, 0, ""},
		"outside the limits": {listed, func(s *proposal.Spec) { s.Epsilon = 1.2 }, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := newStandIn(t, 3, c.policy, nil)
				s := in.sites[0]
				offer, id := in.offerBy("ada", ada, 1, func(s *proposal.Spec) {
					s.Columns = slices.Clone(s.Columns)
					if c.change != nil {
						c.change(s)
					}
				})
				s.agent.now = func() time.Time { time.Sleep(c.reads); return testNow }
				posted := openMail(s)
				said := s.ask(offer)
				if c.leaves == 0 {
					if d, ok := said.(wire.Decision); !ok || d.Verdict != study.VerdictPending {
						t.Fatalf("answered %+v", said)
					}
					time.Sleep(10 * time.Minute)
					if len(posted.all()) != 0 {
						t.Errorf("%+v leaves later", posted.all())
					}
					return
				}
				quiet := func(when string) {
					t.Helper()
					synctest.Wait()
					if len(posted.all()) != 0 {
						t.Fatalf("%s: %+v left", when, posted.all())
					}
					for _, r := range []wire.Message{offer, wire.Announce{Header: wire.Header{Study: id}}, wire.Query{Study: id}} {
						if got := s.ask(r); got != nil {
							t.Errorf("%s: %T is answered %+v", when, r, got)
						}
					}
					if h := s.says(); len(h.Open)+len(h.Over) != 0 || !h.AllOpen {
						t.Errorf("%s: a hello says %+v", when, h)
					}
				}
				if said != nil {
					t.Fatalf("it is answered at once: %+v", said)
				}
				s.agent.now = func() time.Time { return testNow }
				quiet("at once")
				time.Sleep(time.Until(posted.began.Add(c.leaves - time.Millisecond)))
				quiet("just before")
				time.Sleep(time.Millisecond)
				synctest.Wait()
				if len(posted.all()) != 1 || posted.times()[0] != c.leaves || posted.all()[0].Code != c.code || (posted.all()[0].Verdict == study.VerdictApproved) != (c.code == "") {
					t.Fatalf("after %v: %+v", posted.times(), posted.all())
				}
				if d := posted.all()[0]; !study.CheckDecision(in.plan.Proposal.Roster[0], id, d.Verdict, d.Code, d.Signature) {
					t.Error("the verdict is not signed")
				}
				if c.code != "" {
					return
				}
				if d := want[wire.Decision](s, offer); d.Verdict != study.VerdictApproved {
					t.Errorf("asked again: %+v", d)
				}
				want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
			})
		})
	}
}

// TestOperatorIsHeardAtOnce: who takes an approval of the policy back before it was told is heard
// at once, and nothing later says otherwise.
func TestOperatorIsHeardAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ada, print := analystKey(1)
		c := newStandIn(t, 3, fmt.Sprintf("%sanalysts = { ada = { key = %q } }\n", autoPolicy, print), nil)
		s := c.sites[0]
		offer, id := c.offerBy("ada", ada, 1, nil)
		posted := openMail(s)
		s.ask(offer)
		if err := s.agent.Decisions.Withdraw(id); err != nil {
			t.Fatal(err)
		}
		if len(posted.all()) != 1 || posted.all()[0].Code != study.CodeWithdrawn {
			t.Fatalf("%+v", posted.all())
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for _, d := range posted.all() {
			if d.Verdict != study.VerdictRejected || d.Code != study.CodeWithdrawn {
				t.Errorf("%+v", d)
			}
		}
	})
}

// TestAnalystsQuotas: R15. Of one key five proposals may be open, one of a name and data set, and
// twenty new ones come in a day, of 3 MiB each; the coordinator's operator's and other keys' are
// not counted.
func TestAnalystsQuotas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ada, print := analystKey(1)
		bob, _ := analystKey(2)
		c := newStandIn(t, 3, fmt.Sprintf("%sanalysts = { ada = { key = %q } }\n", autoPolicy, print), nil)
		s := c.sites[0]
		named := func(name string, epsilon float64) func(*proposal.Spec) {
			return func(s *proposal.Spec) { s.Name, s.Epsilon = name, epsilon }
		}
		// verdict is what is said in the end.
		verdict := func(offer wire.Proposal) wire.Decision {
			t.Helper()
			posted := openMail(s)
			if said := s.ask(offer); said != nil {
				return said.(wire.Decision)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(posted.all()) != 1 {
				t.Fatalf("%+v", posted.all())
			}
			return posted.all()[0]
		}
		tooMany := func(when string, offer wire.Proposal, want bool) {
			t.Helper()
			if d := verdict(offer); (d.Code == study.CodeTooMany) != want || want && d.Verdict != study.VerdictRejected {
				t.Errorf("%s: %+v", when, d)
			}
		}
		approved, _ := c.offerBy("ada", ada, 0, named("a", 0.1))
		if d := verdict(approved); d.Verdict != study.VerdictApproved {
			t.Fatalf("%+v", d)
		}
		var ids []proposal.Digest
		for i := range 4 { // wait: beyond the limits
			offer, id := c.offerBy("ada", ada, byte(10+i), named(fmt.Sprint("waits ", i), 1.2))
			tooMany("one of five", offer, false)
			ids = append(ids, id)
		}
		sixth, _ := c.offerBy("ada", ada, 20, named("f", 1.2))
		tooMany("a sixth", sixth, true)
		tooMany("one that is open", approved, false)
		renamed, _ := c.offerBy("eve", ada, 21, named("f", 1.2))
		tooMany("a sixth of another name", renamed, true)
		theirs, _ := c.offerBy("bob", bob, 22, named("waits 0", 1.2))
		tooMany("another analyst's", theirs, false)
		tooMany("the coordinator's operator's", wire.Proposal{Body: c.body}, false)
		s.restart()
		tooMany("a sixth after a restart", sixth, true)
		if err := s.agent.Decisions.Reject(ids[0]); err != nil {
			t.Fatal(err)
		}
		twin, _ := c.offerBy("ada", ada, 23, named("waits 1", 1.2))
		tooMany("a name that is open", twin, true)
		elsewhere, last := c.offerBy("ada", ada, 24, named("waits 0", 1.2))
		tooMany("a name that is over", elsewhere, false)
		if err := s.agent.Decisions.Reject(last); err != nil {
			t.Fatal(err)
		}
		for i := range 12 { // nine came by now, the refused ones counted
			offer, id := c.offerBy("ada", ada, byte(100+i), named(fmt.Sprint("again ", i), 1.2))
			tooMany(fmt.Sprintf("number %d of a day", 10+i), offer, i == 11)
			if err := s.agent.Decisions.Reject(id); err != nil && i < 11 {
				t.Fatal(err)
			}
		}
		long, _ := c.offerBy("bob", bob, 40, named("long", 1.2))
		long.Body = append(long.Body, bytes.Repeat([]byte("# a comment of thirty-two bytes\n"), wire.MaxProposed/32)...)
		long.Signature = proposal.SignProposal(bob, proposal.DigestOf(long.Body))
		tooMany("over 3 MiB", long, true)
		unsigned := append(bytes.Clone(c.body), bytes.Repeat([]byte("# a comment of thirty-two bytes\n"), wire.MaxProposed/32)...)
		tooMany("as long, of the coordinator's operator", wire.Proposal{Body: unsigned}, false)
	})
}

// TestEndBeforeTheVerdict: a study that its coordinator ends before the verdict has left is over
// here at once, reserves nothing, and nothing is said of it any more.
func TestEndBeforeTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ada, print := analystKey(1)
		c := newStandIn(t, 3, fmt.Sprintf("%sanalysts = { ada = { key = %q } }\n", autoPolicy, print), nil)
		s := c.sites[0]
		offer, id := c.offerBy("ada", ada, 1, nil)
		posted := openMail(s)
		// It comes on the next link, while the rows are read: of the approval's look at the clock.
		looks, ended := 0, make(chan struct{})
		s.agent.now = func() time.Time {
			if looks++; looks == 2 {
				s.agent.work.Go(func() {
					s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeAborted})
					close(ended)
				})
				for range 100_000_000 { // many seconds: the other thread may wait for a processor
					if !s.agent.arriving.holds(id) {
						break
					}
					runtime.Gosched()
				}
				if s.agent.arriving.holds(id) {
					t.Error("the end is not heard")
				}
			}
			return testNow
		}
		if said := s.ask(offer); said != nil {
			t.Errorf("answered %+v", said)
		}
		<-ended
		time.Sleep(time.Hour)
		synctest.Wait()
		if p := s.agent.Views.Ledger().Populations[0]; p.ReservedRho != 0 || looks < 2 {
			t.Errorf("after %d looks %+v is reserved", looks, p)
		}
		if len(posted.all()) != 0 {
			t.Errorf("%+v", posted.all())
		}
		// Held, and ended then.
		offer, id = c.offerBy("ada", ada, 2, nil)
		s.ask(offer)
		s.ask(wire.Ended{Header: wire.Header{Study: id}, Code: study.CodeAborted})
		time.Sleep(time.Hour)
		synctest.Wait()
		if p := s.agent.Views.Ledger().Populations[0]; p.ReservedRho != 0 || len(posted.all()) != 0 {
			t.Errorf("%+v is reserved, %+v is said", p, posted.all())
		}
	})
}

// TestLookHoldsUpNobody: while an analyst's proposal is looked at, which reads files, messages of
// other studies are answered, and its own study may end: nothing is said of it then.
func TestLookHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ada, print := analystKey(1)
		c := newStandIn(t, 3, fmt.Sprintf("%sanalysts = { ada = { key = %q } }\n", autoPolicy, print), nil)
		s := c.sites[0]
		posted := openMail(s)
		offer, id := c.offerBy("ada", ada, 1, nil)
		looks := 0
		s.agent.now = func() time.Time { // the first is of the day's count
			if looks++; looks == 1 {
				if h := &s.agent.arriving; h.admitting.TryLock() || !h.mu.TryLock() {
					t.Fatal("the look is not under a lock of its own")
				} else {
					h.mu.Unlock()
				}
				if !s.agent.arriving.drop(id) {
					t.Error("its end finds nothing to drop")
				}
			}
			return testNow
		}
		if said := s.ask(offer); said != nil || looks < 2 {
			t.Errorf("after %d looks answered %+v", looks, said)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(posted.all()) != 0 {
			t.Errorf("%+v", posted.all())
		}
	})
}
