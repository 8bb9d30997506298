package coordinator

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/wire"
	"covey/test/site"
)

// joiner makes a site's keys and tries to join with them.
func joiner(t *testing.T, c *Coordinator, name string, key func(*pki.Holder) ed25519.PublicKey) func(pki.Join) error {
	t.Helper()
	keys, csr := site.Keys(t, t.TempDir(), name)
	return func(j pki.Join) error {
		_, err := c.join(t.Context(), j.Token.Bytes(), name, csr, key(keys), keys.ProveIdentity(name, j.Token.Hash(), csr))
		return err
	}
}

func its(s *pki.Holder) ed25519.PublicKey { return s.Identity().Public().(ed25519.PublicKey) }

// TestNewestJoinFileAlone: RE-16. A file of a site's that is not its newest lets nobody in, and
// none does that was made before a revocation or was withdrawn. Another site's are as good as they
// were.
func TestNewestJoinFileAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		invite := func(site string) pki.Join {
			j, err := f.c.Invite(site, []string{"h:1"}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		refused := func(what string, err error) {
			t.Helper()
			if _, ok := errors.AsType[*membership.JoinError](err); !ok {
				t.Errorf("%s: %v", what, err)
			}
		}
		other := invite("other")
		first, second := invite("clinic"), invite("clinic")
		refused("the older of two files", joiner(t, f.c, "clinic", its)(first))
		enter := joiner(t, f.c, "clinic", its)
		if err := enter(second); err != nil {
			t.Fatal(err)
		}
		entries := len(f.log.all())
		if err := enter(second); err != nil || len(f.log.all()) != entries {
			t.Errorf("a join whose reply was lost: %v, %d entries", err, len(f.log.all())-entries)
		}
		again, err := f.c.InviteAs(pki.RoleSite, "clinic", []string{"h:1"}, time.Hour, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.c.Revoke(pki.RoleSite, "clinic"); err != nil {
			t.Fatal(err)
		}
		for i, j := range []pki.Join{first, second, again} {
			refused(fmt.Sprint("after the revocation, file ", i), joiner(t, f.c, "clinic", its)(j))
		}
		if _, left := f.c.machine.holders(pki.RoleSite); len(left) != 1 || left[0].Site != "other" {
			t.Errorf("after the revocation there are %v", left)
		}
		third := invite("clinic")
		before := len(f.log.all())
		if n, err := f.c.Withdraw(pki.RoleSite, "clinic"); n != 1 || err != nil {
			t.Errorf("%d files withdrawn, %v", n, err)
		}
		refused("a file that was withdrawn", joiner(t, f.c, "clinic", its)(third))
		if n, err := f.c.Withdraw(pki.RoleSite, "clinic"); n != 0 || err != nil || len(f.log.all()) != before+1 {
			t.Errorf("%d files withdrawn, %v, %d entries", n, err, len(f.log.all())-before)
		}
		if _, err := f.c.Withdraw(pki.RoleSite, "No Name"); err == nil {
			t.Error("a name that is none")
		}
		if err := joiner(t, f.c, "other", its)(other); err != nil {
			t.Errorf("another site: %v", err)
		}
	})
}

// TestSecondName: RE-18. A key that was revoked, as one that a thief may have, joins under no other
// name, and the file for that name stays good for new keys.
func TestSecondName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		keys, csr := site.Keys(t, t.TempDir(), "clinic")
		other, err := keys.CSR("clinic-2")
		if err != nil {
			t.Fatal(err)
		}
		enter := func(name string, csr []byte, j pki.Join) error {
			_, err := f.c.join(t.Context(), j.Token.Bytes(), name, csr, its(keys), keys.ProveIdentity(name, j.Token.Hash(), csr))
			return err
		}
		invite := func(name string) pki.Join {
			j, err := f.c.Invite(name, []string{"h:1"}, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			return j
		}
		if err := errors.Join(enter("clinic", csr, invite("clinic")), f.c.Revoke(pki.RoleSite, "clinic")); err != nil {
			t.Fatal(err)
		}
		second := invite("clinic-2")
		before := len(f.log.all())
		err = enter("clinic-2", other, second)
		if _, ok := errors.AsType[*membership.JoinError](err); !ok || !strings.Contains(err.Error(), `those of "clinic"`) || len(f.log.all()) != before {
			t.Errorf("revoked keys under another name: %v", err)
		}
		if err := joiner(t, f.c, "clinic-2", its)(second); err != nil {
			t.Errorf("new keys: %v", err)
		}
	})
}

