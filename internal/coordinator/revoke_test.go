package coordinator

import (
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
