package responder

import (
	"bytes"
	"testing"

	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/wire"
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
