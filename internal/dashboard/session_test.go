package dashboard

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

func cookie(value string) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "covey", Value: value}) }
}

// TestLogoutEndsCopies: after a logout the cookie is nobody's, wherever a copy of it is, and an
// open stream with it ends; other logins go on.
func TestLogoutEndsCopies(t *testing.T) {
	d, _, _ := newTest(t)
	copied, other := logIn(d, goodToken, "/").Cookies()[0].Value, logIn(d, goodToken, "/").Cookies()[0].Value
	if copied == other {
		t.Fatal("two logins have one cookie")
	}
	if r := ask(d, "GET", "/", cookie(copied)); r.StatusCode != http.StatusOK {
		t.Fatal(r.Status)
	}
	if r := ask(d, "POST", "/logout", cookie(copied)); r.StatusCode != http.StatusSeeOther || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("a logout: %s, %v", r.Status, r.Cookies())
	}
	for _, path := range []string{"/", "/events", "/metrics"} {
		if r := ask(d, "GET", path, cookie(copied)); r.StatusCode != http.StatusSeeOther {
			t.Errorf("%s with a copied cookie after the logout: %s", path, r.Status)
		}
	}
	if r := ask(d, "GET", "/", cookie(other)); r.StatusCode != http.StatusOK {
		t.Errorf("another login ended too: %s", r.Status)
	}
}

// TestSessionsAreBounded: of logins so many are good at a time; the one that would end first makes
// room.
func TestSessionsAreBounded(t *testing.T) {
	s, end := newSession(goodToken), time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	first := s.issue(end)
	second := s.issue(end.Add(time.Second))
	for i := range maxSessions - 1 {
		s.issue(end.Add(time.Minute + time.Duration(i)))
	}
	if len(s.open) != maxSessions || !s.until(first).IsZero() || s.until(second).IsZero() {
		t.Errorf("%d logins; the first is good until %v, the second until %v", len(s.open), s.until(first), s.until(second))
	}
}

// TestWrongLoginsArePaced: so many a host at once are answered and logged, then one every few
// seconds; a right token is let in all the same, and other hosts have a pace of their own.
func TestWrongLoginsArePaced(t *testing.T) {
	d, _, now := newTest(t)
	var lines bytes.Buffer
	d.log = slog.New(slog.NewTextHandler(&lines, nil))
	from := func(address, token string) int {
		return ask(d, "POST", "/login", func(r *http.Request) {
			r.RemoteAddr, r.PostForm = address, map[string][]string{"token": {token}}
			r.Form = r.PostForm
		}).StatusCode
	}
	refused := func() int { return strings.Count(lines.String(), "a login was refused") }
	for i := range 3 * wrongBurst {
		want := http.StatusUnauthorized
		if i >= wrongBurst {
			want = http.StatusTooManyRequests
		}
		if got := from(fmt.Sprintf("192.0.2.1:%d", 1000+i), "wrong"); got != want {
			t.Fatalf("wrong login %d: %d, want %d", i, got, want)
		}
	}
	if refused() != wrongBurst {
		t.Errorf("%d lines of %d wrong logins at once", refused(), 3*wrongBurst)
	}
	if got := from("192.0.2.1:1", goodToken); got != http.StatusSeeOther {
		t.Errorf("the right token after many wrong ones: %d", got)
	}
	if got := from("192.0.2.2:1", "wrong"); got != http.StatusUnauthorized {
		t.Errorf("another host: %d", got)
	}
	now.add(wrongEvery + time.Second)
	if got := from("192.0.2.1:1", "wrong"); got != http.StatusUnauthorized || !strings.Contains(lines.String(), fmt.Sprint("more_unlogged=", 2*wrongBurst)) {
		t.Errorf("a while later: %d, %s", got, lines.String())
	}
	if got := from("192.0.2.1:1", "wrong"); got != http.StatusTooManyRequests {
		t.Errorf("two a while later: %d", got)
	}
	// One machine has 2^64 addresses of IPv6; of hosts so many are counted.
	for i := range wrongBurst + 1 {
		from(fmt.Sprintf("[2001:db8::%x]:1", i), "wrong")
	}
	if got := from("[2001:db8::ffff]:1", "wrong"); got != http.StatusTooManyRequests {
		t.Errorf("another address of one /64: %d", got)
	}
	for i := range maxWrongHosts + 50 {
		from(fmt.Sprintf("10.0.%d.%d:1", i/250, i%250), "wrong")
	}
	if n := len(d.paces.hosts); n > maxWrongHosts+1 {
		t.Errorf("%d hosts are counted", n)
	}
}
