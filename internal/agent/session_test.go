package agent

import (
	"crypto/ed25519"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// TestStudy runs a whole study of three sites, a histogram and power rounds, and
// compares every opened sum with the plain one.
func TestStudy(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.Radius = proposal.RadiusPrivate })
	c.ready()
	course := c.plan.Start()
	var earlier []study.Release
	for i, planned := range c.plan.Queries {
		ask, err := c.plan.NewAsk(course, i)
		if err != nil {
			t.Fatal(err)
		}
		q := wire.Query{Study: c.plan.Digest, Ask: ask}
		sum := c.open(q, c.everyone())
		if plain := c.plain(q, c.everyone()); !slices.Equal(sum, plain) {
			t.Fatalf("query %d (%s): opened %v, plain %v", i, planned.Kind, sum, plain)
		}
		release, err := c.plan.NewRelease(ask, c.everyone(), sum)
		if err != nil {
			t.Fatal(err)
		}
		c.tell(c.release(q, c.everyone(), sum))
		if course, err = c.plan.Next(course, release, earlier); err != nil {
			t.Fatal(err)
		}
		earlier = append(earlier, release)
		for _, s := range c.sites {
			s.agent.work.Wait() // the erasure goes on beside what comes next
			if _, err := s.session(c).journal.Slot(i); err != ledger.ErrErased {
				t.Errorf("%s still holds slot %d after its final result: %v", s.name, i, err)
			}
		}
	}
	c.tell(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeCompleted})
	for _, s := range c.sites {
		e, _ := s.agent.ledger.Study(c.plan.Digest)
		if e.State != ledger.Finished || e.Queries != len(c.plan.Queries) || math.Abs(e.SpentRho-c.plan.Rho) > 1e-12*c.plan.Rho {
			t.Errorf("%s: %+v, want finished and all of ρ = %v spent", s.name, e, c.plan.Rho)
		}
		if _, err := s.agent.ledger.Journal(c.plan.Digest).Slot(len(c.plan.Queries)); err != ledger.ErrErased {
			t.Errorf("%s still holds a spare slot after the end: %v", s.name, err)
		}
		// A coordinator that lost its place is told the signed result.
		no := refused(s, wire.Query{Study: c.plan.Digest, Ask: study.Ask{Query: 1}}, study.CodeFinal)
		if no.Final == nil || !ed25519.Verify(c.key.Public().(ed25519.PublicKey), study.SigningInput(no.Final.Encoded), no.Final.Signature) {
			t.Errorf("%s refuses without the signed result", s.name)
		}
	}
}

// TestApprovalComesFirst checks promise P5: before an approval nothing but a
// refusal leaves, whatever is asked.
func TestApprovalComesFirst(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	s, id := c.sites[0], c.plan.Digest
	every := []wire.Message{
		wire.Announce{Header: wire.Header{Study: id}}, wire.Deal{Header: wire.Header{Study: id}, Announcements: make([][]byte, 3)}, wire.Confirm{Header: wire.Header{Study: id}, Boxes: make([][]byte, 3)},
		c.query(0, 0, c.plan.Start().X), wire.Release{Header: wire.Header{Study: id}, Survivors: []int{0, 1, 2}}, wire.Open{Header: wire.Header{Study: id}, Survivors: []int{0, 1, 2}, Certificate: make([][]byte, 3)},
		wire.Recall{Header: wire.Header{Study: id}}, wire.Prove{Header: wire.Header{Study: id}, Survivors: []int{0, 1, 2}, Dealer: 1}, wire.Keys{Header: wire.Header{Study: id}, Survivors: []int{0, 1, 2}},
	}
	for _, r := range every {
		refused(s, r, study.CodeUnknownStudy)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictPending {
		t.Fatalf("got %+v, want pending", d)
	}
	for _, r := range every {
		refused(s, r, study.CodeNotApproved)
	}
	s.restart() // a pending proposal outlives the process
	for _, r := range every {
		refused(s, r, study.CodeNotApproved)
	}
	if err := s.agent.Decisions.Approve(id); err != nil {
		t.Fatal(err)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictApproved {
		t.Fatalf("after the operator's yes: %+v", d)
	}
	want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}})
	if _, pending := s.agent.pending.Get(id); pending {
		t.Error("an approved proposal is still pending")
	}

	// A rejection: the proposal is gone, and the policy cannot bring it back.
	s = c.sites[1]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	if err := s.agent.Decisions.Reject(id); err != nil {
		t.Fatal(err)
	}
	s.restart()
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictRejected || d.Code != study.CodeRejected {
		t.Errorf("after the operator's no: %+v", d)
	}
	for _, r := range every {
		refused(s, r, study.CodeNotApproved)
	}
}

