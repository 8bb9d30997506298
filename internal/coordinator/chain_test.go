package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
	"covey/internal/stream"
	"covey/internal/study"
	covey "covey/proto/covey/v1"
)

// expected is the chain that a log's lines have, found without the machine.
func expected(t *testing.T, lines [][]byte) (l chain.Log) {
	t.Helper()
	tokens := map[string]string{}
	for _, line := range lines {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Join != nil:
			tokens[e.Join.Name] = e.Join.Token
			l.Append(chain.Joined(e.Join.Name, e.Join.Token, e.Join.Key, e.Join.TLS))
		case e.Revoke != nil:
			l.Append(chain.Revoked(e.Revoke.Name, tokens[e.Revoke.Name]))
		case e.Round == nil:
		case e.Round.Kind == round.EntryProposed:
			l.Append(chain.Proposed(e.Round.Study))
		case e.Round.Kind == round.EntryReleased:
			l.Append(chain.Released(e.Round.Study, e.Round.Released.Encoded))
		case e.Round.Kind == round.EntryDrafted:
			l.Append(chain.Drafted(e.Round.Study, sha256.Sum256(e.Round.Draft)))
		case e.Round.Kind == round.EntryAttested:
			l.Append(chain.Ended(e.Round.Study, "completed"))
		}
	}
	return l
}

func (f *federation) chain() *chain.Log { return &f.c.machine.state.chain }

// TestChainIsOfTheLog: joins, revocations, proposals, releases, drafts of results and ends are in
// the chain, once each and in the log's order, and nothing else is. A replay has the same, and so
// has a snapshot.
func TestChainIsOfTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 4, func(s *proposal.Spec) { s.Radius = "3"; s.Center = proposal.CenterPublic })
		defer func() { f.c.Close() }()
		if v := f.finish(); v.Status != round.StatusCompleted || len(f.plan.Queries) != 2 {
			t.Fatalf("%s of %d queries", v.Status, len(f.plan.Queries))
		}
		f.apply(entry{Revoke: &membership.ClientEntry{Role: pki.RoleSite, Name: "site-3"}})
		want := expected(t, f.log.all())
		if f.chain().Head() != want.Head() || want.Head().Number != 4+1+2+1+1+1 {
			t.Fatalf("the head is %v, want %v", f.chain().Head(), want.Head())
		}
		if h := verified(t, f).ChainHead; h != want.At(7) {
			t.Errorf("the result is at %v, the last release at %v", h, want.At(7))
		}
		// What changes nothing, or does not concern sites, is not in it.
		f.apply(entry{Revoke: &membership.ClientEntry{Role: pki.RoleSite, Name: "site-3"}})
		f.apply(entry{Join: &membership.JoinEntry{Token: "token 0", Name: "site-0", Key: proposal.Key(f.sites[0].identity.Public().(ed25519.PublicKey)), Now: time.Now()}})
		f.apply(entry{Invite: &membership.InviteEntry{Token: "t", Invite: membership.Invite{Analyst: "ada", Expires: time.Now().Add(time.Hour)}}})
		f.apply(entry{Join: &membership.JoinEntry{Token: "t", Name: "ada", Key: make(proposal.Key, ed25519.PublicKeySize), Now: time.Now()}})
		f.apply(entry{Revoke: &membership.ClientEntry{Role: pki.RoleAnalyst, Name: "ada"}})
		if f.c.apply(entry{Revoke: &membership.ClientEntry{Role: pki.RoleSite, Name: "nobody"}}) == nil {
			t.Error("nobody is revoked")
		}
		if f.chain().Head() != want.Head() {
			t.Errorf("the head is %v by now, want %v", f.chain().Head(), want.Head())
		}
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		back := NewMachine()
		if err := restored(back, raw); err != nil || back.state.chain.Head() != want.Head() {
			t.Errorf("restored: %v, %v", back.state.chain.Head(), err)
		}
		if h := back.state.chainOf(f.plan.Digest); h != want.At(7) {
			t.Errorf("restored, the last release's is %v", h)
		}
		if err := restored(NewMachine(), framed(strings.Replace(object(raw), `"chain":"`, `"no":"`, 1), raw)); err == nil {
			t.Error("a snapshot without a chain is restored")
		}
		f.crash(-1)
		if f.chain().Head() != want.Head() {
			t.Errorf("replayed: %v", f.chain().Head())
		}
	})
}

// watcher follows what one link is shown.
type watcher struct {
	t *testing.T
	f *chain.Follower
	k record
	// of the last release
	told *chain.Step
	// how often for a signature on a result
	asked *int
}

type record map[uint64]chain.Entry

