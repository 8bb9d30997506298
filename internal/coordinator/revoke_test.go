package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/pki"
	"covey/test/site"
)

// TestRevokeEndsTheStream at once, and no other site's.
func TestRevokeEndsTheStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		if err := f.c.Revoke(pki.RoleSite, "site-1"); err != nil {
			t.Fatal(err)
		}
		for i, s := range f.sites {
			over := false
			select {
			case <-s.link.Done():
				over = errors.Is(s.link.Why(), errRevoked)
			default:
			}
			if over != (i == 1) {
				t.Errorf("%s: its stream is over: %v", s.name, over)
			}
		}
		if err := f.c.Revoke(pki.RoleSite, "nobody"); err == nil {
			t.Error("a site that is not there is revoked")
		}
	})
}

// TestRevokedCertificates: a certificate of a revoked site lets nobody in, not even when the name
// has joined again since with other keys; the new one's does, and one that was renewed for the same
// key.
func TestRevokedCertificates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		enter := func() (*pki.Holder, *x509.Certificate) {
			clinic, csr := site.Keys(t, t.TempDir(), "clinic")
			join, err := f.c.Invite("clinic", []string{"localhost:1"}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			var certificate []byte
			for range 2 { // a reply that is lost is asked for again
				if certificate, err = f.c.join(t.Context(), join.Token.Bytes(), "clinic", csr, clinic.Identity().Public().(ed25519.PublicKey), clinic.ProveIdentity("clinic", join.Token.Hash(), csr)); err != nil {
					t.Fatal(err)
				}
			}
			return clinic, parse(t, certificate)
		}
		denied := func(what string, leaf *x509.Certificate, want bool) {
			t.Helper()
			if _, err := f.c.admit(leaf); (status.Code(err) == codes.PermissionDenied) != want || !want && err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		_, first := enter()
		denied("a site's", first, false)
		if err := f.c.Revoke(pki.RoleSite, "clinic"); err != nil {
			t.Fatal(err)
		}
		denied("a revoked site's", first, true)
		site, second := enter()
		denied("the new site's", second, false)
		denied("the revoked one's, after another joined under the name", first, true)
		csr, err := site.CSR("clinic")
		if err != nil {
			t.Fatal(err)
		}
		renewed, err := f.c.authority.Renew(pki.RoleSite, "clinic", csr, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		denied("a renewed one", parse(t, renewed), false)
	})
}

// TestForgottenStaysOut: a revoked site is forgotten 120 days later, by the time of an entry, and
// no earlier. Nothing that it holds lets it in then: neither a certificate issued by a coordinator
// that had not heard of the revocation, by a clock that is behind, nor its join file; nor does
// either once another site has joined under the name. Every coordinator forgets it at the same
// entry.
func TestForgottenStaysOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer func() { f.c.Close() }()
		clinic, csr := site.Keys(t, t.TempDir(), "clinic")
		public := clinic.Identity().Public().(ed25519.PublicKey)
		invited, err := f.c.Invite("clinic", []string{"localhost:1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		enter := func(by *pki.Holder, join pki.Join) error {
			csr, err := by.CSR("clinic")
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.c.join(t.Context(), join.Token.Bytes(), "clinic", csr, by.Identity().Public().(ed25519.PublicKey), by.ProveIdentity("clinic", join.Token.Hash(), csr))
			return err
		}
		if err := enter(clinic, invited); err != nil {
			t.Fatal(err)
		}
		if err := f.c.Revoke(pki.RoleSite, "clinic"); err != nil {
			t.Fatal(err)
		}
		// issued by a coordinator that lags
		late, err := f.c.authority.Renew(pki.RoleSite, "clinic", csr, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		known := func() bool { _, known := f.c.machine.holder(pki.RoleSite, "clinic"); return known }
		out := func(when string) {
			t.Helper()
			if _, err := f.c.admit(parse(t, late)); status.Code(err) != codes.PermissionDenied {
				t.Errorf("%s: its certificate: %v", when, err)
			}
			if err := enter(clinic, invited); err == nil {
				t.Errorf("%s: its join file lets it in", when)
			}
			if _, err := f.c.InviteAs(pki.RoleSite, "clinic", []string{"localhost:1"}, time.Hour, true); err == nil {
				t.Errorf("%s: it may join again", when)
			}
		}
		tell := func() { f.apply(entry{Tell: &tellEntry{"rows", map[string]int{"site-0": 5}}}) } // any entry that is no study's
		out("revoked")
		time.Sleep(120 * 24 * time.Hour) // of the bubble's clock
		if tell(); !known() {
			t.Error("it is forgotten after 120 days to the moment")
		}
		out("after 120 days")
		time.Sleep(time.Second)
		if tell(); known() {
			t.Error("it is not forgotten after 120 days and a second")
		}
		out("forgotten")
		replayed := NewMachine()
		for _, line := range f.log.all() {
			replayed.Apply(line)
		}
		here, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		if there, err := encoded(replayed); err != nil || !bytes.Equal(here, there) {
			t.Errorf("another coordinator has another state (%v)", err)
		}
		other, _ := site.Keys(t, t.TempDir(), "clinic")
		again, err := f.c.Invite("clinic", []string{"localhost:1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := enter(other, again); err != nil {
			t.Fatal(err)
		}
		if _, err := f.c.admit(parse(t, late)); status.Code(err) != codes.PermissionDenied {
			t.Errorf("after another site joined under the name: %v", err)
		}
		if h, _ := f.c.machine.holder(pki.RoleSite, "clinic"); bytes.Equal(h.Identity, public) {
			t.Error("the name has the old key")
		}
	})
}

func parse(t *testing.T, certificate []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(certificate)
	if block == nil {
		t.Fatal("no PEM")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}