// TestLeaving checks that rejecting an approved study ends it for good.
func TestLeaving(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
	want[wire.Upload](s, q)
	if err := s.agent.Decisions.Reject(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	refused(s, q, study.CodeLeft)
	if d := want[wire.Decision](s, wire.Proposal{Body: c.body}); d.Verdict != study.VerdictRejected {
		t.Errorf("a study that was left is decided %+v", d)
	}
	p := s.agent.Views.Ledger().Populations[0]
	if p.ReservedRho != 0 || p.SpentRho != c.plan.Queries[0].Rho {
		t.Errorf("after leaving: %+v, want nothing reserved and one query spent", p)
	}
	err := s.agent.Decisions.Approve(c.plan.Digest)
	must.As[*ledger.StateError](t, err)
	if !strings.Contains(err.Error(), "only a new proposal can be approved") {
		t.Errorf("approved after the end: %v", err)
	}
}

func TestProposalsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   study.Code
		change func(*standIn) []byte
	}{
		{"not a proposal", study.CodePlanMismatch, func(*standIn) []byte { return []byte("site = 1") }},
		{"another key for this site", study.CodePlanMismatch, func(c *standIn) []byte {
			roster := c.plan.Proposal.Roster
			roster[0].Identity = slices.Clone(roster[0].Identity)
			roster[0].Identity[0] ^= 1
			c.propose(c.plan.Proposal.Spec, roster)
			return c.body
		}},
		{"another name for this site", study.CodePlanMismatch, func(c *standIn) []byte {
			c.plan.Proposal.Roster[0].Name = "elsewhere"
			c.propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster)
			return c.body
		}},
		{"no such data set", study.CodeData, func(c *standIn) []byte {
			c.plan.Proposal.Spec.Dataset = "other"
			c.propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster)
			return c.body
		}},
		{"no such column", study.CodeColumns, func(c *standIn) []byte {
			c.plan.Proposal.Spec.Columns[1].Name = "absent"
			c.propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster)
			return c.body
		}},
		{"another count of units", study.CodeData, func(c *standIn) []byte {
			c.plan.Proposal.Roster[0].Units++
			c.propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster)
			return c.body
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newStandIn(t, 2, autoPolicy+"min_sites = 2\n", nil)
			body := c.change(f)
			s := f.sites[0]
			if d := want[wire.Decision](s, wire.Proposal{Body: body}); d.Verdict != study.VerdictRejected || d.Code != c.code {
				t.Errorf("got %+v, want rejected with %q", d, c.code)
			}
			if all, _ := s.agent.Views.Studies(); len(all) != 1 || all[0].State != stateRefused || all[0].Code != string(c.code) || all[0].Why == "" {
				t.Errorf("a refused proposal is listed as %+v", all)
			}
			refused(s, wire.Announce{Header: wire.Header{Study: proposal.DigestOf(body)}}, study.CodeUnknownStudy)
		})
	}
}

