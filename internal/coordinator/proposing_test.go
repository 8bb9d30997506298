package coordinator

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// TestHalfProposals: an analyst that begins proposals and does not end them holds maxProposing in
// the leader's memory, over all its connections, and nobody else's place.
func TestHalfProposals(t *testing.T) {
	o := newOffice(t)
	ada, bob := o.join(pki.RoleAnalyst, "ada"), o.join(pki.RoleAnalyst, "bob")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	const begun = maxProposing + 3
	ended := make(chan error, begun)
	half, hangUp := context.WithCancel(ctx)
	for range begun {
		to, err := covey.NewAnalysisClient(ada.conn).Propose(half)
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Send(&covey.ProposeRequest{Frame: &covey.Frame{Data: make([]byte, 1<<10)}}); err != nil && err != io.EOF { // refused already: RecvMsg returns why
			t.Fatal(err)
		}
		go func() { ended <- to.RecvMsg(&covey.ProposeResponse{}) }()
	}
	for range begun - maxProposing {
		if err := <-ended; status.Code(err) != codes.ResourceExhausted {
			t.Fatalf("one more on its way: %v", err)
		}
	}
	if _, err := o.proposes(bob, o.draws(bob, "another's")); err != nil {
		t.Errorf("another's: %v", err)
	}
	hangUp()
	for m := o.c.machine.lock(); len(m.proposing) > 0; m = o.c.machine.lock() {
		o.c.machine.unlock()
		if err := ctx.Err(); err != nil {
			t.Fatal("the places of those that hung up are kept")
		}
		<-time.After(time.Millisecond) // the streams end in their own time
	}
	o.c.machine.unlock()
	if _, err := o.proposes(ada, o.draws(ada, "whole")); err != nil {
		t.Errorf("after they ended: %v", err)
	}
}

// TestPlaceOfARevokedHolder: certificates are good for months. Whoever held a name before opens
// connections with one as often as it likes, and the name's connections of now stay.
func TestPlaceOfARevokedHolder(t *testing.T) {
	o := newOffice(t)
	ada, before := o.join(pki.RoleAnalyst, "ada"), o.keys("ada")
	of, err := o.proposes(ada, o.draws(ada, "watched"))
	if err != nil {
		t.Fatal(err)
	}
	seen, over := make(chan bool, 8), make(chan error, 1)
	go func() {
		over <- wire.CallWatch(t.Context(), ada.conn, of, false, func(wire.Told) error { seen <- true; return nil })
	}()
	<-seen
	for range 6 {
		if _, err := wire.CallList(t.Context(), o.issued(pki.RoleAnalyst, "ada", before)); status.Code(err) != codes.PermissionDenied {
			t.Fatal(err)
		}
	}
	if err := o.c.Revoke(pki.RoleAnalyst, "ada"); err != nil {
		t.Fatal(err)
	}
	if err := <-over; status.Code(err) != codes.PermissionDenied {
		t.Errorf("the connection of the name's holder ended before its revocation: %v", err)
	}
}

// TestEndedCertificateIsNamed: the log says whose certificate has ended.
func TestEndedCertificateIsNamed(t *testing.T) {
	o := newOffice(t)
	o.clock.Store(time.Now().AddDate(-2, 0, 0).UnixNano())
	if _, err := wire.CallStanding(t.Context(), o.issued(pki.RoleSite, "north", o.keys("north")), nil); err == nil {
		t.Error("a certificate that has ended is let in")
	}
	o.server.Stop()
	if !strings.Contains(o.logs.String(), "says_it_is=north") {
		t.Error(o.logs.String())
	}
}
