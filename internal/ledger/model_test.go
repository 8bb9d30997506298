package ledger

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// event is one thing the model remembers.
type event struct {
	step
	value string
}

// model is the once-only rules over a plain list of what happened, written
// from the rules and not from the counters the ledger keeps.
type model struct{ log []event }

func (m *model) any(pred func(event) bool) (event, bool) {
	for _, e := range m.log {
		if pred(e) {
			return e, true
		}
	}
	return event{}, false
}

func (m *model) has(pred func(event) bool) bool { _, ok := m.any(pred); return ok }

func (m *model) held(e event) string {
	sig := ""
	if own, ok := m.any(func(o event) bool {
		return o.do == "sign" && o.q == e.q && o.s == e.s && o.ctx == e.ctx && o.u == e.u
	}); ok {
		sig = own.value
	}
	return fmt.Sprintf("held %d/%d %s %s", e.q, e.s, e.u, sig)
}

// answer is what the request must get; "new" if it may go ahead.
func (m *model) answer(st step) string {
	is := func(do string) func(event) bool { return func(e event) bool { return e.do == do && e.q == st.q } }
	at := func(do string) func(event) bool { return func(e event) bool { return e.do == do && e.s == st.s } }
	same := func(e event) bool { return e.q == st.q && e.s == st.s && e.ctx == st.ctx }
	final, isFinal := m.any(is("final"))
	if st.do == "final" {
		if isFinal && (final.s != st.s || final.u != st.u) {
			return "conflict final result"
		}
		return "ok"
	}
	if isFinal {
		return "query final"
	}
	shares, sent := m.any(is("shares"))
	up, uploaded := m.any(at("upload"))
	sig, signed := m.any(at("sign"))
	laterSigned := m.has(func(e event) bool { return e.do == "sign" && e.s > st.s })
	laterQuery := m.has(func(e event) bool { return e.q > st.q })
	past := m.has(func(e event) bool { return e.s >= st.s && (e.q < st.q || e.do == "final") })
	switch st.do {
	case "upload", "both":
		switch {
		case uploaded && !same(up):
			return "conflict upload"
		case uploaded && m.has(func(e event) bool { return e.do == "final" && e.s >= st.s }):
			return "erased"
		case uploaded:
			return up.value
		case sent:
			return m.held(shares)
		case laterQuery:
			return "query order"
		case m.has(func(e event) bool { return e.s >= st.s }):
			return "slot order"
		}
	case "sign":
		switch {
		case signed && same(sig) && sig.u == st.u && laterSigned:
			return "slot order"
		case signed && same(sig) && sig.u == st.u:
			return sig.value
		case signed:
			return m.held(sig)
		case sent && !(same(shares) && shares.u == st.u):
			return m.held(shares)
		case uploaded && !same(up):
			return "conflict upload"
		case laterQuery:
			return "query order"
		case past, laterSigned:
			return "slot order"
		}
	case "shares", "shared":
		switch {
		case st.do == "shared" && !sent:
			return "no shares"
		case sent && !(same(shares) && shares.u == st.u):
			return m.held(shares)
		case sent && laterSigned:
			return "slot order"
		case sent && m.has(func(e event) bool { return e.do == "final" && e.s >= st.s }):
			return "erased"
		case sent && st.do == "shared":
			return "ok"
		case sent:
			return shares.value
		case signed && !same(sig):
			return m.held(sig)
		case uploaded && !same(up):
			return "conflict upload"
		case laterQuery:
			return "query order"
		case past, laterSigned:
			return "slot order"
		}
	}
	return "new"
}

func (m *model) record(st step, value string) {
	if st.do == "both" {
		st.do = "sign"
		m.log = append(m.log, event{st, "signed"})
		st.do = "shares"
		m.log = append(m.log, event{st, "shared"})
		st.do = "upload"
	}
	m.log = append(m.log, event{st, value})
}

// TestJournalModel drives the journal with random requests, crashes and
// restarts, and compares every answer with the model.
func TestJournalModel(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "l")
	l := mustOpen(t, dir)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := [32]byte{byte(n), byte(n >> 8), 1}
		a := approval(1, 1)
		a.Study, a.CapRho = id, 1e6
		must(t, l.Approve(a))
		m := &model{}
		for i := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			st := step{
				do:  rapid.SampledFrom([]string{"upload", "both", "sign", "sign", "sign", "shares", "shares", "shared", "shared", "final"}).Draw(rt, "do"),
				q:   rapid.IntRange(0, 3).Draw(rt, "query"),
				s:   rapid.IntRange(0, 5).Draw(rt, "slot"),
				ctx: rapid.SampledFrom([]string{"c", "c", "d"}).Draw(rt, "context"),
				u:   rapid.SampledFrom([]string{"U", "U", "V"}).Draw(rt, "survivors"),
			}
			want := m.answer(st)
			v := made(i, st)
			if want == "new" {
				want = v
				m.record(st, v)
			} else if want == "ok" && st.do != "shared" {
				m.record(st, "")
			}
			if got := outcome(ask(l, id, st, value(v))); got != want {
				rt.Fatalf("step %d %+v: got %q, want %q\nafter %+v", i, st, got, want, m.log)
			}
			if rapid.IntRange(0, 19).Draw(rt, "restart") == 0 {
				must(t, l.Close())
				l = mustOpen(t, dir)
			}
		}
		// what was charged is what was uploaded for, once a query: no less, and nothing else
		charged := map[int]bool{}
		for _, e := range m.log {
			if e.do == "upload" {
				charged[e.q] = true
			}
		}
		for _, s := range l.Studies() {
			if s.Study == id && (s.Queries != len(charged) || math.Abs(s.SpentRho-0.01*float64(len(charged))) > 1e-12) {
				rt.Fatalf("%d queries charged, %g in all\nafter %+v", s.Queries, s.SpentRho, m.log)
			}
		}
	})
}
