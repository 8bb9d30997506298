package coordinator

import (
	"crypto/ed25519"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/protobuf/proto"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// longLived returns a federation in which, beside the first study, so many others completed, and
// one was aborted before it began: it is the last.
func longLived(t *testing.T, completed int) (*federation, []proposal.Digest) {
	t.Helper()
	f := newFederation(t, 5, nil)
	if v := f.finish(); v.Status != round.StatusCompleted {
		t.Fatalf("%+v", v)
	}
	raw, err := encoded(f.c.machine)
	if err != nil {
		t.Fatal(err)
	}
	var s snapshot
	if err := json.Unmarshal([]byte(object(raw)), &s); err != nil {
		t.Fatal(err)
	}
	var r struct {
		State round.Durable        `json:"state"`
		Words map[int]outline.Word `json:"words,omitempty"`
	}
	if err := json.Unmarshal(raw[len(raw)-int(s.Closed[0].Size):], &r); err != nil {
		t.Fatal(err)
	}
	p := f.plan.Proposal
	for k := range completed {
		if r.State.Body, err = proposal.Propose(p.Spec, p.Roster, ed25519.PublicKey(p.Coordinator), [32]byte{1, byte(k), byte(k >> 8)}); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		c := *s.Closed[0]
		c.View.Digest, c.Size = proposal.DigestOf(r.State.Body), int64(len(text))
		s.Order, s.Closed, raw = append(s.Order, c.View.Digest), append(s.Closed, &c), append(raw, text...)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	raw = framed(string(text), raw)
	m := NewMachine()
	if err := restored(m, raw); err != nil {
		t.Fatal(err)
	}
	f.restart(m, nil)
	aborted, err := f.c.Create(p.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.c.Abort(aborted.Digest); err != nil {
		t.Fatal(err)
	}
	return f, m.state.order
}

// hello opens a link of the last site, as an agent does, and gives what it is sent.
func (f *federation) hello(h *covey.Hello) (l *link, messages, bytes int) {
	f.t.Helper()
	s := f.sites[4]
	s.link = newLink(s.name)
	h.Datasets = []*covey.Dataset{{Name: "rows", Units: 1004}}
	if err := f.c.hears(s.link, &covey.SiteMessage{Body: &covey.SiteMessage_Hello{Hello: h}}); err != nil {
		f.t.Fatal(err)
	}
	messages, bytes = f.sentOn(s.link)
	return s.link, messages, bytes
}

func (f *federation) sentOn(l *link) (messages, bytes int) {
	synctest.Wait()
	for _, m := range l.Take() {
		raw := m.Raw
		if m.Encode != nil {
			var err error
			if raw, err = m.Encode(); err != nil {
				f.t.Fatal(err)
			}
		}
		if raw != nil {
			messages, bytes = messages+1, bytes+len(raw)
		}
	}
	return messages, bytes
}

func named(studies ...proposal.Digest) (out []byte) {
	for _, d := range studies {
		out = append(out, d[:wire.TagBytes]...)
	}
	return out
}

// TestEndsAreToldOnce: R18. What a site is told on a new link does not grow with the studies that
// are over, and whoever misses an end hears of it, from the next leader too.
func TestEndsAreToldOnce(t *testing.T) {
	many := 199
	if testing.Short() {
		many = 29
	}
	synctest.Test(t, func(t *testing.T) {
		for _, completed := range []int{3, many} { // and the first
			f, all := longLived(t, completed)
			over, last, aborted := all[:len(all)-1], all[completed], all[completed+1]
			for leader := range 2 {
				for _, c := range []struct {
					name string
					said *covey.Hello
					// messages: result and end of each completed study, the end of the aborted one
					want int
				}{
					{"a hello that names none", &covey.Hello{}, 2*len(over) + 1},
					{"all over", &covey.Hello{AllOpen: true, Over: named(all...)}, 0},
					{"all over, but it knows nothing of what came to nothing", &covey.Hello{AllOpen: true, Over: named(over...)}, 0},
					{"one is open", &covey.Hello{AllOpen: true, Open: named(last), Over: named(append(over[:completed:completed], aborted)...)}, 2},
					{"a proposal is open", &covey.Hello{AllOpen: true, Open: named(aborted), Over: named(over...)}, 1},
					{"open and over", &covey.Hello{AllOpen: true, Open: named(last), Over: named(all...)}, 2},
					{"no place to name all that are open", &covey.Hello{Over: named(over...)}, 1},
					{"no place to name the first that are over", &covey.Hello{AllOpen: true, Over: named(over[2:]...)}, 4},
					// AG-20: its ledger is of before the approval.
					{"a ledger without the last", &covey.Hello{AllOpen: true, Over: named(over[:completed]...)}, 2},
					{"an empty ledger", &covey.Hello{AllOpen: true}, 2 * len(over)},
				} {
					_, messages, bytes := f.hello(c.said)
					if messages != c.want {
						t.Errorf("%d studies are over; %s: %d messages, want %d", len(all), c.name, messages, c.want)
					}
					if leader == 0 && slices.Contains([]string{"a hello that names none", "all over"}, c.name) {
						t.Logf("figure: %d studies are over; %s: a hello of %d bytes, then %d messages of %d bytes", len(all), c.name, proto.Size(c.said), messages, bytes)
					}
				}
				f.crashed(t)
			}
			f.c.Close()
		}
	})
}

// TestLostStudyIsNamed: a site's hello names a study that a restored log lacks. The log says so,
// and nothing of those that it has, over or not.
func TestLostStudyIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, all := longLived(t, 3)
		defer func() { f.c.Close() }()
		const line = "studies open that this coordinator's log lacks"
		f.hello(&covey.Hello{AllOpen: true, Open: named(all...)})
		if n := f.lines(line); n != 0 {
			t.Errorf("%d lines of studies that the log has", n)
		}
		lost := proposal.DigestOf([]byte("lost"))
		f.hello(&covey.Hello{AllOpen: true, Open: named(append(all, lost)...)})
		if f.lines(line) != 1 || f.lines("studies=["+lost.String()[:12]+"]") != 1 {
			t.Errorf("%s", f.logs.String())
		}
	})
}

