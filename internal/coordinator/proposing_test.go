package coordinator

import (
	"context"
	"crypto/x509"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/outline"
	"covey/internal/pki"
	"covey/internal/wire"
	covey "covey/proto/covey/v1"
)

// TestHalfProposals: an analyst that begins proposals and does not end them holds maxProposing in
// the leader's memory, over all its connections, and nobody else's place.
func TestHalfProposals(t *testing.T) {
	o := newOffice(t)
	ada, bob := o.join(pki.RoleAnalyst, "ada"), o.join(pki.RoleAnalyst, "bob")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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

// TestEndedCertificateIsNamed: the log says whose certificate has ended. The list of sites does if
// it is that of a site which has joined: by the latest that is known, and by no other key's.
func TestEndedCertificateIsNamed(t *testing.T) {
	o := newOffice(t)
	today := o.clock.Load()
	delta := o.join(pki.RoleSite, "delta")
	ends := func() time.Time {
		sites := o.c.Sites().Sites
		i := slices.IndexFunc(sites, func(s outline.ListedSite) bool { return s.Name == "delta" })
		return sites[i].Expires
	}
	days := func(n int) time.Time { return time.Unix(0, today).AddDate(0, 0, -n) }
	shown := func(role pki.Role, name string, of *person, since int) *x509.Certificate {
		o.clock.Store(days(since).UnixNano())
		defer o.clock.Store(today)
		csr, err := of.CSR(name)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := o.auth.Issue(role, name, csr, o.now())
		if err != nil {
			t.Fatal(err)
		}
		return of.shows(t, certificate).Leaf
	}
	for _, c := range []struct {
		role  pki.Role
		of    *person
		since int // days
		ended int // days since the one that is listed then; 0 if none is
	}{
		{pki.RoleSite, o.keys("delta"), 100, 0}, {pki.RoleAnalyst, delta, 100, 0},
		{pki.RoleSite, delta, 300, 210}, {pki.RoleSite, delta, 200, 110}, {pki.RoleSite, delta, 250, 110},
	} {
		o.c.ended(shown(c.role, "delta", c.of, c.since))
		if at := ends(); at.IsZero() != (c.ended == 0) || c.ended != 0 && at.Sub(days(c.ended)).Abs() > 2*time.Hour { // time zones
			t.Errorf("%+v: it is listed that delta's ends %v", c, at)
		}
	}
	o.clock.Store(days(100).UnixNano())
	callers := []*grpc.ClientConn{o.issued(pki.RoleSite, "north", o.keys("north")), o.issued(pki.RoleSite, "delta", delta)}
	o.clock.Store(today) // from here on: a caller hears that it is refused before that is noted
	for i, caller := range callers {
		if _, err := wire.CallStanding(t.Context(), caller, nil); err == nil {
			t.Errorf("certificate %d, which has ended, is let in", i)
		}
	}
	o.server.Stop()
	if !strings.Contains(o.logs.String(), "says_it_is=north") {
		t.Error(o.logs.String())
	}
	if at := ends(); at.Sub(days(10)).Abs() > 2*time.Hour {
		t.Errorf("delta was refused over a link, and it is listed that its ends %v", at)
	}
}
