package proposal

import (
	"strings"
	"time"
)

// MaxExpiry is how far ahead a study may expire when it is proposed.
const MaxExpiry = 90 * 24 * time.Hour

// Expiry is the time after which a study can no longer start: a date and time with offset (RFC
// 3339), or, in a study.toml, a duration from the moment at which it is proposed, such as "72h".
// Empty: never.
type Expiry string

// UnmarshalTOML reads the raw value: a string, or a date and time of TOML's own.
func (e *Expiry) UnmarshalTOML(raw []byte) error {
	*e = Expiry(strings.Trim(strings.TrimSpace(string(raw)), `"'`))
	return nil
}

// Time returns the time, if it is one and no duration.
func (e Expiry) Time() (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, string(e))
	return t, err == nil
}

func (e Expiry) check() error {
	if e == "" {
		return nil
	}
	if _, ok := e.Time(); ok {
		return nil
	}
	if d, err := time.ParseDuration(string(e)); err != nil || d <= 0 || d > MaxExpiry {
		return FieldErrorf("expires", `must be a date and time with offset, such as 2026-03-01T12:00:00Z, or a duration of at most 2160h, such as "72h", got %.40q`, string(e))
	}
	return nil
}

// Dated returns the spec with its expiry as the date and time that a proposal holds, in UTC and
// whole seconds. One that is not after now, or more than MaxExpiry after it, is an error.
func (s Spec) Dated(now time.Time) (Spec, error) {
	if err := s.Expires.check(); err != nil || s.Expires == "" {
		return s, err
	}
	at, ok := s.Expires.Time()
	if !ok {
		d, _ := time.ParseDuration(string(s.Expires)) // checked above
		at = now.Add(d)
	}
	at = at.UTC().Truncate(time.Second)
	if !at.After(now) || at.After(now.Add(MaxExpiry)) {
		return s, FieldErrorf("expires", "must be after now and within 90 days, got %s; now is %s", at.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	s.Expires = Expiry(at.Format(time.RFC3339))
	return s, nil
}

// Expires returns the time after which the study can no longer start; the zero time is never.
func (p Proposal) Expires() time.Time {
	t, _ := p.Spec.Expires.Time() // Parse checked it
	return t
}

// checkExpiry holds a proposal to the one form of a date and time: a duration would mean another
// time to each reader.
func (p Proposal) checkExpiry() error {
	if at, ok := p.Spec.Expires.Time(); p.Spec.Expires != "" && (!ok || at.UTC().Format(time.RFC3339) != string(p.Spec.Expires)) {
		return FieldErrorf("expires", "must be a date and time in UTC and whole seconds in a proposal, got %.40q", string(p.Spec.Expires))
	}
	return nil
}
