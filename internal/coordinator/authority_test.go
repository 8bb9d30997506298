package coordinator

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/membership"
	"covey/internal/pki"
)

// TestCASteps: the log takes the steps of a change of CAs in their order alone, and a snapshot has
// them.
func TestCASteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 3, nil)
		defer f.c.Close()
		refused := func(step string) {
			t.Helper()
			err := f.c.StepCA(step)
			if _, ok := errors.AsType[*membership.CAError](err); !ok {
				t.Errorf("%s: %v", step, err)
			}
		}
		refused(membership.CAPromote)
		refused(membership.CARetire)
		next, err := f.c.StartCA()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.c.StartCA(); err == nil {
			t.Error("begun twice")
		}
		refused(membership.CARetire)
		if late := f.c.Stragglers(pki.RoleSite, next); len(late) != 3 {
			t.Errorf("not ready: %v", late)
		}
		if all := f.c.Authorities().All(); len(all) != 2 || all[0].Fingerprint() != next || len(all[0].Endorsement) == 0 {
			t.Errorf("in force: %+v", all)
		}
		if err := f.c.StepCA(membership.CAPromote); err != nil {
			t.Fatal(err)
		}
		refused(membership.CAPromote)
		raw, err := encoded(f.c.machine)
		if err != nil {
			t.Fatal(err)
		}
		m := NewMachine()
		if err := restored(m, raw); err != nil {
			t.Fatal(err)
		}
		if a := m.state.who.CAs; a.Present.Fingerprint() != next || a.Old.Fingerprint() != f.auth.Fingerprint() || membership.Has(a.Next) {
			t.Errorf("restored: %+v", a)
		}
		if err := f.c.StepCA(membership.CARetire); err != nil {
			t.Fatal(err)
		}
		if all := f.c.Authorities().All(); len(all) != 1 || all[0].Fingerprint() != next {
			t.Errorf("at the end: %+v", all)
		}
	})
}

// TestJoinAgain: a join file for a site that has joined lets in that site's identity key and no
// other, and is void once the site is revoked.
func TestJoinAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		if _, err := f.c.InviteAs(pki.RoleSite, "stranger", []string{"h:1"}, time.Hour, true); err == nil {
			t.Error("a site that never joined is invited again")
		}
		join := func(token pki.Token, site int, name string) error {
			old, _ := f.c.machine.holder(pki.RoleSite, name)
			key := old.Identity
			if site < 0 {
				key = make([]byte, 32)
			}
			hash := token.Hash()
			return f.c.apply(entry{Join: &membership.JoinEntry{Token: tokenKey(hash), Name: name, Key: key, Now: time.Now()}})
		}
		again, err := f.c.InviteAs(pki.RoleSite, "site-0", []string{"h:1"}, time.Hour, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := join(again.Token, -1, "site-0"); err == nil {
			t.Error("another key is let in under the name of a site that joined")
		}
		if err := join(again.Token, 0, "site-0"); err != nil {
			t.Errorf("the site itself: %v", err)
		}
		void, err := f.c.InviteAs(pki.RoleSite, "site-0", []string{"h:1"}, time.Hour, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.c.Revoke(pki.RoleSite, "site-0"); err != nil {
			t.Fatal(err)
		}
		if err := join(void.Token, 0, "site-0"); err == nil {
			t.Error("a revoked site joins again with a file of before")
		}
		fresh, err := f.c.Invite("site-0", []string{"h:1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		old, _ := f.c.machine.holder(pki.RoleSite, "site-0")
		attempt := membership.JoinEntry{Token: tokenKey(fresh.Token.Hash()), Name: "site-0", Key: old.Identity, Now: time.Now()}
		if _, _, err := f.c.machine.joinable(attempt); err == nil {
			t.Error("a revoked key joins again with a new file")
		}
	})
}
