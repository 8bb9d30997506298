package coordinator

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

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

// TestJoinsOfTheLog: a join file lets one site in, once, with one identity key and one TLS key. The
// same join again, whose answer was lost, is no error and changes nothing; any other use of its
// token is refused, by every coordinator, and so is the same join after the site was revoked.
func TestJoinsOfTheLog(t *testing.T) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	later := now.Add(time.Hour)
	key := func(b byte) proposal.Key { return append(make(proposal.Key, ed25519.PublicKeySize-1), b) }
	fresh := func(t *testing.T) log {
		l := log{NewMachine(), t}
		for token, i := range map[string]Invite{
			"t": {Site: "north", Expires: later}, "u": {Site: "south", Expires: later}, "n": {Node: "two", Expires: later},
		} {
			if err := l.apply(entry{Invite: &inviteEntry{Token: token, Invite: i}}); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	first := joinEntry{Token: "t", Site: "north", Key: key(1), TLS: key(2), Now: now}
	for name, c := range map[string]struct {
		revoked bool // the site, after the first join
		unused  bool // the first join did not come
		change  func(*joinEntry)
		ok      bool
	}{
		"the same again":               {change: func(*joinEntry) {}, ok: true},
		"the same again, revoked":      {revoked: true, change: func(*joinEntry) {}},
		"another identity key":         {change: func(e *joinEntry) { e.Key = key(3) }},
		"another identity, revoked":    {revoked: true, change: func(e *joinEntry) { e.Key = key(3) }},
		"another token, the same keys": {change: func(e *joinEntry) { e.Token = "x" }},
		"another TLS key":              {change: func(e *joinEntry) { e.TLS = key(3) }},
		"no TLS key":                   {change: func(e *joinEntry) { e.TLS = nil }},
		"a token of another site":      {unused: true, change: func(e *joinEntry) { e.Token = "u" }},
		"a token of a coordinator":     {unused: true, change: func(e *joinEntry) { e.Token, e.Site = "n", "" }},
		"a token never given out":      {unused: true, change: func(e *joinEntry) { e.Token = "x" }},
		"no token":                     {unused: true, change: func(e *joinEntry) { e.Token = "" }},
		"no identity key":              {unused: true, change: func(e *joinEntry) { e.Key = nil }},
		"too late":                     {unused: true, change: func(e *joinEntry) { e.Now = later.Add(1) }},
		"at the last moment":           {unused: true, change: func(e *joinEntry) { e.Now = later }, ok: true},
		"again, not joined":            {unused: true, change: func(e *joinEntry) { e.Token = "a" }},
		"again, same identity":         {change: func(e *joinEntry) { e.Token, e.TLS = "a", key(4) }, ok: true},
		"again, another identity":      {change: func(e *joinEntry) { e.Token, e.Key = "a", key(3) }},
		"again, revoked":               {revoked: true, change: func(e *joinEntry) { e.Token = "a" }},
		"another site with this token": {change: func(e *joinEntry) { e.Site = "south" }},
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
				if err := l.apply(entry{Invite: &inviteEntry{Token: "a", Invite: Invite{Site: "north", Expires: later, Again: true}}}); err != nil {
					t.Fatal(err)
				}
			}
			if c.revoked {
				if err := l.apply(entry{Revoke: &revokeEntry{"north"}}); err != nil {
					t.Fatal(err)
				}
			}
			before, err := l.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			err = l.apply(entry{Join: &e})
			if (err == nil) != c.ok {
				t.Fatal(err)
			}
			if _, may := l.joinable(e); c.ok && may != nil || !c.ok && may == nil {
				t.Errorf("joinable says %v", may)
			}
			if c.ok {
				if _, left := l.invites[e.Token]; left {
					t.Error("the token can be used again")
				}
				if s := l.sites["north"]; !reflect.DeepEqual(s.TLS, e.TLS) || !reflect.DeepEqual(s.Identity, e.Key) || s.Revoked {
					t.Errorf("%+v", s)
				}
				return
			}
			after, err := l.Snapshot()
			if err != nil || string(after) != string(before) {
				t.Errorf("the state changed (%v)", err)
			}
		})
	}
	// A coordinator's token, too, is one coordinator's and once.
	l := fresh(t)
	for i, e := range []spendEntry{{"x", "two", now}, {"n", "three", now}, {"t", "", now}, {"t", "north", now}, {"n", "two", later.Add(1)}} {
		if _, refused := errors.AsType[*JoinError](l.apply(entry{Spend: &e})); !refused || len(l.nodes) != 0 {
			t.Errorf("spent %d: %+v, %v", i, e, l.nodes)
		}
	}
	spend := spendEntry{"n", "two", later}
	if err := l.apply(entry{Spend: &spend}); err != nil || len(l.nodes) != 1 {
		t.Errorf("%v, %v", err, l.nodes)
	}
	if err := l.apply(entry{Spend: &spend}); err == nil {
		t.Error("a coordinator's token is spent twice")
	}
	if _, refused := errors.AsType[*JoinError](l.apply(entry{Revoke: &revokeEntry{"nobody"}})); !refused || len(l.sites) != 0 {
		t.Errorf("an unknown site is revoked: %v", l.sites)
	}
}
