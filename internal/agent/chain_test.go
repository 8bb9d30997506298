package agent

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"covey/internal/chain"
	"covey/internal/chainwatch"
	"covey/internal/proposal"
	"covey/internal/responder"
	"covey/internal/study"
	"covey/internal/wire"
)

// onLink begins a link and shows pieces of a chain on it, the last head signed with key.
func (s *testSite) onLink(key ed25519.PrivateKey, l *chain.Log, base uint64) {
	var h wire.Hello
	s.agent.Chain.Greet(&h)
	s.agent.Chain.Take(headOf(key, l, base))
}

// quiet asks without the chain that the harness shows.
func (s *testSite) quiet(r wire.Message) study.Code {
	if no, ok := s.agent.handle(r).(wire.Refusal); ok {
		return no.Code
	}
	return ""
}

// logWith is a chain of a proposal among entries of others, and of releases.
func logWith(c *standIn, others byte, finals ...wire.Final) *chain.Log {
	var l chain.Log
	l.Append(chain.Step{others})
	l.Append(chain.Proposed(c.plan.Digest))
	for _, f := range finals {
		l.Append(chain.Released(c.plan.Digest, f.Encoded))
	}
	return &l
}

func (s *testSite) keeps(want chain.Head) {
	s.t.Helper()
	if last, whole, err := s.agent.ledger.Chain().Last(); last != want || !whole || err != nil {
		s.t.Errorf("%s kept %v (whole: %v), %v, want %v", s.name, last, whole, err, want)
	}
}

// TestChainIsKeptBeforeTheAnswer: CH-4. A head is on the ledger when the upload leaves, the first
// time and when the same bytes are asked for again; a query that is refused keeps none.
func TestChainIsKeptBeforeTheAnswer(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
	l := logWith(c, 1)
	s.onLink(c.key, l, 0)
	if code := s.quiet(c.query(0, 0, []float64{0, 1, 0})); code != study.CodePlanMismatch {
		t.Fatalf("%q", code)
	}
	s.keeps(chain.Head{})
	for range 3 {
		if code := s.quiet(q); code != "" {
			t.Fatalf("%q", code)
		}
		s.keeps(l.Head())
		before := l.Head().Number
		l.Append(chain.Step{byte(before)})
		s.onLink(c.key, l, before)
	}
	if signed, ok, err := s.agent.ledger.SignedHead(); !ok || err != nil || signed.Number != l.Head().Number-1 ||
		!ed25519.Verify(c.key.Public().(ed25519.PublicKey), signed.SigningInput(), signed.Signature) {
		t.Errorf("%v, %v, %v", signed, ok, err)
	}
	s.restart()
	var h wire.Hello
	s.agent.Chain.Greet(&h)
	if h.Chain != l.At(l.Head().Number-1) {
		t.Errorf("the hello says %v", h.Chain)
	}
	// Neither the charge nor the upload is written: the rows are others by now.
	s.write("rows.csv", "c0,c1,c2\n1,2,3\n")
	s.ask(wire.Confirmed{Header: wire.Header{Study: c.plan.Digest}, Signatures: c.signed})
	s.onLink(c.key, l, h.Chain.Number)
	if code := s.quiet(q); code != "" {
		t.Fatalf("%q", code)
	}
	s.keeps(l.Head())
}

// TestChainIsKeptBeforeOldAnswers: CH-4. So it is when a signature or shares on record are asked
// for again, whose answer writes nothing else.
func TestChainIsKeptBeforeOldAnswers(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	q := c.query(0, 0, c.plan.Start().X)
	c.open(q, c.everyone())
	s := c.sites[0]
	for _, r := range []wire.Message{
		wire.Release{Header: c.at(q), Survivors: c.everyone()},
		wire.Open{Header: c.at(q), Survivors: c.everyone(), Certificate: c.certify(q, c.everyone())},
	} {
		before := s.chain.Head().Number
		s.chain.Append(chain.Step{byte(before)})
		s.onLink(c.key, &s.chain, before)
		if code := s.quiet(r); code != "" {
			t.Fatalf("%T: %q", r, code)
		}
		s.keeps(s.chain.Head())
	}
}

var signed = regexp.MustCompile(` from \d+:[0-9a-f]{64} signed [0-9a-f]{128}"`)