func (r record) Last() (last chain.Head, whole bool, err error) {
	return r[uint64(len(r))].Head, true, nil
}
func (r record) At(n uint64) (chain.Entry, bool, error) { e, ok := r[n]; return e, ok, nil }
func (r record) Has(s chain.Step) (bool, error) {
	for _, e := range r {
		if e.Step == s {
			return true, nil
		}
	}
	return false, nil
}

// watched begins a link of site i, as of one that kept what r has.
func (f *federation) watched(i int, r record) watcher {
	s := f.sites[i]
	if s.link != nil {
		f.drop(i)
	}
	w := watcher{t: f.t, k: r, told: new(chain.Step), asked: new(int)}
	var told chain.Head
	w.f, told, _ = chain.Follow(r)
	s.down, s.link = false, newLink(s.name)
	f.c.linked(s.link, map[string]int{"rows": 1000 + i}, told)
	return w
}

// hears takes a message, and wants the chain in order at each query.
func (w watcher) hears(m *covey.CoordinatorMessage, key []byte) {
	w.t.Helper()
	if h := m.GetHead(); h != nil {
		steps, err := chain.Split(h.GetSteps())
		if err != nil {
			w.t.Fatal(err)
		}
		w.f.Take(chain.Shown{Base: chain.Head{Number: h.GetBase(), Link: chain.Link(h.GetBaseHead())}, Steps: steps, Signature: h.GetSignature()})
	}
	if m.GetFinal() != nil {
		*w.told = chain.Released([32]byte(m.GetFinal().GetStudy()), m.GetFinal().GetReleased())
	}
	if m.GetQuery() == nil && m.GetAttest() == nil {
		return
	}
	if m.GetAttest() != nil {
		*w.asked++
		var r result.Result
		if err := json.Unmarshal(m.GetAttest().GetDraft(), &r); err != nil {
			w.t.Fatal(err)
		}
		if ok, _ := w.f.Holds(r.ChainHead, *w.told); !ok {
			w.t.Errorf("a draft is at %v, which is not the last release's in the chain", r.ChainHead)
		}
	}
	if has, _ := w.f.Has(*w.told); !has && *w.told != (chain.Step{}) {
		w.t.Error("a query comes without the release before it in the chain")
	}
	head, _ := w.f.Shown()
	if err := w.f.Check(); err != nil || !ed25519.Verify(key, head.SigningInput(), head.Signature) {
		w.t.Errorf("a query comes with head %v: %v", head, err)
	}
	fresh, err := w.f.Fresh()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range fresh {
		w.k[e.Number] = e
	}
}

// TestHeadComesWithEachQuery: ahead of every query, and of the draft of a result, a site is shown
// the chain up to that moment, signed, from what it kept on: over new links, a coordinator that
// crashed, one that another took over from, and a site that was away for long or lost what it kept.
func TestHeadComesWithEachQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 4, func(s *proposal.Spec) { s.Rounds = 6; s.Radius = "3" })
		defer func() { f.c.Close() }()
		key := f.plan.Proposal.Coordinator
		kept := []record{{}, {}, {}, {}}
		var watch []watcher
		queries := 0
		relink := func() {
			watch = nil
			for i := range f.sites {
				watch = append(watch, f.watched(i, kept[i]))
			}
			f.sent = nil
		}
		look := func() {
			for _, m := range f.sent {
				if m.m.GetQuery() != nil {
					queries++
				}
				watch[m.site].hears(m.m, key)
			}
			f.sent = nil
		}
		relink()
		until := func(query int) {
			f.pump(func() bool { return f.view().Query == query })
			look()
		}
		until(1)
		relink() // links end
		until(2)
		f.crash(-1)
		relink()
		until(3)
		f.drop(3) // away from here on
		f.pump(nil)
		look()
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		next := NewMachine()
		if err := restored(next, raw); err != nil {
			t.Fatal(err)
		}
		f.restart(next, f.log.all()) // another coordinator takes over
		kept[1] = record{}           // and a site's ledger is new
		relink()
		if v := f.finish(); v.Status != round.StatusCompleted {
			t.Fatalf("%s (%s)", v.Status, v.Code)
		}
		look()
		asked := 0
		for _, w := range watch {
			asked += *w.asked
		}
		if asked < 3 {
			t.Errorf("%d sites were asked for a signature", asked)
		}
		if queries < 20 || len(kept[0]) < 4+1+5 || len(kept[1]) != len(kept[0]) {
			t.Errorf("%d queries, %d and %d entries", queries, len(kept[0]), len(kept[1]))
		}
	})
}

