package agent

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"covey/internal/chain"
	"covey/internal/egress"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/responder"
	"covey/internal/result"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
	"covey/test/must"
)

// result is that of releases as the coordinator makes it, and what all sites signed on the way.
func (c *standIn) result(finals []wire.Final) (*result.Result, result.Evidence) {
	c.t.Helper()
	e := result.Evidence{Transcript: c.setup.Transcript(), Confirmations: result.Blobs(c.signed), ChainHead: c.sites[0].headAt(finals)}
	for _, s := range c.sites {
		e.Approvals = append(e.Approvals, study.SignDecision(s.agent.identity, c.plan.Digest, study.VerdictApproved, ""))
	}
	for _, f := range finals {
		e.Certificates = append(e.Certificates, f.Certificate)
	}
	r, err := result.Sign(c.plan, c.body, sealed(finals), e, c.key)
	if err != nil {
		c.t.Fatal(err)
	}
	return r, e
}

// sealed are finals as a result is made of them.
func sealed(finals []wire.Final) (signed []result.SignedRelease) {
	for _, f := range finals {
		signed = append(signed, result.SignedRelease{Encoded: f.Encoded, Signature: f.Signature})
	}
	return signed
}

// headAt is the head of the chain that a site is shown, at the last release.
func (s *testSite) headAt(finals []wire.Final) chain.Head {
	last := finals[len(finals)-1]
	return s.chain.At(1 + uint64(slices.Index(s.chain.Since(0), chain.Released(last.Study, last.Encoded))))
}

// attest asks for a signature on a result.
func (c *standIn) attest(r *result.Result) wire.Attest {
	c.t.Helper()
	draft, err := r.Draft()
	if err != nil {
		c.t.Fatal(err)
	}
	ask := wire.Attest{Header: wire.Header{Study: c.plan.Digest}, Draft: draft}
	for _, a := range r.Approvals {
		ask.Approvals = append(ask.Approvals, a)
	}
	return ask
}

// released runs all queries, and returns what ends them.
func (c *standIn) released() (finals []wire.Final) {
	c.t.Helper()
	for i := range c.plan.Queries {
		q := c.query(i, i, c.plan.Start().X)
		if i > 0 {
			ask, err := c.plan.NewAsk(c.courses[i], i)
			if err != nil {
				c.t.Fatal(err)
			}
			q.Ask = ask
		}
		finals = append(finals, c.release(q, c.everyone(), c.open(q, c.everyone())))
		c.tell(finals[i])
	}
	return finals
}

