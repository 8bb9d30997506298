package coordinator

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/admission"
	"covey/internal/chain"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/test/site"
)

// TestRenewalIsSeen: a link goes on under the certificate that it began with, for months; the page
// and the alarm are of the one that the site was given since.
func TestRenewalIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		_, csr := site.Keys(t, t.TempDir(), "site-0")
		joined := f.c.machine.state.who.Sites["site-0"]
		joined.TLS = proposal.Key(pki.RequestKey(csr))
		f.c.machine.state.who.Sites["site-0"] = joined
		raw, err := f.auth.Issue(pki.RoleSite, "site-0", csr, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		link := f.sites[0].link
		link.leaf = parse(t, raw)
		f.c.linked(link, nil, chain.Head{})
		before := f.c.Overview(0).Sites[0].Expires
		time.Sleep(65 * 24 * time.Hour)
		ctx := admission.WithClient(context.Background(), admission.Client{Role: pki.RoleSite, Name: "site-0"})
		if _, err := (server{f.c}).Renew(ctx, csr); err != nil {
			t.Fatal(err)
		}
		if after := f.c.Overview(0).Sites[0].Expires; before.IsZero() || after.Sub(before) < 60*24*time.Hour {
			t.Errorf("the certificate ends at %v, as before: %v", after, before)
		}
	})
}