func read(t *testing.T, raw []byte) *covey.CoordinatorMessage {
	t.Helper()
	m := &covey.CoordinatorMessage{}
	if err := proto.Unmarshal(raw, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestLongChain: what one message does not hold comes in several, and what waits to be sent of the
// chain is sent in one with what is new, in its place ahead of the query that it came with.
func TestLongChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		f.pump(nil)
		m := f.c.machine.lock()
		for i := range 2*chain.MaxSteps + 5 {
			m.chain.Append(chain.Step{byte(i), byte(i >> 8), byte(i >> 16)})
		}
		f.c.machine.unlock()
		w := f.watched(0, record{})
		l := f.sites[0].link
		take := func(queue []stream.Outgoing) {
			for _, o := range queue {
				raw := o.Raw
				if o.Encode != nil {
					raw, _ = o.Encode()
				}
				w.hears(read(t, raw), f.plan.Proposal.Coordinator)
			}
		}
		l.Take()
		l.shown = 0
		show := func() {
			m := f.c.machine.lock()
			m.show(l)
			l.Send([]byte("a query"), stream.About{})
			m.chain.Append(chain.Step{9})
			f.c.machine.unlock()
		}
		show()
		show()
		queue := l.Take()
		if n := len(queue); n != 3+2 || !queue[2].Head || queue[3].Head {
			t.Fatalf("%d messages wait", n)
		}
		take(queue[:3]) // without what is no query
		m = f.c.machine.lock()
		m.show(l)
		f.c.machine.unlock()
		take(l.Take())
		if head, _ := w.f.Shown(); head.Head != f.chain().Head() || w.f.Check() != nil {
			t.Errorf("shown %v of %v: %v", head, f.chain().Head(), w.f.Check())
		}
	})
}

// TestKeptElsewhere: a site that kept another head, or one that this log does not reach, is in the
// coordinator's log with both heads, is listed as such, and is shown this head without a query, to
// accept it; one that kept an older head is not.
func TestKeptElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		f.finish() // no query comes any more
		now := f.chain().Head()
		for what, c := range map[string]struct {
			kept chain.Head
			said bool
		}{
			"nothing":      {chain.Head{}, false},
			"an old head":  {f.chain().At(1), false},
			"this head":    {now, false},
			"another head": {chain.Head{Number: now.Number, Link: chain.Link{1}}, true},
			"a later head": {chain.Head{Number: now.Number + 1, Link: chain.Link{1}}, true},
			"a far head":   {chain.Head{Number: 1 << 63, Link: chain.Link{1}}, true},
		} {
			f.logs.Reset()
			f.drop(0)
			s := f.sites[0]
			s.down, s.link = false, newLink(s.name)
			f.c.linked(s.link, nil, c.kept)
			shown := slices.ContainsFunc(s.link.Take(), func(o stream.Outgoing) bool { return o.Head })
			f.pump(nil)
			s.link.Take()
			m := f.c.machine.lock()
			m.chain.Append(chain.Step{9})
			f.c.machine.unlock()
			f.c.Sites()
			if again := slices.ContainsFunc(s.link.Take(), func(o stream.Outgoing) bool { return o.Head }); again != c.said || again && s.link.shown != f.chain().Head().Number {
				t.Errorf("%s: shown the head that is listed: %v", what, again)
			}
			if listed := f.c.Sites().Sites[0].BrokenChain; listed != f.c.Overview(0).Sites[0].BrokenChain || listed != c.said || shown != c.said {
				t.Errorf("%s: listed as broken: %v, shown the head: %v", what, listed, shown)
			}
			if said := strings.Contains(f.logs.String(), "not in this coordinator's chain"); said != c.said ||
				said && !strings.Contains(f.logs.String(), c.kept.String()) {
				t.Errorf("%s: %v:\n%s", what, said, f.logs.String())
			}
		}
	})
}

// TestKeptElsewhereShowsInStudies: a site that says on connecting that it kept another chain is
// shown so in the studies that it is in, before a query meets its refusal.
func TestKeptElsewhereShowsInStudies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		for _, far := range []bool{false, true} {
			f.drop(0)
			s, kept := f.sites[0], f.chain().Head()
			if far {
				kept.Number++
			}
			s.down, s.link = false, newLink(s.name)
			f.c.linked(s.link, nil, kept)
			v := f.view()
			if got := v.Sites[0].Refused == study.CodeBrokenChain; v.Status != round.StatusProposed || got != far || v.Sites[1].Refused != "" {
				t.Errorf("%v: %+v", far, v)
			}
		}
	})
}

