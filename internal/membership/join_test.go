package membership

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
)

// TestMayJoin: a join file lets in the party that it names, with an identity key, once and before
// its end. A reply that was lost is given again, to the same keys alone, unless the party was
// revoked.
func TestMayJoin(t *testing.T) {
	key := func(b byte) proposal.Key { return bytes.Repeat([]byte{b}, ed25519.PublicKeySize) }
	ends := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	entry := func(token, name string, identity byte) JoinEntry {
		return JoinEntry{Token: token, Name: name, Key: key(identity), TLS: key(identity + 1), Now: ends}
	}
	altered := func(e JoinEntry, change func(*JoinEntry)) JoinEntry { change(&e); return e }
	s := New()
	for token, i := range map[string]Invite{
		"fresh": {Site: "north"}, "analyst": {Analyst: "ada"}, "node": {Node: "two"}, "taken": {Site: "south"}, "revoked": {Site: "gone"},
		"again": {Site: "east", Again: true}, "joined": {Site: "east"}, "late": {Site: "gone", Again: true}, "other": {Analyst: "east"},
	} {
		i.Expires = ends
		s.Invites[token] = i
	}
	for _, e := range []JoinEntry{entry("taken", "south", 1), entry("revoked", "gone", 11)} {
		if err := s.Join(e); err != nil {
			t.Fatal(err)
		}
	}
	s.Sites["east"] = Holder{Name: "east", Identity: key(1), Token: "before"}
	gone := s.Sites["gone"]
	gone.Revoked = true
	s.Sites["gone"] = gone
	taken := entry("taken", "south", 1)
	for name, c := range map[string]struct {
		e    JoinEntry
		role pki.Role // none: it is refused
		was  bool
	}{
		"as invited":               {entry("fresh", "north", 1), pki.RoleSite, false},
		"an analyst":               {entry("analyst", "ada", 1), pki.RoleAnalyst, false},
		"after its end":            {altered(entry("fresh", "north", 1), func(e *JoinEntry) { e.Now = ends.Add(1) }), "", false},
		"without a key":            {altered(entry("fresh", "north", 1), func(e *JoinEntry) { e.Key = e.Key[1:] }), "", false},
		"under another name":       {entry("fresh", "west", 1), "", false},
		"with no join file":        {entry("nothing", "north", 1), "", false},
		"with a coordinator's":     {entry("node", "two", 1), "", false},
		"once more":                {taken, pki.RoleSite, true},
		"once more, late":          {altered(taken, func(e *JoinEntry) { e.Now = ends.Add(1) }), pki.RoleSite, true},
		"once more, another key":   {altered(taken, func(e *JoinEntry) { e.Key = key(9) }), "", false},
		"once more, another TLS":   {altered(taken, func(e *JoinEntry) { e.TLS = key(9) }), "", false},
		"once more, another token": {altered(taken, func(e *JoinEntry) { e.Token = "before" }), "", false},
		"once more, revoked":       {entry("revoked", "gone", 11), "", false},
		"while it is there":        {entry("joined", "east", 1), "", false},
		"again, its key":           {entry("again", "east", 1), pki.RoleSite, false},
		"again, another key":       {entry("again", "east", 2), "", false},
		"again, revoked since":     {entry("late", "gone", 1), "", false},
		"a site's name":            {entry("other", "east", 1), "", false},
	} {
		role, was, err := s.MayJoin(c.e)
		if role != c.role || was != c.was || (err == nil) != (c.role != "") {
			t.Errorf("%s: %q, %t, %v", name, role, was, err)
		}
	}
	for _, e := range []JoinEntry{entry("fresh", "north", 21), entry("nothing", "west", 31)} {
		before := s.Sites["north"]
		err := s.Join(e)
		if _, invited := s.Invites["fresh"]; invited || s.Sites["north"].Token != "fresh" || (err == nil) != (e.Token == "fresh") {
			t.Errorf("%v: %+v, before %+v", err, s.Sites["north"], before)
		}
	}
}

// TestSpend: a coordinator's join file buys the keys once, before its end and for the one that it
// names.
func TestSpend(t *testing.T) {
	ends := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	s := New()
	s.Invites["two"] = Invite{Node: "two", Expires: ends}
	s.Invites["site"] = Invite{Site: "north", Expires: ends}
	for name, e := range map[string]SpendEntry{
		"after its end": {"two", "two", ends.Add(1)}, "another's": {"two", "three", ends}, "a site's": {"site", "north", ends},
		"nobody's": {"site", "", ends}, "none": {"three", "two", ends},
	} {
		if _, ok := errors.AsType[*JoinError](s.Spend(e)); !ok || len(s.Invites) != 2 || len(s.Nodes) != 0 {
			t.Errorf("%s buys the keys", name)
		}
	}
	if err := s.Spend(SpendEntry{"two", "two", ends}); err != nil || s.Nodes["two"].ID != "two" {
		t.Errorf("as invited: %v, %+v", err, s.Nodes)
	}
	if s.Spend(SpendEntry{"two", "two", ends}) == nil {
		t.Error("it buys them twice")
	}
}