// TestTellingAnEndReadsNothing: studies that are over are read by the link's writer, so that nobody
// else waits for a hello. If it finds other bytes than were kept, the site is told only the ends.
func TestTellingAnEndReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, all := longLived(t, 3)
		defer func() { f.c.Close() }()
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		clear(raw[8+len(object(raw)):])
		m := NewMachine()
		if err := restored(m, raw); err != nil {
			t.Fatal(err)
		}
		for _, s := range f.sites {
			s.down = true
		}
		f.restart(m, nil)
		s := f.sites[4]
		s.link = newLink(s.name)
		if err := f.c.hears(s.link, &covey.SiteMessage{Body: &covey.SiteMessage_Hello{Hello: &covey.Hello{}}}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(f.logs.String(), "cannot be read") {
			t.Error("a study is read as a site says hello")
		}
		ends := map[string]bool{}
		for _, o := range s.link.Take() {
			if o.Encode != nil {
				if raw, err := o.Encode(); raw != nil || err != nil {
					t.Errorf("%d bytes are sent of what cannot be read, %v", len(raw), err)
				}
				continue
			}
			var told covey.CoordinatorMessage
			if err := proto.Unmarshal(o.Raw, &told); err != nil {
				t.Fatal(err)
			}
			if told.GetEnded() != nil {
				ends[string(told.GetEnded().GetStudy())] = true
			}
		}
		if len(ends) != len(all) || strings.Count(f.logs.String(), "cannot be read from disk") != len(all)-1 {
			t.Errorf("%d ends are told of %d", len(ends), len(all))
		}
	})
}