// TestBrokenChainEndsNothing: R24. A study waits for a site that refuses for the chain, which is
// asked again on its link and on its next one, or goes on without it and waits for no deadline.
func TestBrokenChainEndsNothing(t *testing.T) {
	for _, c := range []struct {
		dropout string
		relink  bool
		want    round.Status // while the chain is broken
	}{{proposal.DropoutWait, false, round.StatusRunning}, {proposal.DropoutWait, true, round.StatusRunning}, {proposal.DropoutContinue, false, round.StatusCompleted}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFederation(t, 5, func(s *proposal.Spec) { s.OnDropout, s.Rounds = c.dropout, 2 })
			defer func() { f.c.Close() }()
			s, refused := f.sites[2], 0
			s.corrupt = func(m *covey.SiteMessage) {
				if up := m.GetUpload(); up != nil {
					refused++
					m.Body = &covey.SiteMessage_Refusal{Refusal: &covey.Refusal{Study: up.Study, Query: up.Query, Slot: up.Slot, Code: covey.Code_CODE_BROKEN_CHAIN}}
				}
			}
			for range 50 {
				f.pump(nil)
				time.Sleep(time.Second)
			}
			if v := f.view(); v.Status != c.want || refused == 0 || f.lines("broken_chain") == 0 || !f.c.Sites().Sites[2].BrokenChain {
				t.Fatalf("%+v: %s (%s) after %d refusals", c, v.Status, v.Code, refused)
			}
			if c.want == round.StatusCompleted && f.lines(deadlineLine) > 0 {
				t.Errorf("a deadline passed:\n%s", f.logs.String())
			}
			s.corrupt = nil
			if c.relink {
				f.drop(2)
				f.connect(2)
			}
			if v := f.finish(); v.Status != round.StatusCompleted {
				t.Errorf("%+v: %s (%s)", c, v.Status, v.Code)
			}
			if c.want == round.StatusRunning && f.c.Sites().Sites[2].BrokenChain {
				t.Errorf("%+v: the chain is still shown as broken", c)
			}
		})
	}
}

// TestDivergedLogEndsTheNode: an entry of a leader that decided another past, behind what this
// coordinator decided or in its place, changes nothing and ends it; one from before later entries
// does not.
func TestDivergedLogEndsTheNode(t *testing.T) {
	var lines [][]byte
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		f.finish()
		lines = f.log.all()
	})
	headed := 0
	m := NewMachine()
	for _, line := range lines {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Head.Number > 0 {
			headed++
		}
		if err, ok := m.Apply(line).(*DivergedError); ok {
			t.Fatalf("entry of the log's own leader: %v", err)
		}
	}
	if headed < len(lines)/2 {
		t.Errorf("%d of %d entries have a head", headed, len(lines))
	}
	now := m.state.chain.Head()
	if now.Number < 3 {
		t.Fatalf("the chain has %d entries", now.Number)
	}
	other := m.state.chain.At(now.Number - 1)
	other.Link[0] ^= 1
	before, err := encoded(m)
	if err != nil {
		t.Fatal(err)
	}
	name := "nobody"
	for _, c := range []struct {
		head chain.Head
		ends bool
	}{
		{chain.Head{}, false}, {now, false}, {m.state.chain.At(1), false},
		{other, true}, {chain.Head{Number: now.Number + 1, Link: now.Link}, true},
	} {
		line, err := json.Marshal(entry{Head: c.head, Dismiss: &name})
		if err != nil {
			t.Fatal(err)
		}
		answer := m.Apply(line)
		if _, ends := answer.(interface{ Diverged() bool }); ends != c.ends || ends && !strings.Contains(fmt.Sprint(answer), "this is the only one") {
			t.Errorf("%v: %v", c.head, answer)
		}
	}
	if after, err := encoded(m); err != nil || string(after) != string(before) {
		t.Errorf("the state changed: %v", err)
	}
}

// TestSnapshotOfAnotherPast: a leader's snapshot whose chain does not extend this coordinator's is
// not restored; one of the same past, of as many entries or more, is. An older state of the same
// past is told from another one.
func TestSnapshotOfAnotherPast(t *testing.T) {
	with := func(names ...string) *Machine {
		m := NewMachine()
		for _, name := range names {
			m.state.chain.Append(chain.Joined(name, "token", nil, nil))
		}
		return m
	}
	for _, c := range []struct {
		ours, theirs []string
		ends, older  bool
	}{
		{nil, []string{"a", "b"}, false, false}, {[]string{"a"}, []string{"a", "b"}, false, false}, {[]string{"a", "b"}, []string{"a", "b"}, false, false},
		{[]string{"a", "b"}, []string{"a"}, true, true}, {[]string{"a", "b"}, []string{"c"}, true, false}, {[]string{"a", "b"}, []string{"a", "c", "d"}, true, false}, {[]string{"a"}, nil, true, true},
	} {
		m := with(c.ours...)
		raw, err := encoded(with(c.theirs...))
		if err != nil {
			t.Fatal(err)
		}
		before := m.state.chain.Head()
		err = m.Restore(bytes.NewReader(raw))
		if d, ends := err.(interface{ Diverged() bool }); ends != c.ends || (err != nil) != ends || ends && d.Diverged() != c.older {
			t.Errorf("%q after %q: %v", c.theirs, c.ours, err)
		}
		if c.ends && m.state.chain.Head() != before {
			t.Errorf("%q is in place of %q", c.theirs, c.ours)
		}
	}
}
