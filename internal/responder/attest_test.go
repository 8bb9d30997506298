package responder

import (
	"bytes"
	"testing"

	"covey/internal/chain"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
)

// TestCheckedReleases: AG-70. A release that is taken is remembered as checked: it alone, with
// these bytes of its signature and its certificate, and in this setup.
func TestCheckedReleases(t *testing.T) {
	c := newStandIn(t, 3, proposal.DropoutWait)
	s, ask := c.respond(), c.ask(c.plan.Start(), 0)
	if said, ok := s.Handle(c.query(ask), ledger.Approval{}).(wire.Upload); !ok {
		t.Fatalf("no upload: %+v", said)
	}
	final, _ := c.release(ask)
	if said := s.Handle(final, ledger.Approval{}); said != nil {
		t.Fatalf("the release is answered with %+v", said)
	}
	c.work.Wait()
	of := result.Checked{Release: proposal.DigestOf(final.Encoded), Signature: final.Signature, Certificate: final.Certificate}
	if len(s.attestation.checked) != 1 || s.attestation.checked[0] != checkedOf(c.setup, of) {
		t.Fatalf("%d releases are remembered", len(s.attestation.checked))
	}
	for name, change := range map[string]func(*result.Checked){
		"release":     func(r *result.Checked) { r.Release[0]++ },
		"signature":   func(r *result.Checked) { r.Signature = append([]byte{0}, r.Signature...) },
		"certificate": func(r *result.Checked) { r.Certificate = append([]byte{0}, r.Certificate...) },
	} {
		other := of
		if change(&other); s.attestation.checked[0] == checkedOf(c.setup, other) {
			t.Errorf("another %s counts as checked", name)
		}
	}
	if s.attestation.checked[0] == checkedOf(newStandIn(t, 3, proposal.DropoutWait).setup, of) {
		t.Error("what was checked in a setup counts in another")
	}
}

// TestReleaseThatCannotBeRead: a site that lacks a release which it followed signs nothing of those
// before it, and does not take the coordinator's result for a bad one.
func TestReleaseThatCannotBeRead(t *testing.T) {
	c := newStandIn(t, 3, proposal.DropoutWait)
	s, ask := c.respond(), c.ask(c.plan.Start(), 0)
	s.Handle(c.query(ask), ledger.Approval{})
	final, _ := c.release(ask)
	s.Handle(final, ledger.Approval{})
	c.work.Wait()
	for _, of := range []struct {
		queries []int
		read    int
		lost    bool
	}{{[]int{0}, 1, false}, {[]int{0, 1}, 1, true}, {[]int{1, 0}, 0, true}} {
		lost, read, certificates := false, 0, make([]result.Blob, len(of.queries))
		for r := range s.attestation.signed(of.queries, certificates, &lost) {
			if !bytes.Equal(r.Encoded, final.Encoded) || !bytes.Equal(r.Signature, final.Signature) || !bytes.Equal(certificates[read], final.Certificate) {
				t.Errorf("%v: another release", of.queries)
			}
			read++
		}
		if read != of.read || lost != of.lost {
			t.Errorf("%v: %d read, lost: %v", of.queries, read, lost)
		}
	}
}

// TestOneResultInMemory: the result that a site would read again goes when the next is written, and
// when the study's is asked about, and the text of a draft when it has been read: each takes as
// much memory as the check of a wide study's result.
func TestOneResultInMemory(t *testing.T) {
	c := newStandIn(t, 3, proposal.DropoutWait)
	s, course := c.respond(), c.plan.Start()
	var releases []study.Release
	for slot := 0; course.Query < len(c.plan.Queries); slot++ {
		ask := c.ask(course, slot)
		if said, ok := s.Handle(c.query(ask), ledger.Approval{}).(wire.Upload); !ok {
			t.Fatalf("query %d: no upload: %+v", ask.Query, said)
		}
		final, release := c.release(ask)
		if said := s.Handle(final, ledger.Approval{}); said != nil {
			t.Fatalf("query %d: the release is answered with %+v", ask.Query, said)
		}
		if s.results.latest != nil {
			t.Errorf("the result of query %d is there while the next is written", s.results.latest.query)
		}
		course = must.Get(c.plan.Next(course, release, releases))(t)
		releases = append(releases, release)
		c.chain.Append(chain.Released(c.plan.Digest, final.Encoded))
		c.shows()
	}
	no, ok := s.Handle(wire.Attest{Header: wire.Header{Study: c.plan.Digest}, Draft: []byte("no draft")}, ledger.Approval{}).(wire.Refusal)
	if !ok || no.Code != study.CodeBadResult || s.results.latest != nil {
		t.Errorf("%+v; the last result is there: %v", no, s.results.latest != nil)
	}
	r := wire.Attest{Draft: []byte("no draft")}
	if _, err := s.attestation.bare(&r, result.Evidence{}); err == nil || r.Draft != nil {
		t.Errorf("a draft that was read: %v, and its text is there: %v", err, r.Draft != nil)
	}
}