// TestAttest: a site signs the result of what it holds, as the same function finds that verifies
// it, once it holds all of it: the same again, whatever comes between, and no other of the study.
func TestAttest(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s := c.sites[0]
	finals := c.released()
	r, e := c.result(finals)
	good := c.attest(r)
	changed := func(change func(*result.Result)) wire.Attest {
		bad, _ := c.result(finals)
		change(bad)
		return c.attest(bad)
	}
	for name, ask := range map[string]wire.Attest{
		"an output":           changed(func(r *result.Result) { r.Components[0][0] += 1e-8 }),
		"another name":        changed(func(r *result.Result) { r.Name = "heights" }),
		"another transcript":  changed(func(r *result.Result) { r.Transcript[0]++ }),
		"another chain":       changed(func(r *result.Result) { r.Chain[0]++ }),
		"an approval":         {Header: good.Header, Draft: good.Draft, Approvals: [][]byte{good.Approvals[0], good.Approvals[2], good.Approvals[2]}},
		"no approvals":        {Header: good.Header, Draft: good.Draft},
		"a proposer":          {Header: good.Header, Draft: good.Draft, Approvals: good.Approvals, Proposer: make([]byte, 64)},
		"no draft":            {Header: good.Header, Approvals: good.Approvals},
		"another signature":   {Header: good.Header, Draft: bytes.Replace(good.Draft, []byte(`"signature":"`), []byte(`"signature":"AAAA`), 1), Approvals: good.Approvals},
		"in another form":     {Header: good.Header, Draft: append(slices.Clone(good.Draft), '\n'), Approvals: good.Approvals},
		"of another's making": {Header: good.Header, Draft: bytes.Replace(good.Draft, []byte(`"rho":0`), []byte(`"rho":1`), 1), Approvals: good.Approvals},
	} {
		if no := refused(s, ask, study.CodeBadResult); no.Study != c.plan.Digest {
			t.Errorf("%s: %+v", name, no)
		}
		if on, err := s.agent.ledger.Journal(c.plan.Digest).ResultSigned(); on || err != nil {
			t.Fatalf("%s is signed: %v", name, err)
		}
	}
	first := want[wire.Attestation](s, good).Signature
	list := make([][]byte, 3)
	for i, site := range c.sites {
		list[i] = want[wire.Attestation](site, good).Signature
	}
	same(t, "again", first, list[0])
	certificates := e.Certificates
	e.Certificates = nil
	whole, err := result.Draft(good.Draft).Complete(c.body, e, list, func(see func(result.SignedRelease, []byte) error) error {
		for i, s := range sealed(finals) {
			if err := see(s, certificates[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := result.Verify(file); err != nil || v.Signed != 2 {
		t.Errorf("%+v, %v", v, err)
	}
	// Good by itself, of a coordinator whose processor rounds otherwise.
	second := changed(func(r *result.Result) { r.NoiseToSignal = math.Nextafter(r.NoiseToSignal, 1) })
	refuse := func() {
		t.Helper()
		s.log.Reset()
		refused(s, second, study.CodeSecondResult)
		if !strings.Contains(s.log.String(), "A SECOND RESULT") {
			t.Errorf("the log says nothing of it: %s", s.log.String())
		}
		same(t, "again", first, want[wire.Attestation](s, good).Signature)
	}
	refuse()
	s.restart()
	refuse()
	s.ask(wire.Ended{Header: wire.Header{Study: c.plan.Digest}, Code: study.CodeCompleted})
	if e, _ := s.agent.ledger.Study(c.plan.Digest); e.State != ledger.Finished {
		t.Fatalf("%+v", e)
	}
	refuse()
	s.restart()
	refuse()
}

// TestAttestLacks: a site that was away says which release it needs, one at a time, and signs when
// it has followed all; of a study that it left it signs nothing.
func TestAttestLacks(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.OnDropout, s.MinSurvivors = proposal.DropoutContinue, 2 })
	c.ready()
	s := c.sites[2]
	all := c.sites
	c.sites = all[:2]
	var finals []wire.Final
	for i := range c.plan.Queries {
		q := c.query(i, i, c.plan.Start().X)
		if i > 0 {
			ask, err := c.plan.NewAsk(c.courses[i], i)
			if err != nil {
				t.Fatal(err)
			}
			q.Ask = ask
		}
		up := []int{0, 1}
		for _, site := range c.sites {
			want[wire.Upload](site, q)
		}
		noised := make([]int64, c.plan.Queries[i].Values)
		noised[0] = 1 << 20
		list := make([][]byte, 3)
		for j, site := range c.sites {
			list[j] = want[wire.Signature](site, wire.Release{Header: wire.Header{Study: c.plan.Digest, Query: i, Slot: i}, Survivors: up}).Signature
		}
		final := c.release(q, up, noised)
		final.Certificate = c.setup.Pack(list)
		c.tell(final)
		finals = append(finals, final)
	}
	c.sites = all
	r, _ := c.result(finals)
	ask := c.attest(r)
	for i := range finals {
		if no := refused(s, ask, study.CodeOutOfOrder); no.Lacks != 1+i {
			t.Fatalf("lacks %d, has %d", no.Lacks, i)
		}
		s.ask(finals[i])
	}
	if err := s.agent.ledger.Finish(c.plan.Digest, string(study.CodeAborted)); err != nil {
		t.Fatal(err)
	}
	s.restart()
	refused(s, ask, study.CodeLeft)
	want[wire.Attestation](c.sites[0], ask)
}

// TestAttestChecksReleases: a site checks in a result the signature and the certificate of each
// release that it did not check before, of the same release and in the same setup.
func TestAttestChecksReleases(t *testing.T) {
	for part, spoil := range map[string]func(*wire.Final){
		"certificate": func(f *wire.Final) { f.Certificate = flipped([][]byte{f.Certificate}, 0, 5)[0] },
		"signature":   func(f *wire.Final) { f.Signature = flipped([][]byte{f.Signature}, 0, 5)[0] },
	} {
		t.Run(part, func(t *testing.T) { attestChecks(t, spoil) })
	}
}

func attestChecks(t *testing.T, spoil func(*wire.Final)) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s, end := c.sites[0], len(c.plan.Queries)-1
	bad := wire.Final{}
	s.asked = func(m wire.Message) { // the last one gets on record with what is no proof
		if last, ok := m.(wire.Final); ok && last.Query == end && bad.Encoded == nil {
			bad = last
			spoil(&bad)
			stored := binary.BigEndian.AppendUint32(slices.Clone(bad.Signature), uint32(len(bad.Certificate)))
			stored = append(append(stored, bad.Certificate...), bad.Encoded...)
			if err := s.agent.ledger.Journal(c.plan.Digest).FinalThenErase(end, last.Slot, stored); err != nil {
				t.Fatal(err)
			}
		}
	}
	finals := c.released()
	r, _ := c.result(finals)
	ask := c.attest(r)
	refused(s, ask, study.CodeBadResult)
}

// TestFinalNeedsItsCertificate: AG-13. A release is recorded only with the signatures of enough
// sites on its survivors; one with a signature of this site that is not on record shows that its
// ledger is older.
func TestFinalNeedsItsCertificate(t *testing.T) {
	c := newStandIn(t, 5, autoPolicy, func(s *proposal.Spec) { s.OnDropout = proposal.DropoutContinue })
	c.ready()
	q, s := c.query(0, 0, c.plan.Start().X), c.sites[0]
	u := []int{0, 1, 2, 3}
	sum := c.open(q, u)
	good := c.release(q, u, sum)
	const one = 66
	sign := func(q secagg.Query, u secagg.Survivors) []byte {
		list := make([][]byte, 5)
		for i, site := range c.sites[1:] {
			list[1+i], _ = c.setup.SignRelease(1+i, site.agent.identity, q, u)
		}
		return c.setup.Pack(list)
	}
	ctx := c.secaggQuery(q)
	other := ctx
	other.Context[0]++
	for name, certificate := range map[string][]byte{
		"none": nil, "one fewer": good.Certificate[:3*one], "one twice": append(slices.Clone(good.Certificate[:3*one]), good.Certificate[2*one:3*one]...),
		"one altered": flipped([][]byte{good.Certificate}, 0, 5)[0], "of another U": sign(ctx, c.everyone()), "of another context": sign(other, u),
	} {
		bad := good
		bad.Certificate = certificate
		if s.ask(bad); len(certificate) > 4*one {
			t.Fatalf("%s: %d bytes", name, len(certificate))
		}
		if _, ok := s.session(c).journal.FinalResult(0); ok {
			t.Fatalf("%s: recorded", name)
		}
	}
	// The certificate that this site has checked, and another U.
	wrong := c.release(q, c.everyone(), sum)
	wrong.Certificate = good.Certificate
	s.ask(wrong)
	if _, ok := s.session(c).journal.FinalResult(0); ok {
		t.Fatal("a release of another U is recorded")
	}
	// It does not serve another slot, nor another query in its slot.
	for _, other := range []wire.Query{c.query(0, 1, c.plan.Start().X), c.query(1, 0, c.plan.Start().X)} {
		r := must.Get(c.plan.NewRelease(other.Ask, u, make([]int64, c.plan.Queries[other.Ask.Query].Values)))(t)
		encoded := must.Get(r.Encode())(t)
		s.ask(wire.Final{Header: wire.Header{Study: c.plan.Digest, Query: r.Query, Slot: r.Slot}, Encoded: encoded,
			Signature: ed25519.Sign(c.key, study.SigningInput(encoded)), Certificate: good.Certificate})
		if _, ok := s.session(c).journal.FinalResult(r.Query); ok {
			t.Fatalf("a release of query %d in slot %d is recorded", r.Query, r.Slot)
		}
	}
	c.tell(good)
	held := refused(s, q, study.CodeFinal).Final
	same(t, "certificate", good.Certificate, held.Certificate)
}

// TestRolledBackOwnSignature: AG-19. The certificate of a release holds this site's signature, and
// its ledger does not.
func TestRolledBackOwnSignature(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, func(s *proposal.Spec) { s.OnDropout, s.MinSurvivors = proposal.DropoutContinue, 2 })
	c.ready()
	s, q, u := c.sites[0], c.query(0, 0, c.plan.Start().X), c.everyone()
	want[wire.Upload](s, q)
	s.linked(c.plan.Digest)
	backup := s.backup()
	list := c.certify0(q, u)
	s.restore(backup)
	final := c.release(q, u, make([]int64, c.plan.Queries[0].Values))
	list[1] = nil
	final.Certificate = c.setup.Pack(list)
	refused(s, final, study.CodeRolledBack)
	c.hasLeft(s, responder.FoundRelease)
}

// certify0 is certify of all sites, of which only the first has uploaded.
func (c *standIn) certify0(q wire.Query, u []int) [][]byte {
	for _, s := range c.sites[1:] {
		want[wire.Upload](s, q)
	}
	return c.certify(q, u)
}

// TestRestoredAttestation: AG-19. egress.jsonl lists a signature on a result that is not on record.
func TestRestoredAttestation(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s := c.sites[0]
	r, _ := c.result(c.released())
	about := wire.Header{Study: c.plan.Digest}
	for _, sent := range []wire.Message{wire.Announcement{Header: about}, wire.Boxes{Header: about}, wire.Confirmation{Header: about}} {
		s.agent.egress.Record(uplink.Describe(sent, 1), testNow)
	}
	backup := s.backup()
	answer := want[wire.Attestation](s, c.attest(r))
	s.agent.egress.Record(uplink.Describe(answer, 1), testNow)
	s.restart()
	c.stays(s)
	sent, err := os.ReadFile(filepath.Join(s.dir, egress.File))
	if err != nil {
		t.Fatal(err)
	}
	s.restore(backup)
	s.log.Reset()
	if err := s.agent.Close(); err != nil {
		t.Fatal(err)
	}
	s.write(egress.File, string(sent))
	s.start()
	e, _ := s.agent.ledger.Study(c.plan.Digest)
	if e.State != ledger.Finished || e.Code != string(study.CodeRolledBack) || !strings.Contains(s.log.String(), foundEgress) {
		t.Errorf("%+v:\n%s", e, s.log.String())
	}
}

// TestOneChainAResult: AG-72. A site signs a result at the head of the chain that it was shown, at
// the study's last release, and at no other. So two results of one proposal that stand in two
// chains never both get the signatures of enough honest sites, however these are divided and
// whatever each is asked; nor after a site's operator has accepted the other chain.
func TestOneChainAResult(t *testing.T) {
	c := newStandIn(t, 5, autoPolicy, nil)
	c.ready()
	finals := c.released()
	signed := map[bool]int{}
	ask := map[bool]wire.Attest{}
	// An entry that the others are not told of comes before the study's, in the chain of some.
	mine, theirs := &c.sites[0].chain, &chain.Log{}
	theirs.Append(chain.Step{1})
	for _, step := range mine.Since(0) {
		theirs.Append(step)
	}
	for other, l := range map[bool]*chain.Log{false: mine, true: theirs} {
		_, e := c.result(finals)
		e.ChainHead = l.Head()
		r, err := result.Sign(c.plan, c.body, sealed(finals), e, c.key)
		if err != nil {
			t.Fatal(err)
		}
		ask[other] = c.attest(r)
	}
	first := c.sites[0]
	for name, head := range map[string]chain.Head{
		"of no chain": {Number: mine.Head().Number, Link: chain.Link{1}}, "of the entry before": mine.At(mine.Head().Number - 1),
		"of an entry to come": {Number: mine.Head().Number + 1, Link: mine.Head().Link},
	} {
		_, e := c.result(finals)
		e.ChainHead = head
		if r, err := result.Sign(c.plan, c.body, sealed(finals), e, c.key); err == nil {
			refused(first, c.attest(r), study.CodeBrokenChain)
		} else {
			t.Errorf("a head %s: %v", name, err)
		}
	}
	for i, s := range c.sites {
		accepted := i > 1
		if accepted { // as after "agent chain accept": the site keeps the other chain
			if err := s.agent.ledger.PinChain(theirs.Head()); err != nil {
				t.Fatal(err)
			}
			s.chain = *theirs
		}
		refused(s, ask[!accepted], study.CodeBrokenChain)
		want[wire.Attestation](s, ask[accepted])
		signed[accepted]++
		refused(s, ask[!accepted], study.CodeSecondResult)
	}
	if need := c.plan.Thresholds.Threshold; signed[false] >= need && signed[true] >= need || signed[false] == 0 || signed[true] == 0 {
		t.Fatalf("%v sites signed, %d are enough", signed, need)
	}
	// The first site's operator takes the other chain, too late.
	if err := first.agent.ledger.PinChain(theirs.Head()); err != nil {
		t.Fatal(err)
	}
	first.chain = *theirs
	refused(first, ask[true], study.CodeSecondResult)
	// Without a head on this link, nothing is signed.
	first.agent.Chain.Greet(&wire.Hello{})
	if code := first.quiet(ask[false]); code != study.CodeBrokenChain {
		t.Errorf("no head was shown: %q", code)
	}
}

// TestAttestNeedsTheChain: CH-3, CH-4. A result is signed like a query is answered: where the head
// that comes with it is signed, and once the chain is kept.
func TestAttestNeedsTheChain(t *testing.T) {
	c := newStandIn(t, 3, autoPolicy, nil)
	c.ready()
	s := c.sites[0]
	r, _ := c.result(c.released())
	ask := c.attest(r)
	s.chain.Append(chain.Step{7})
	s.onLink(s.agent.identity, &s.chain, 0)
	if code := s.quiet(ask); code != study.CodeBrokenChain {
		t.Errorf("a head of nobody's: %q", code)
	}
	want[wire.Attestation](s, ask)
	s.keeps(s.chain.Head())
}

// TestAttestLetsGoOfRows: no query is left once a result is asked about. Rows go before a check
// that takes much memory, and otherwise after the answer, which does not wait for it; a question
// about a result that is not due takes none from the queries.
func TestAttestLetsGoOfRows(t *testing.T) {
	for _, large := range []bool{false, true} {
		t.Run(fmt.Sprint("large ", large), func(t *testing.T) {
			c := newStandIn(t, 3, autoPolicy, nil)
			c.ready()
			s := c.sites[0]
			refused(s, wire.Attest{Header: wire.Header{Study: c.plan.Digest}}, study.CodeOutOfOrder)
			r, _ := c.result(c.released())
			on := s.session(c)
			if !on.rows.Loaded() {
				t.Fatal("the rows are not loaded after the queries")
			}
			on.mu.Lock()
			if large {
				on.plan.D = smallCheck // columns
			}
			owner{on}.Answered()
			if on.rows.Loaded() == large {
				t.Error("rows went before a small check, or stayed for a large one")
			}
			if large {
				on.plan.D = c.plan.D
			}
			on.mu.Unlock()
			want[wire.Attestation](s, c.attest(r))
			s.agent.work.Wait()
			if on.rows.Loaded() {
				t.Error("the rows are still there")
			}
		})
	}
}