// TestBrokenChain: CH-3, CH-5. A coordinator whose chain is another than the one that was
// kept, ends before it, is not shown, is not signed or does not hold what this site was told gets
// no upload, no signature and no shares, whatever was answered before; nothing is charged, and the
// study goes on once the chain does.
func TestBrokenChain(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	first := c.query(0, 0, c.plan.Start().X)
	final := c.release(first, c.everyone(), c.open(first, c.everyone()))
	c.tell(final)
	s, next := c.sites[0], c.query(1, 1, c.courses[1].X)
	want[wire.Upload](s, next) // whose slot is open from here on
	mine := s.chain
	id := c.plan.Digest
	public := c.key.Public().(ed25519.PublicKey)
	_, stranger, _ := ed25519.GenerateKey(nil)
	forked, shorter := logWith(c, 9, final), chain.Log{}
	forked.Append(chain.Step{3})
	shorter.Append(mine.Since(0)[0])
	spent := s.agent.ledger.Populations()[0].SpentRho
	number := mine.Head().Number
	longer := mine
	longer.Append(chain.Step{5})
	s.onLink(c.key, &mine, number) // a signature that the next ones can be taken for
	if code := s.quiet(next); code != "" {
		t.Fatalf("%q", code)
	}
	asked := []wire.Message{
		c.query(1, 2, c.courses[1].X), next,
		wire.Release{Header: wire.Header{Study: id, Query: 1, Slot: 1}, Survivors: c.everyone()},
		wire.Open{Header: wire.Header{Study: id, Query: 1, Slot: 1}, Survivors: c.everyone(), Certificate: make([][]byte, 3)},
	}
	for name, show := range map[string]func(){
		"a fork from the first entry": func() { s.onLink(c.key, forked, 0) },
		"a fork at the kept head":     func() { s.onLink(c.key, forked, number) },
		"behind":                      func() { s.onLink(c.key, &shorter, 1) },
		"no head":                     func() { var h wire.Hello; s.agent.Chain.Greet(&h) },
		"another key":                 func() { s.onLink(stranger, &mine, number) },
		"another head's signature": func() {
			s.onLink(c.key, &mine, number)
			m := headOf(c.key, &longer, number)
			m.Shown.Signature = headOf(c.key, &mine, number).Shown.Signature
			s.agent.Chain.Take(m)
		},
	} {
		s.log.Reset()
		show()
		for _, r := range asked {
			if code := s.quiet(r); code != study.CodeBrokenChain {
				t.Errorf("%s: %T is answered with %q", name, r, code)
			}
		}
		s.keeps(mine.Head())
		if text := s.log.String(); strings.Count(text, "DOES NOT EXTEND") != 1 || !strings.Contains(text, "kept=\""+mine.Head().String()+" from ") || len(signed.FindAllString(text, -1)) != map[bool]int{true: 1, false: 2}[name == "no head"] {
			t.Errorf("%s: the log says:\n%s", name, text)
		}
		if st, err := s.agent.Views.Status(); err != nil || st.Chain.Broken == "" || st.Chain.Kept == nil || st.Chain.Kept.Head != mine.Head() || (st.Chain.Shown == nil) != (name == "no head") {
			t.Errorf("%s: the status says %+v, %v", name, st.Chain, err)
		} else if kept, shown := st.Chain.Kept, st.Chain.Shown; name == "a fork at the kept head" && (kept.Number != shown.Base.Number || kept.Link == shown.Base.Link ||
			!ed25519.Verify(public, kept.SigningInput(), kept.Signature) || !ed25519.Verify(public, shown.SigningInput(), shown.Signature)) {
			t.Errorf("%v and %v prove nothing", kept, shown)
		}
		// What is over is answered all the same: a coordinator that lost it takes it from here.
		if code := s.quiet(first); code != study.CodeFinal {
			t.Errorf("%s: a query that is final is answered with %q", name, code)
		}
		s.onLink(c.key, &mine, number)
		if code := s.quiet(next); code != "" {
			t.Errorf("after %s: %q", name, code)
		}
		if st, err := s.agent.Views.Status(); err != nil || st.Chain.Broken != "" {
			t.Errorf("after %s the status says %+v, %v", name, st.Chain, err)
		}
	}
	if now := s.agent.ledger.Populations()[0].SpentRho; now != spent {
		t.Errorf("%v is spent, before %v", now, spent)
	}
}

// TestChainHoldsWhatWasTold: CH-3. A chain that holds neither the proposal nor, once there is one,
// the last release that this site holds is not the chain of this coordinator's log.
func TestChainHoldsWhatWasTold(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s, first := c.sites[0], c.query(0, 0, c.plan.Start().X)
	var l chain.Log
	l.Append(chain.Step{1})
	s.onLink(c.key, &l, 0)
	if code := s.quiet(first); code != study.CodeBrokenChain {
		t.Errorf("a chain without the proposal: %q", code)
	}
	l.Append(chain.Proposed(c.plan.Digest))
	s.onLink(c.key, &l, 0)
	if code := s.quiet(first); code != "" {
		t.Errorf("with it: %q", code)
	}
	s.chain = l
	c.tell(c.release(first, c.everyone(), c.open(first, c.everyone())))
	s = c.sites[1]
	next := c.query(1, 1, c.courses[1].X)
	without := logWith(c, 1)
	s.agent.ledger.PinChain(chain.Head{})
	s.onLink(c.key, without, 0)
	if code := s.quiet(next); code != study.CodeBrokenChain || !strings.Contains(s.log.String(), "does not hold what it told this site of the study last") {
		t.Errorf("a chain without the release: %q", code)
	}
	s.agent.work.Wait() // the result may be on its way to the disk
	with := logWith(c, 1, wire.Final{Encoded: s.finalOf(c, 0)})
	s.onLink(c.key, with, 0)
	if code := s.quiet(next); code != "" {
		t.Errorf("with it: %q", code)
	}
}

