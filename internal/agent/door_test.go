package agent

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
)

// TestAttackNameIsADigest: the operator reads a proposal; the coordinator ends it and offers
// another, whose name is the digest that the operator is about to approve. Neither it nor anything
// but the digest that was read can be approved by that word.
func TestAttackNameIsADigest(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s, read := c.sites[0], c.plan.Digest
	say := func(word, verb string) int {
		t.Helper()
		w := httptest.NewRecorder()
		Handler(s.agent).ServeHTTP(w, httptest.NewRequest("POST", "/v1/studies/"+word+"/"+verb, nil))
		return w.Code
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictPending {
		t.Fatalf("%+v", d)
	}
	if _, err := s.agent.Views.Study(read); err != nil {
		t.Fatal(err)
	}
	s.ask(wire.Ended{Header: wire.Header{Study: read}, Code: study.CodeAborted})
	for _, name := range []string{read.String(), read.String()[:12], "blood"} {
		refused := name != "blood"
		other := bytes.Replace(c.body, []byte("name = 'test'"), []byte("name = '"+name+"'"), 1)
		if bytes.Equal(other, c.body) {
			t.Fatalf("the proposal names its study otherwise:\n%s", c.body)
		}
		d := want[wire.Decision](s, wire.Proposal{Body: other})
		if refused && (d.Verdict != study.VerdictRejected || d.Code != study.CodePlanMismatch) || !refused && d.Verdict != study.VerdictPending {
			t.Errorf("a proposal named %q: %+v", name, d)
		}
		for _, word := range []string{name, read.String(), proposal.DigestOf(other).String()[:63]} {
			if code := say(word, "approve"); code != http.StatusBadRequest {
				t.Errorf("approving %q: status %d", word, code)
			}
			if code := say(word, "reject"); code != http.StatusBadRequest {
				t.Errorf("rejecting %q: status %d", word, code)
			}
		}
		if all := s.agent.ledger.Studies(); len(all) != 0 {
			t.Fatalf("on the ledger: %+v", all)
		}
		if !refused {
			if code := say(strings.ToUpper(proposal.DigestOf(other).String()), "approve"); code != http.StatusOK {
				t.Errorf("the digest itself: status %d", code)
			}
			if _, ok := s.agent.ledger.Approved(proposal.DigestOf(other)); !ok {
				t.Error("it is not approved")
			}
		}
	}
}

// TestAttackCompletedAfterOneResult: "completed" after a result that is not the last query's erases
// nothing that others need. AG-14.
func TestAttackCompletedAfterOneResult(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	u := c.everyone()
	q := c.query(0, 0, c.plan.Start().X)
	sum := c.open(q, u)
	c.tell(c.release(q, u, sum))
	s := c.sites[0]
	s.agent.work.Wait() // the result goes to the disk
	if last, ok := s.session(c).journal.LatestFinal(); !ok || c.plan.Queries.Ends(last) {
		t.Fatalf("the first result: %v, and it ends the study or is not held", last)
	}
	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeCompleted})
	if e, _ := s.agent.ledger.Study(c.plan.Digest); e.State != ledger.Approved {
		t.Errorf("after a false completed the study is %s", e.State)
	}
	s.agent.work.Wait()
	if _, err := s.session(c).journal.Slot(1); err != nil {
		t.Errorf("the next slot's secrets: %v", err)
	}
}
