package proposal

import (
	"errors"
	"strings"
	"testing"
)

// TestRefers: digits stand for digests and never for names.
func TestRefers(t *testing.T) {
	d := DigestOf([]byte("a proposal"))
	whole := d.String()
	for _, c := range []struct {
		ref, name string
		want      bool
	}{
		{whole, "blood", true},
		{strings.ToUpper(whole), "blood", true},
		{whole[:4], "blood", true},
		{whole[:3], "blood", false},
		{whole[:3], whole[:3], true}, // too short for a digest
		{"blood", "blood", true},
		{"bloo", "blood", false},
		{"", "blood", false},
		{whole + "0", whole + "0", false},
		{strings.Repeat("0", 64), strings.Repeat("0", 64), false},
		{"face", "face", false},
		{"FACE", "FACE", false},
	} {
		if got := Refers(c.ref, d, c.name); got != c.want {
			t.Errorf("Refers(%q, …, %q) = %v", c.ref, c.name, got)
		}
	}
}

// TestNameIsNoDigest: a study's name that could stand for a digest is refused wherever a proposal
// is made or read.
func TestNameIsNoDigest(t *testing.T) {
	for name, ok := range map[string]bool{
		strings.Repeat("ab", 32): false, "2026": false, "DECADE": false, "abcdef0123456789": false,
		"abc": true, "2026-01": true, "facet": true, "0x12345": true,
	} {
		spec := Spec{Name: name, Dataset: "rows", Epsilon: 1, Delta: 1e-6, Columns: []Column{{Name: "a"}, {Name: "b"}}}
		err := spec.resolve()
		if at, field := errors.AsType[*FieldError](err); ok && err != nil || !ok && (!field || at.Field != "name") {
			t.Errorf("a study named %q: %v", name, err)
		}
	}
}