// TestWhoSpeaksOfAnEndedStudyIsToldSo: R19. A site whose hello did not know a study, and who has it
// open all the same, hears its end, once a link.
func TestWhoSpeaksOfAnEndedStudyIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, all := longLived(t, 1)
		defer func() { f.c.Close() }()
		aborted := all[len(all)-1]
		l, messages, _ := f.hello(&covey.Hello{AllOpen: true, Over: named(all[:2]...)})
		if messages != 0 {
			t.Fatalf("%d messages", messages)
		}
		for _, want := range []int{1, 0} {
			if err := f.c.hears(l, &covey.SiteMessage{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{
				Study: aborted[:], Verdict: covey.Verdict_VERDICT_PENDING}}}); err != nil {
				t.Fatal(err)
			}
			if messages, _ = f.sentOn(l); messages != want {
				t.Errorf("%d messages, want %d", messages, want)
			}
		}
		// A second hello on a link says nothing new of studies.
		if err := f.c.hears(l, &covey.SiteMessage{Body: &covey.SiteMessage_Hello{Hello: &covey.Hello{
			Datasets: []*covey.Dataset{{Name: "rows", Units: 1004}}}}}); err != nil {
			t.Fatal(err)
		}
		if messages, _ = f.sentOn(l); messages != 0 {
			t.Errorf("%d messages on a second hello", messages)
		}
		// What ends while a site is linked it is told as it ends, and by a late word of its own not
		// again.
		plan, err := f.c.Create(f.plan.Proposal.Spec)
		if err != nil {
			t.Fatal(err)
		}
		// One that is under way is asked about whatever a site says: the log may be a restored one.
		for _, said := range []*covey.Hello{{AllOpen: true}, {AllOpen: true, Over: named(plan.Digest)}} {
			if l, messages, _ = f.hello(said); messages != 4+1 {
				t.Errorf("%d messages, want the proposal, and the results and ends of two that are not known", messages)
			}
		}
		if plan, err = f.c.Create(f.plan.Proposal.Spec); err != nil { // after the hello
			t.Fatal(err)
		}
		f.sentOn(l)
		if err := f.c.Abort(plan.Digest); err != nil {
			t.Fatal(err)
		}
		if messages, _ = f.sentOn(l); messages != 1 {
			t.Errorf("%d messages as a study ends", messages)
		}
		if err := f.c.hears(l, &covey.SiteMessage{Body: &covey.SiteMessage_Decision{Decision: &covey.Decision{
			Study: plan.Digest[:], Verdict: covey.Verdict_VERDICT_PENDING}}}); err != nil {
			t.Fatal(err)
		}
		if messages, _ = f.sentOn(l); messages != 0 {
			t.Errorf("%d messages more", messages)
		}
	})
}

// TestNextLeaderTellsTheEnd: a site that missed the end is told by the next leader, on the first
// link that this one has.
func TestNextLeaderTellsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, all := longLived(t, 1)
		defer func() { f.c.Close() }()
		for _, s := range f.sites {
			s.down = true
		}
		f.crashed(t)
		if _, messages, _ := f.hello(&covey.Hello{AllOpen: true, Open: named(all[0]), Over: named(all[1:]...)}); messages != 2 {
			t.Errorf("%d messages, want the last result and the end", messages)
		}
	})
}

// crashed replaces the leader by one that begins with a snapshot.
func (f *federation) crashed(t *testing.T) {
	t.Helper()
	raw, err := encoded(f.c.machine)
	if err != nil {
		t.Fatal(err)
	}
	next := NewMachine()
	if err := restored(next, raw); err != nil {
		t.Fatal(err)
	}
	f.restart(next, nil)
}

// TestHelloThatDoesNotRead: studies that are not whole names, or too many, end the link and change
// nothing.
func TestHelloThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer func() { f.c.Close() }()
		linked := func() *link {
			m := f.c.machine.lock()
			defer f.c.machine.unlock()
			return m.links["site-2"]
		}
		before := linked()
		for _, raw := range [][]byte{make([]byte, wire.TagBytes-1), make([]byte, wire.TagBytes+1), make([]byte, wire.ShortMessage+wire.TagBytes)} {
			for _, h := range []*covey.Hello{{Open: raw}, {Over: raw}} {
				if err := f.c.hears(newLink("site-2"), &covey.SiteMessage{Body: &covey.SiteMessage_Hello{Hello: h}}); err == nil || linked() != before {
					t.Errorf("%d bytes: %v", len(raw), err)
				}
			}
		}
	})
}