// TestBudget checks that a population's cap holds over studies: it is worth
// ε = 1.3, and two of ε = 1 do not fit: ρ grows with its square.
func TestBudget(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.approve()
	second, err := proposal.Propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster, c.key.Public().(ed25519.PublicKey), [32]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	s := c.sites[0]
	if d := want[wire.Decision](s, wire.Proposal{Body: second}); d.Verdict != study.VerdictRejected || d.Code != study.CodeBudget {
		t.Errorf("a second study: %+v, want rejected for the budget", d)
	}
	refused(s, wire.Announce{Header: wire.Header{Study: proposal.DigestOf(second)}}, study.CodeUnknownStudy)
	// The reservation of a study that ends without a query is free again.
	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeAborted})
	if d := want[wire.Decision](s, wire.Proposal{Body: second}); d.Verdict != study.VerdictApproved {
		t.Errorf("after the first ended: %+v", d)
	}
}

// TestBudgetIsTheLedgers checks the operator's way around the first look: two
// proposals wait, one is approved, the other then does not fit.
func TestBudgetIsTheLedgers(t *testing.T) {
	c := newStandIn(t, 3, `approve = "ask"`, nil)
	second, err := proposal.Propose(c.plan.Proposal.Spec, c.plan.Proposal.Roster, c.key.Public().(ed25519.PublicKey), [32]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	s := c.sites[0]
	want[wire.Decision](s, wire.Proposal{Body: c.body})
	want[wire.Decision](s, wire.Proposal{Body: second})
	if err := s.agent.Decisions.Approve(c.plan.Digest); err != nil {
		t.Fatal(err)
	}
	err = s.agent.Decisions.Approve(proposal.DigestOf(second))
	if must.As[*ledger.BudgetError](t, err); !strings.Contains(err.Error(), "a study of epsilon = 0.776 would fit; or set budget.epsilon to at least 1.46 in agent.toml") {
		t.Error(err)
	}
	if d := want[wire.Decision](s, wire.Proposal{Body: second}); d.Verdict != study.VerdictRejected || d.Code != study.CodeBudget {
		t.Errorf("offered again: %+v, want rejected for the budget", d)
	}
	refused(s, wire.Announce{Header: wire.Header{Study: proposal.DigestOf(second)}}, study.CodeNotApproved)
}

// TestQueriesThatDoNotFit changes one thing about a good query at a time. Each must
// be refused without a charge.
func TestQueriesThatDoNotFit(t *testing.T) {
	count := 0
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s := c.sites[0]
	for _, bad := range []struct {
		name   string
		code   study.Code
		change func(*study.Ask)
	}{
		{"query beyond", study.CodePlanMismatch, func(a *study.Ask) { a.Query = 2 }},
		{"query negative", study.CodePlanMismatch, func(a *study.Ask) { a.Query = -1 }},
		{"later query", study.CodeOutOfOrder, func(a *study.Ask) {
			a.Query, a.Round = 1, 1
			a.Sigma, _ = c.plan.Noise.Sigma(c.plan.Queries[1], a.Radius)
		}},
		{"slot beyond", study.CodePlanMismatch, func(a *study.Ask) { a.Slot = c.plan.Slots }},
		{"kind", study.CodePlanMismatch, func(a *study.Ask) { a.Kind = study.KindHistogram }},
		{"history", study.CodeForked, func(a *study.Ask) { a.History[0] ^= 1 }},
		{"no history", study.CodeForked, func(a *study.Ask) { a.History = proposal.Digest{} }},
		{"x within the tolerance of a norm alone", study.CodePlanMismatch, func(a *study.Ask) {
			least := 0 // across x, whichever way it points
			for i, v := range a.X {
				if math.Abs(v) < math.Abs(a.X[least]) {
					least = i
				}
			}
			a.X[least] += 3e-9
			size := math.Sqrt(a.X[0]*a.X[0] + a.X[1]*a.X[1] + a.X[2]*a.X[2])
			for i := range a.X {
				a.X[i] /= size
			}
		}},
		{"round", study.CodePlanMismatch, func(a *study.Ask) { a.Round = 1 }},
		{"x not unit", study.CodePlanMismatch, func(a *study.Ask) {
			for i := range a.X {
				a.X[i] *= 1 + 1e-6
			}
		}},
		{"x zero", study.CodePlanMismatch, func(a *study.Ask) { a.X = make([]float64, testColumns) }},
		{"x nan", study.CodePlanMismatch, func(a *study.Ask) { a.X[1] = math.NaN() }},
		{"x infinite", study.CodePlanMismatch, func(a *study.Ask) { a.X[1] = math.Inf(1) }},
		{"x short", study.CodePlanMismatch, func(a *study.Ask) { a.X = a.X[:2] }},
		{"radius", study.CodePlanMismatch, func(a *study.Ask) { a.Radius *= 2; a.Grid *= 2 }},
		{"grid", study.CodePlanMismatch, func(a *study.Ask) { a.Grid *= 2 }},
		{"sigma too small", study.CodePlanMismatch, func(a *study.Ask) { a.Sigma -= a.Sigma / 100 }},
		{"sigma zero", study.CodePlanMismatch, func(a *study.Ask) { a.Sigma = 0 }},
		{"sigma too large", study.CodePlanMismatch, func(a *study.Ask) { a.Sigma *= 2 }},
	} {
		count++
		q := c.query(0, 0, c.plan.Start().X)
		q.Ask.X = slices.Clone(q.Ask.X)
		bad.change(&q.Ask)
		t.Run(bad.name, func(t *testing.T) { refused(s, q, bad.code) })
	}
	if e, _ := s.agent.ledger.Study(c.plan.Digest); e.SpentRho != 0 {
		t.Errorf("refused queries were charged ρ = %v", e.SpentRho)
	}
	want[wire.Upload](s, c.query(0, 0, c.plan.Start().X))
	if e, _ := s.agent.ledger.Study(c.plan.Digest); e.SpentRho != c.plan.Queries[0].Rho {
		t.Errorf("an upload was charged ρ = %v, want %v", e.SpentRho, c.plan.Queries[0].Rho)
	}
	t.Logf("figure: %d bad inputs: queries to an agent", count)
}

// TestOneVectorASlot checks that a slot's masks hide one vector: another x in the
// same slot is refused, the same again gets the same bytes.
func TestOneVectorASlot(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutContinue })
	c.ready()
	s, x := c.sites[0], c.plan.Start().X
	first := want[wire.Upload](s, c.query(0, 0, x))
	same(t, "asked again", first.Masked, want[wire.Upload](s, c.query(0, 0, x)).Masked)
	other := make([]float64, testColumns)
	other[0] = 1
	refused(s, c.query(0, 0, other), study.CodePlanMismatch)
	// A retry of the query takes another slot, never an earlier one.
	want[wire.Upload](s, c.query(0, 2, x))
	refused(s, c.query(0, 1, x), study.CodeOutOfOrder)
}