// TestAnotherSitesIdentity: PKI-7. A join with an identity key that its sender has not the private
// half of is refused, before anything is written, and its file stays good.
func TestAnotherSitesIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		j, err := f.c.Invite("clinic", []string{"h:1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		before := len(f.log.all())
		victim := ed25519.PublicKey(f.plan.Proposal.Roster[0].Identity)
		err = joiner(t, f.c, "clinic", func(*pki.Holder) ed25519.PublicKey { return victim })(j)
		if _, ok := errors.AsType[*membership.JoinError](err); !ok || !strings.Contains(err.Error(), "proof of the identity key") {
			t.Errorf("joined with another's identity key: %v", err)
		}
		if got := len(f.log.all()); got != before {
			t.Errorf("%d entries were written", got-before)
		}
		if err := joiner(t, f.c, "clinic", its)(j); err != nil {
			t.Errorf("the file is spent: %v", err)
		}
	})
}

// TestNodeJoinsWithoutATokenWriteNothing: PEER-8. A request for the keys whose token was not given
// out, or not for that name, is refused before anything is written, at a leader and at a follower.
func TestNodeJoinsWithoutATokenWriteNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		good, err := f.c.InviteNode("two", []string{"h:1"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, leads := range []bool{true, false} {
			if !leads {
				f.c.Follow()
			}
			before := len(f.log.all())
			for i := range 100 {
				token, err := pki.NewToken()
				if err != nil {
					t.Fatal(err)
				}
				name := []string{"two", "three", strings.Repeat("x", 1<<20), "", "Two", "a\x1b[2Kb"}[i%6]
				_, err = f.c.AdmitNode(token.Bytes(), name)
				if err == nil {
					t.Fatalf("%.20q was given the keys", name)
				}
				if _, refused := errors.AsType[*membership.JoinError](err); !refused && pki.ValidName(name) != nil {
					t.Errorf("%.20q, which is no name, is looked for: %v", name, err)
				}
				if name != "two" {
					if _, err := f.c.AdmitNode(good.Token.Bytes(), name); err == nil {
						t.Fatalf("%.20q was given another's keys", name)
					}
				}
			}
			if got := len(f.log.all()); got != before {
				t.Errorf("leading %v: %d entries were written", leads, got-before)
			}
		}
		if _, err := f.c.AdmitNode(good.Token.Bytes(), "two"); !errors.Is(err, ErrNotLeader) {
			t.Errorf("a good token at a follower: %v", err)
		}
	})
}

// TestDatasetNames: LIM-9. A hello whose data sets' names could overwrite what an operator compares
// ends its link.
func TestDatasetNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFederation(t, 2, nil)
		defer f.c.Close()
		hello := func(name string) error {
			return f.c.receive(newLink("site-0"), wire.Hello{Datasets: []wire.Dataset{{Name: name, Units: 5}}})
		}
		for _, name := range []string{"", "\x1b[2K\rnorth", "a\nb", "a\tb", "a\u202eb", "a\u200bb", "\x9b1A", "bad\xff", strings.Repeat("x", 201), "a\u00a0b", "a\u3164", "a" + strings.Repeat("\u0301", 5)} {
			if err := hello(name); !errors.Is(err, wire.ErrDataset) {
				t.Errorf("%q: %v", name, err)
			}
		}
		for _, name := range []string{"icu-patients", "ICU 2024 (north)", "größen"} {
			if err := hello(name); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}
