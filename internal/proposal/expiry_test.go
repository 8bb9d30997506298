package proposal

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"
)

var expiryNow = time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC)

// TestExpiryIsDated: a proposal holds a date and time in one form; a study.toml may give a
// duration.
func TestExpiryIsDated(t *testing.T) {
	const text = "name = \"n\"\ndataset = \"rows\"\nepsilon = 1.0\ndelta = 1e-6\n%s[[columns]]\nname = \"a\"\nscale = 1\n[[columns]]\nname = \"b\"\nscale = 1\n"
	for _, c := range []struct{ line, want, fault string }{
		{"", "", ""},
		{`expires = "72h"`, "2026-03-04T12:00:00Z", ""},
		{`expires = "2026-03-01T14:30:00+02:00"`, "2026-03-01T12:30:00Z", ""},
		{`expires = 2026-04-01T00:00:00Z`, "2026-04-01T00:00:00Z", ""},
		{`expires = "2160h"`, "2026-05-30T12:00:00Z", ""},
		{`expires = "2161h"`, "", "expires"},
		{`expires = "2026-07-01T00:00:00Z"`, "", "within 90 days"},
		{`expires = "2026-03-01T12:00:00Z"`, "", "after now"},
		{`expires = "0h"`, "", "expires"},
		{`expires = "-1h"`, "", "expires"},
		{`expires = "10ns"`, "", "after now"},
		{`expires = "soon"`, "", "expires"},
		{`expires = 2026-04-01`, "", "expires"},
		{`expires = 2026-04-01T00:00:00`, "", "expires"},
		{`expires = 72`, "", "expires"},
	} {
		spec, err := ParseSpec([]byte(strings.Replace(text, "%s", c.line+"\n", 1)))
		if err == nil {
			spec, err = spec.Dated(expiryNow)
		}
		if c.fault != "" {
			var field *FieldError
			if !errors.As(err, &field) || field.Field != "expires" || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", c.line, err)
			}
			continue
		}
		if err != nil || string(spec.Expires) != c.want {
			t.Errorf("%s: %q, %v", c.line, spec.Expires, err)
		}
	}
}

// TestExpiryOfAProposal: the bytes that sites approve say the time itself, and bind it.
func TestExpiryOfAProposal(t *testing.T) {
	propose := func(expires Expiry) (Proposal, error) {
		spec := Spec{Name: "n", Dataset: "rows", Epsilon: 1, Delta: 1e-6, Expires: expires, Columns: []Column{{Name: "a"}, {Name: "b"}}}
		var roster []Member
		for i, name := range []string{"north", "south", "west"} {
			key := ed25519.NewKeyFromSeed(append(make([]byte, 31), byte(i+1))).Public().(ed25519.PublicKey)
			roster = append(roster, Member{Name: name, Identity: Key(key), Units: 1000})
		}
		body, err := Propose(spec, roster, ed25519.PublicKey(roster[0].Identity), [32]byte{1})
		if err != nil {
			return Proposal{}, err
		}
		return Parse(body)
	}
	for _, bad := range []Expiry{"72h", "2026-03-01T14:30:00+02:00", "2026-03-01T12:30:00.5Z"} {
		var field *FieldError
		if _, err := propose(bad); !errors.As(err, &field) || field.Field != "expires" {
			t.Errorf("%s in a proposal: %v", bad, err)
		}
	}
	p, err := propose("2026-03-01T12:30:00Z")
	if err != nil {
		t.Fatal(err)
	}
	at := p.Expires()
	if !at.Equal(time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)) {
		t.Errorf("expires %v", at)
	}
	if p, err = propose(""); err != nil || !p.Expires().IsZero() {
		t.Errorf("without one: %v, %v", p.Expires(), err)
	}
}