func (s *testSite) finalOf(c *standIn, query int) []byte {
	s.t.Helper()
	held, ok := responder.Final(s.session(c).journal, query)
	if !ok {
		s.t.Fatal("no final result")
	}
	return held.Encoded
}

// TestOlderLedger: CH-6. A site whose ledger was restored kept an older head, which the chain
// extends: the coordinator is called no liar.
func TestOlderLedger(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Rounds = 3 })
	c.ready()
	first := c.query(0, 0, c.plan.Start().X)
	c.tell(c.release(first, c.everyone(), c.open(first, c.everyone())))
	s := c.sites[0]
	backup := filepath.Join(t.TempDir(), "ledger")
	s.agent.work.Wait()
	if err := errors.Join(s.agent.Close(), os.CopyFS(backup, os.DirFS(filepath.Join(s.dir, "ledger")))); err != nil {
		t.Fatal(err)
	}
	s.start()
	want[wire.Upload](s, c.query(1, 1, c.courses[1].X))
	late := s.chain.Head()
	s.keeps(late)
	s.agent.work.Wait()
	if err := errors.Join(s.agent.Close(), os.RemoveAll(filepath.Join(s.dir, "ledger")), os.Rename(backup, filepath.Join(s.dir, "ledger"))); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(s.dir, "egress.jsonl")) // all of the machine
	s.start()
	var h wire.Hello
	s.agent.Chain.Greet(&h)
	if h.Chain.Number == 0 || h.Chain.Number >= late.Number {
		t.Fatalf("the older ledger kept %v, before %v", h.Chain, late)
	}
	s.log.Reset()
	want[wire.Upload](s, c.query(1, 1, c.courses[1].X))
	s.keeps(late)
	if strings.Contains(s.log.String(), "CHAIN") {
		t.Errorf("the log says:\n%s", s.log.String())
	}
}

// TestAcceptChain: CH-7. Nothing but the operator's word, with the head that is shown, takes
// another chain; it is logged with both heads, and then all of that chain is shown anew.
func TestAcceptChain(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
	want[wire.Upload](s, q)
	kept := s.chain.Head()
	other := logWith(c, 9)
	other.Append(chain.Step{4})
	control := Handler(s.agent)
	call := func(method, path string, code int, into any) {
		t.Helper()
		w := httptest.NewRecorder()
		control.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != code {
			t.Fatalf("%s %s: %d, %s", method, path, w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatal(err)
		}
	}
	var no failure
	accept := "/v1/chain/accept/"
	call("POST", accept+s.chain.Head().Link.String(), http.StatusBadRequest, &no) // it is in order
	for _, base := range []uint64{0, kept.Number} {
		s.onLink(c.key, other, base)
		if code := s.quiet(q); code != study.CodeBrokenChain {
			t.Fatalf("%q", code)
		}
	}
	call("POST", accept+"abc", http.StatusBadRequest, &no)
	call("POST", accept+kept.Link.String(), http.StatusBadRequest, &no)
	if !strings.Contains(no.Error, other.Head().String()) {
		t.Error(no.Error)
	}
	s.keeps(kept)
	var v chainwatch.View
	call("GET", "/v1/chain", http.StatusOK, &v)
	if v.Kept.Head != kept || v.Shown.Head != other.Head() || v.Broken == "" {
		t.Errorf("%+v", v)
	}
	s.log.Reset()
	call("POST", accept+v.Shown.Head.String(), http.StatusOK, &v) // with its number, as it is printed
	if text := s.log.String(); !strings.Contains(text, kept.String()) || !strings.Contains(text, other.Head().String()) {
		t.Errorf("the log says:\n%s", text)
	}
	if code := s.quiet(q); code != study.CodeBrokenChain {
		t.Errorf("before a head is shown: %q", code)
	}
	// The chain that was accepted must be the one that is shown.
	another := logWith(c, 8)
	another.Append(chain.Step{4})
	s.onLink(c.key, another, 0)
	if code := s.quiet(q); code != study.CodeBrokenChain {
		t.Errorf("a third chain: %q", code)
	}
	other.Append(chain.Step{5})
	var h wire.Hello
	s.agent.Chain.Greet(&h)
	if h.Chain != (chain.Head{}) {
		t.Errorf("the hello says %v", h.Chain)
	}
	s.onLink(c.key, other, 0)
	if code := s.quiet(q); code != "" {
		t.Errorf("the accepted chain: %q", code)
	}
	s.keeps(other.Head())
	own := chain.Proposed(c.plan.Digest)
	if !s.agent.Chain.Holds(other.At(2), own) || s.agent.Chain.Holds(kept, own) {
		t.Error("the chain holds another head than it should")
	}
	call("POST", accept+other.Head().Link.String(), http.StatusBadRequest, &no)
}