// TestReplayAfterRestart restarts an agent after each answer of a query: it must
// send the same bytes, although a restarted process draws other randomness.
func TestReplayAfterRestart(t *testing.T) {
	c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutContinue })
	c.approve()
	s, id := c.sites[0], c.plan.Digest
	announced := want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed
	s.restart()
	same(t, "announcement", announced, want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed)
	c.prepare()
	s.restart()
	same(t, "announcement after the setup", announced, want[wire.Announcement](s, wire.Announce{Header: wire.Header{Study: id}}).Signed)
	dealt := want[wire.Boxes](s, wire.Deal{Header: wire.Header{Study: id}, Announcements: c.all}).Boxes
	for i := range dealt {
		same(t, "box", c.boxes[0][i], dealt[i])
	}
	again := want[wire.Confirmation](s, wire.Confirm{Header: wire.Header{Study: id}, Boxes: c.boxesFor(0)})
	same(t, "confirmation", c.signed[0], again.Signature)
	same(t, "deposits", c.kept.Deposits[0], again.Deposits)
	same(t, "statement", c.statements[0], again.Statement)
	c.confirm()
	s.restart()
	q, u := c.query(0, 0, c.plan.Start().X), c.everyone()
	first := want[wire.Upload](s, q)
	s.restart()
	same(t, "upload", first.Masked, want[wire.Upload](s, q).Masked)
	for _, other := range c.sites[1:] {
		want[wire.Upload](other, q)
	}
	certificate := c.certify(q, u)
	s.restart()
	// It knows what it signs only once it was asked the query again.
	refused(s, wire.Release{Header: wire.Header{Study: id}, Survivors: u}, study.CodeOutOfOrder)
	same(t, "upload", first.Masked, want[wire.Upload](s, q).Masked)
	same(t, "signature", certificate[0], want[wire.Signature](s, wire.Release{Header: wire.Header{Study: id}, Survivors: u}).Signature)
	sent := want[wire.Shares](s, wire.Open{Header: wire.Header{Study: id}, Survivors: u, Certificate: certificate})
	s.restart()
	want[wire.Upload](s, q)
	same(t, "shares", sent.Shares, want[wire.Shares](s, wire.Open{Header: wire.Header{Study: id}, Survivors: u, Certificate: certificate}).Shares)
}

