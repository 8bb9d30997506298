package membership

import (
	"bytes"
	"crypto/ed25519"
	"testing"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/test/must"
)

// TestCheck: a state that no entries lead to is refused, and what a file leaves out can be written
// to.
func TestCheck(t *testing.T) {
	key := proposal.Key(bytes.Repeat([]byte{1}, ed25519.PublicKeySize))
	north := Holder{Name: "north", Identity: key}
	for name, bad := range map[string]State{
		"a site without a key":     {Sites: map[string]Holder{"north": {Name: "north"}}},
		"an analyst without a key": {Analysts: map[string]Holder{"ada": {Name: "ada", Identity: key[:31]}}},
		"a site of another name":   {Sites: map[string]Holder{"south": north}},
		"a name of two roles":      {Sites: map[string]Holder{"north": north}, Analysts: map[string]Holder{"north": north}},
	} {
		if bad.Check() == nil {
			t.Errorf("%s is taken", name)
		}
	}
	var empty State
	if err := empty.Check(); err != nil {
		t.Fatal(err)
	}
	if err := empty.Invite(InviteEntry{Token: "t", Invite: Invite{Analyst: "ada"}}); err != nil {
		t.Fatal(err)
	}
	if err := empty.Join(JoinEntry{Token: "t", Name: "ada", Key: key}); err != nil || len(empty.Analysts) != 1 {
		t.Errorf("%v, %+v", err, empty)
	}
	if roles := empty.RoleOf("ada"); roles != "analyst" {
		t.Error(roles)
	}
}

// TestRevokedKeys: neither key of a membership that was revoked joins under its name again.
func TestRevokedKeys(t *testing.T) {
	key := func(b byte) proposal.Key { return bytes.Repeat([]byte{b}, ed25519.PublicKeySize) }
	var s State
	must.Do(t, s.Check())
	join := JoinEntry{Token: "t", Name: "north", Key: key(1), TLS: key(2)}
	must.Do(t, s.Invite(InviteEntry{Token: "t", Invite: Invite{Site: "north"}}))
	must.Do(t, s.Join(join))
	must.Do(t, s.Revoke(ClientEntry{Role: pki.RoleSite, Name: "north"}, time.Time{}))
	must.Do(t, s.Invite(InviteEntry{Token: "u", Invite: Invite{Site: "north"}}))
	for _, c := range []struct {
		identity, tls proposal.Key
		ok            bool
	}{{key(1), key(2), false}, {key(1), key(3), false}, {key(3), key(2), false}, {key(3), key(4), true}, {key(3), nil, true}} {
		join := JoinEntry{Token: "u", Name: "north", Key: c.identity, TLS: c.tls}
		if _, _, err := s.MayJoin(join); (err == nil) != c.ok {
			t.Errorf("%x, %x: %v", c.identity[:1], c.tls, err)
		}
	}
	join.Token = "u"
	if err := s.Join(join); err == nil {
		t.Error("revoked keys joined")
	}
	// Nor do they after others of the name were revoked, or while others of the name are in.
	must.Do(t, s.Join(JoinEntry{Token: "u", Name: "north", Key: key(3), TLS: key(4)}))
	must.Do(t, s.Invite(InviteEntry{Token: "v", Invite: Invite{Site: "north", Again: true}}))
	for tls, ok := range map[byte]bool{2: false, 5: true} {
		if _, _, err := s.MayJoin(JoinEntry{Token: "v", Name: "north", Key: key(3), TLS: key(tls)}); (err == nil) != ok {
			t.Errorf("again with key %d: %v", tls, err)
		}
	}
	must.Do(t, s.Join(JoinEntry{Token: "v", Name: "north", Key: key(3), TLS: key(5)}))
	must.Do(t, s.Revoke(ClientEntry{Role: pki.RoleSite, Name: "north"}, time.Time{}))
	must.Do(t, s.Invite(InviteEntry{Token: "w", Invite: Invite{Site: "north"}}))
	for _, c := range []struct {
		identity, tls byte
		ok            bool
	}{{1, 6, false}, {6, 2, false}, {3, 6, false}, {6, 5, false}, {6, 7, true}} {
		if _, _, err := s.MayJoin(JoinEntry{Token: "w", Name: "north", Key: key(c.identity), TLS: key(c.tls)}); (err == nil) != c.ok {
			t.Errorf("keys %d and %d: %v", c.identity, c.tls, err)
		}
	}
}

// TestClaimed: neither key of a membership joins under a second name, be it revoked or not; its own
// name may have it (TestRevokedKeys).
func TestClaimed(t *testing.T) {
	key := func(b byte) proposal.Key { return bytes.Repeat([]byte{b}, ed25519.PublicKeySize) }
	s := New()
	s.Sites["north"] = Holder{Name: "north", Identity: key(1), TLS: key(2), Past: []proposal.Key{key(3)}}
	s.Sites["old"] = Holder{Name: "old", Identity: key(4), Revoked: true}
	s.Analysts["ada"] = Holder{Name: "ada", Identity: key(5), TLS: key(6)}
	for _, c := range []struct {
		name          string
		identity, tls proposal.Key
		ok            bool
	}{
		{"west", key(7), key(8), true}, {"west", key(7), nil, true}, {"north", key(1), key(2), true},
		{"west", key(1), key(8), false}, {"west", key(7), key(2), false}, {"west", key(3), key(8), false},
		{"west", key(4), key(8), false}, {"west", key(5), key(8), false}, {"ada", key(5), key(2), false},
	} {
		if err := s.Claimed(JoinEntry{Name: c.name, Key: c.identity, TLS: c.tls}); (err == nil) != c.ok {
			t.Errorf("%s, %x, %x: %v", c.name, c.identity[:1], c.tls, err)
		}
	}
	// The log takes the first of two that were on their way.
	for _, name := range []string{"west", "east"} {
		must.Do(t, s.Invite(InviteEntry{Token: name, Invite: Invite{Site: name}}))
		if err := s.Join(JoinEntry{Token: name, Name: name, Key: key(9), TLS: key(10)}); (err == nil) != (name == "west") {
			t.Errorf("%s joins with the same key: %v", name, err)
		}
	}
}
