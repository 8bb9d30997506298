package membership

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
)

// TestForgo: by the clock of the entries, an unused join file is forgotten 30 days after its end, a
// used one at once, and a revoked member 30 days after the last certificate that it can have. A
// member that is not revoked is kept, as is one whose time of revocation is not known.
func TestForgo(t *testing.T) {
	keys := byte(0)
	key := func() proposal.Key { keys++; return bytes.Repeat([]byte{keys}, ed25519.PublicKeySize) }
	began := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	s := New()
	for _, role := range []pki.Role{pki.RoleSite, pki.RoleAnalyst} {
		for _, name := range []string{"gone", "here"} {
			name += "-" + string(role)
			i := InviteOf(role, name)
			i.Expires = began.Add(day)
			if err := s.Invite(InviteEntry{Token: name, Invite: i}); err != nil {
				t.Fatal(err)
			}
			if err := s.Join(JoinEntry{Token: name, Name: name, Key: key(), Now: began}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Revoke(ClientEntry{role, "gone-" + string(role)}, began); err != nil {
			t.Fatal(err)
		}
		// the first revocation counts
		if err := s.Revoke(ClientEntry{role, "gone-" + string(role)}, began.Add(day)); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Invites) != 0 {
		t.Errorf("used join files stay: %v", s.Invites)
	}
	s.Sites["old"] = Holder{Name: "old", Identity: key(), Revoked: true}
	s.Invites["unused"] = Invite{Site: "late", Expires: began}
	certificates := began.Add(pki.ClientValidity) // the last one's end
	for _, c := range []struct {
		at       time.Time
		invites  int
		sites    []string
		analysts []string
	}{
		{began, 1, []string{"gone-site", "here-site", "old"}, []string{"gone-analyst", "here-analyst"}},
		{began.Add(30 * day), 1, []string{"gone-site", "here-site", "old"}, []string{"gone-analyst", "here-analyst"}},
		{began.Add(30*day + 1), 0, []string{"gone-site", "here-site", "old"}, []string{"gone-analyst", "here-analyst"}},
		{certificates.Add(1), 0, []string{"gone-site", "here-site", "old"}, []string{"gone-analyst", "here-analyst"}},
		{certificates.Add(30 * day), 0, []string{"gone-site", "here-site", "old"}, []string{"gone-analyst", "here-analyst"}},
		{certificates.Add(30*day + 1), 0, []string{"here-site", "old"}, []string{"here-analyst"}},
		{began.Add(1000 * day), 0, []string{"here-site", "old"}, []string{"here-analyst"}},
	} {
		s.Forgo(c.at)
		names := func(all map[string]Holder) (out []string) {
			for _, h := range ByName(all) {
				out = append(out, h.Name)
			}
			return out
		}
		if got, analysts := names(s.Sites), names(s.Analysts); !slices.Equal(got, c.sites) || !slices.Equal(analysts, c.analysts) || len(s.Invites) != c.invites {
			t.Errorf("after %v: %v, %v and %d join files", c.at.Sub(began), got, analysts, len(s.Invites))
		}
	}
}