// TestChangedData changes the file between approval and query.
func TestChangedData(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutContinue })
	c.ready()
	s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
	path := filepath.Join(s.dir, "rows.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.restart() // the rows that were read are gone
	// The values are the same; the bytes are not.
	s.write("rows.csv", strings.TrimSuffix(string(text), "\n"))
	refused(s, q, study.CodeDataChanged)
	s.write("rows.csv", strings.Replace(string(text), "\n", "\n1,2,3\n", 1))
	refused(s, q, study.CodeDataChanged)
	// That a value of it is no number is nobody else's business.
	s.write("rows.csv", "c0,c1,c2\n1,2,x\n")
	refused(s, q, study.CodeDataChanged)
	if v := s.agent.Views.Datasets(false)[0]; !strings.HasPrefix(v.Fault, "an approved study could not use it when last asked: ") {
		t.Errorf("the operator is not told why: %+v", v)
	}
	if e, _ := s.agent.ledger.Study(c.plan.Digest); e.SpentRho != 0 {
		t.Errorf("refused queries were charged ρ = %v", e.SpentRho)
	}
	// Put back, it is the approved one again; and an upload that was made of it is
	// sent again whatever happened to the file since.
	s.write("rows.csv", string(text))
	first := want[wire.Upload](s, q)
	if v := s.agent.Views.Datasets(false)[0]; v.Fault != "" {
		t.Errorf("the operator is told of a fault that is over: %+v", v)
	}
	s.restart()
	s.write("rows.csv", "c0,c1,c2\n1,2,3\n")
	same(t, "upload", first.Masked, want[wire.Upload](s, q).Masked)
	// A new one of the same, charged query is not made of other rows.
	refused(s, c.query(0, 1, c.plan.Start().X), study.CodeDataChanged)
}

// TestWaitedForInTheLog: what a study lacks of this site's rows is one warning, however
// often the coordinator asks, and so is that the rows are back.
func TestWaitedForInTheLog(t *testing.T) {
	for dropout, goes := range map[string]string{proposal.DropoutContinue: "goes on without this site until", proposal.DropoutWait: "waits for this site until"} {
		c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.OnDropout = dropout })
		c.ready()
		s, q := c.sites[0], c.query(0, 0, c.plan.Start().X)
		path := filepath.Join(s.dir, "rows.csv")
		text := must.Get(os.ReadFile(path))(t)
		s.restart()
		count := func(what string, want int) {
			t.Helper()
			if n := strings.Count(s.log.String(), what); n != want || strings.Contains(s.log.String(), "level=ERROR") {
				t.Errorf("%s: %d lines have %q, want %d:\n%s", dropout, n, what, want, s.log.String())
			}
		}
		s.write("rows.csv", "c0,c1,c2\n1,2,3\n")
		for range 3 {
			refused(s, q, study.CodeDataChanged)
		}
		count(goes, 1)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			refused(s, q, study.CodeData)
		}
		count(goes, 2) // for another reason
		count("can be used again", 0)
		s.write("rows.csv", string(text))
		want[wire.Upload](s, q)
		count("can be used again", 1)
		count(goes, 2)
	}
}
