package coordinator

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
)

// log is a machine with entries applied to it.
type log struct {
	*Machine
	t *testing.T
}

func (l log) apply(e entry) error {
	l.t.Helper()
	raw, err := json.Marshal(e)
	if err != nil {
		l.t.Fatal(err)
	}
	err, _ = l.Apply(raw).(error)
	return err
}

// TestJoinsOfTheLog: a join file lets one site or analyst in, once, with one identity key and one
// TLS key. The same join again, whose answer was lost, is no error and changes nothing; any other
// use of its token is refused, by every coordinator, and so is the same join after a revocation.
func TestJoinsOfTheLog(t *testing.T) {
	for _, role := range []pki.Role{pki.RoleSite, pki.RoleAnalyst} {
		t.Run(string(role), func(t *testing.T) { joinsOfTheLog(t, role) })
	}
}

func joinsOfTheLog(t *testing.T, role pki.Role) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	later := now.Add(time.Hour)
	key := func(b byte) proposal.Key { return append(make(proposal.Key, ed25519.PublicKeySize-1), b) }
	fresh := func(t *testing.T) log {
		l := log{NewMachine(), t}
		for token, i := range map[string]membership.Invite{"t": membership.InviteOf(role, "north"), "u": membership.InviteOf(role, "south"), "n": membership.InviteOf(membership.RoleNode, "two")} {
			i.Expires = later
			if err := l.apply(entry{Invite: &membership.InviteEntry{Token: token, Invite: i}}); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	first := membership.JoinEntry{Token: "t", Name: "north", Key: key(1), TLS: key(2), Now: now}
	for name, c := range map[string]struct {
		revoked bool // the site, after the first join
		unused  bool // the first join did not come
		change  func(*membership.JoinEntry)
		ok      bool
	}{
		"the same again":               {change: func(*membership.JoinEntry) {}, ok: true},
		"the same again, revoked":      {revoked: true, change: func(*membership.JoinEntry) {}},
		"another identity key":         {change: func(e *membership.JoinEntry) { e.Key = key(3) }},
		"another identity, revoked":    {revoked: true, change: func(e *membership.JoinEntry) { e.Key = key(3) }},
		"another token, the same keys": {change: func(e *membership.JoinEntry) { e.Token = "x" }},
		"another TLS key":              {change: func(e *membership.JoinEntry) { e.TLS = key(3) }},
		"no TLS key":                   {change: func(e *membership.JoinEntry) { e.TLS = nil }},
		"a token of another site":      {unused: true, change: func(e *membership.JoinEntry) { e.Token = "u" }},
		"a token of a coordinator":     {unused: true, change: func(e *membership.JoinEntry) { e.Token, e.Name = "n", "" }},
		"a token never given out":      {unused: true, change: func(e *membership.JoinEntry) { e.Token = "x" }},
		"no token":                     {unused: true, change: func(e *membership.JoinEntry) { e.Token = "" }},
		"no identity key":              {unused: true, change: func(e *membership.JoinEntry) { e.Key = nil }},
		"too late":                     {unused: true, change: func(e *membership.JoinEntry) { e.Now = later.Add(1) }},
		"at the last moment":           {unused: true, change: func(e *membership.JoinEntry) { e.Now = later }, ok: true},
		"again, not joined":            {unused: true, change: func(e *membership.JoinEntry) { e.Token = "a" }},
		"again, same identity":         {change: func(e *membership.JoinEntry) { e.Token, e.TLS = "a", key(4) }, ok: true},
		"again, another identity":      {change: func(e *membership.JoinEntry) { e.Token, e.Key = "a", key(3) }},
		"again, revoked":               {revoked: true, change: func(e *membership.JoinEntry) { e.Token = "a" }},
		"another site with this token": {change: func(e *membership.JoinEntry) { e.Name = "south" }},
	} {
		t.Run(name, func(t *testing.T) {
			l := fresh(t)
			if !c.unused {
				if err := l.apply(entry{Join: &first}); err != nil {
					t.Fatal(err)
				}
			}
			e := first
			c.change(&e)
			if e.Token == "a" { // after the first join: a name's newest join file alone is good
				again := membership.InviteOf(role, "north")
				again.Expires, again.Again = later, true
				if err := l.apply(entry{Invite: &membership.InviteEntry{Token: "a", Invite: again}}); err != nil {
					t.Fatal(err)
				}
			}
			if c.revoked {
				if err := l.apply(entry{Revoke: &membership.ClientEntry{Role: role, Name: "north"}}); err != nil {
					t.Fatal(err)
				}
			}
			before, err := encoded(l.Machine)
			if err != nil {
				t.Fatal(err)
			}
			err = l.apply(entry{Join: &e})
			if (err == nil) != c.ok {
				t.Fatal(err)
			}
			if _, _, may := l.joinable(e); c.ok && may != nil || !c.ok && may == nil {
				t.Errorf("joinable says %v", may)
			}
			if c.ok {
				if _, left := l.state.who.Invites[e.Token]; left {
					t.Error("the token can be used again")
				}
				if s := l.state.who.Holders(role)["north"]; !reflect.DeepEqual(s.TLS, e.TLS) || !reflect.DeepEqual(s.Identity, e.Key) || s.Revoked {
					t.Errorf("%+v", s)
				}
				return
			}
			after, err := encoded(l.Machine)
			if err != nil || string(after) != string(before) {
				t.Errorf("the state changed (%v)", err)
			}
		})
	}
	// A coordinator's token, too, is one coordinator's and once.
	l := fresh(t)
	for i, e := range []membership.SpendEntry{
		{Token: "x", Node: "two", Now: now}, {Token: "n", Node: "three", Now: now}, {Token: "t", Now: now}, {Token: "t", Node: "north", Now: now}, {Token: "n", Node: "two", Now: later.Add(1)},
	} {
		if _, refused := errors.AsType[*membership.JoinError](l.apply(entry{Spend: &e})); !refused || len(l.state.who.Nodes) != 0 {
			t.Errorf("spent %d: %+v, %v", i, e, l.state.who.Nodes)
		}
	}
	spend := membership.SpendEntry{Token: "n", Node: "two", Now: later}
	if err := l.apply(entry{Spend: &spend}); err != nil || len(l.state.who.Nodes) != 1 {
		t.Errorf("%v, %v", err, l.state.who.Nodes)
	}
	if err := l.apply(entry{Spend: &spend}); err == nil {
		t.Error("a coordinator's token is spent twice")
	}
	if _, refused := errors.AsType[*membership.JoinError](l.apply(entry{Revoke: &membership.ClientEntry{Role: role, Name: "nobody"}})); !refused || len(l.state.who.Holders(role)) != 0 {
		t.Errorf("an unknown %s is revoked: %v", role, l.state.who.Holders(role))
	}
}

// TestOneNamespace: a name that a site has or had is no analyst's, and the other way round, at the
// invitation and at the join: both may have been invited before either joined.
func TestOneNamespace(t *testing.T) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	key := func(b byte) proposal.Key { return append(make(proposal.Key, ed25519.PublicKeySize-1), b) }
	for _, c := range []struct{ has, wants pki.Role }{{pki.RoleSite, pki.RoleAnalyst}, {pki.RoleAnalyst, pki.RoleSite}} {
		for _, revoked := range []bool{false, true} {
			l := log{NewMachine(), t}
			invite := func(token string, role pki.Role) error {
				i := membership.InviteOf(role, "north")
				i.Expires = now.Add(time.Hour)
				return l.apply(entry{Invite: &membership.InviteEntry{Token: token, Invite: i}})
			}
			if err := errors.Join(invite("first", c.has), invite("second", c.wants)); err != nil {
				t.Fatal(err)
			}
			if err := l.apply(entry{Join: &membership.JoinEntry{Token: "first", Name: "north", Key: key(1), TLS: key(2), Now: now}}); err != nil {
				t.Fatal(err)
			}
			if revoked {
				if err := l.apply(entry{Revoke: &membership.ClientEntry{Role: c.has, Name: "north"}}); err != nil {
					t.Fatal(err)
				}
			}
			refused := func(what string, err error) {
				t.Helper()
				if _, ok := errors.AsType[*membership.JoinError](err); !ok || len(l.state.who.Holders(c.wants)) != 0 {
					t.Errorf("%s of %s under the name of a %s (revoked: %v): %v", what, c.wants, c.has, revoked, err)
				}
			}
			refused("a join", l.apply(entry{Join: &membership.JoinEntry{Token: "second", Name: "north", Key: key(3), TLS: key(4), Now: now}}))
			refused("an invitation", invite("third", c.wants))
			if err := invite("fourth", c.has); err != nil { // its own
				t.Error(err)
			}
		}
	}
}
