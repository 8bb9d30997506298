package dashboard

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/people"
	"covey/internal/proposal"
)

func cookie(value string) func(*http.Request) {
	return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName(r), Value: value}) }
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

// TestAnotherPortsCookieLocksNobodyOut: browsers send cookies to all ports of a host. Those that
// another port's page set, which may come first, neither end a login nor hide it, and a logout ends
// the login behind them. A login at another coordinator's page on the same host does not replace
// it.
func TestAnotherPortsCookieLocksNobodyOut(t *testing.T) {
	d, _, _ := newTest(t)
	login := logIn(d, goodToken, "/").Cookies()[0]
	behind := func(r *http.Request) {
		for _, value := range []string{"", "x", strings.Repeat("00", 32)} {
			cookie(value)(r)
		}
		cookie(login.Value)(r)
	}
	for range 2 {
		if r := ask(d, "GET", "/", behind); r.StatusCode != http.StatusOK {
			t.Errorf("behind other cookies: %s", r.Status)
		}
	}
	atPort := func(port string) func(*http.Request) {
		return func(r *http.Request) { r.Host = "127.0.0.1" + port }
	}
	for port, want := range map[string]string{":7481": "covey-7481", "": "covey", ":7480": login.Name} {
		r := ask(d, "POST", "/logout", atPort(port))
		if got := r.Cookies()[0].Name; got != want || (port != ":7480") == (got == login.Name) {
			t.Errorf("port %q: the cookie is %s, and %s at this one", port, got, login.Name)
		}
	}
	ask(d, "POST", "/logout", behind)
	if r := ask(d, "GET", "/", cookie(login.Value)); r.StatusCode == http.StatusOK {
		t.Error("a logout left the login behind other cookies")
	}
}

// TestSessionsAreBounded: of each person so many logins are good at a time; the oldest makes room,
// and nobody else's. Those that are over are forgotten.
func TestSessionsAreBounded(t *testing.T) {
	s, now := new(sessions), time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	ana, bo := people.Entry{Person: people.Person{Name: "ana"}}, people.Entry{Person: people.Person{Name: "bo"}}
	other := s.issue(bo, now)
	first := s.issue(ana, now)
	second := s.issue(ana, now.Add(time.Second))
	for i := range maxSessions - 1 {
		s.issue(ana, now.Add(time.Minute+time.Duration(i)))
	}
	good := func(value string) bool {
		_, ok := s.find(value, now.Add(2*time.Minute))
		return ok
	}
	if len(s.open) != maxSessions+1 || good(first) || !good(second) || !good(other) {
		t.Errorf("%d logins; the first is good: %v, the second: %v, another's: %v", len(s.open), good(first), good(second), good(other))
	}
	s.issue(bo, now.Add(idle+time.Hour))
	if len(s.open) != 1 {
		t.Errorf("%d logins, all but one of them over", len(s.open))
	}
}

// TestSessionsEnd: a login ends when nobody uses it, whatever its stream does, and when its time is
// over, whoever uses it.
func TestSessionsEnd(t *testing.T) {
	d, _, now := newTest(t)
	asks := func(path, value string) int { return ask(d, "GET", path, cookie(value)).StatusCode }
	value := logIn(d, goodToken, "/").Cookies()[0].Value
	now.add(idle - time.Second)
	if got := asks("/", value); got != http.StatusOK {
		t.Fatalf("used in time: %d", got)
	}
	now.add(idle - time.Second)
	ctx, stop := context.WithCancel(t.Context())
	stop() // a stream that ends at once
	ask(d, "GET", "/events", func(r *http.Request) { *r = *r.WithContext(ctx); cookie(value)(r) })
	now.add(2 * time.Second)
	if got := asks("/", value); got != http.StatusSeeOther {
		t.Errorf("idle but for its stream: %d", got)
	}
	value = logIn(d, goodToken, "/").Cookies()[0].Value
	for range 2*lasting/idle - 1 {
		now.add(idle / 2)
		if got := asks("/", value); got != http.StatusOK {
			t.Fatalf("in use: %d", got)
		}
	}
	now.add(idle / 2)
	if got := asks("/", value); got != http.StatusSeeOther {
		t.Errorf("in use for %v: %d", lasting, got)
	}
}

// TestRevokedAtOnce: once the register has a person no more, or another token or role or limit of
// it, or its time is over, its logins and its token are good for nothing, and its streams end;
// others go on.
func TestRevokedAtOnce(t *testing.T) {
	vi := people.Person{Name: "vi", Role: people.Viewer}
	for name, change := range map[string]func(*crew, *clock, people.Person){
		"revoked":         func(c *crew, _ *clock, _ people.Person) { c.revoke("vi") },
		"another token":   func(c *crew, _ *clock, p people.Person) { c.admit(t, p, "another") },
		"a certificate":   func(c *crew, _ *clock, p people.Person) { p.Certificate = true; c.admit(t, p, "") },
		"revoked, and in": func(c *crew, _ *clock, p people.Person) { c.revoke("vi"); c.admit(t, p, "another") },
		"past its time":   func(_ *crew, now *clock, _ people.Person) { now.add(11 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, source, now := newTest(t)
				p := vi
				p.Expires = now.now().Add(10 * time.Minute)
				source.crew.admit(t, p, "the token of vi")
				value, other := logIn(d, "the token of vi", "/").Cookies()[0].Value, logIn(d, goodToken, "/").Cookies()[0].Value
				answer, ctx, lines := stream(t, served(t, d), value)
				if answer.StatusCode != http.StatusOK || ask(d, "GET", "/", showing("the token of vi")).StatusCode != http.StatusOK {
					t.Fatal("vi is not let in")
				}
				change(source.crew, now, p)
				if r := ask(d, "GET", "/", cookie(value)); r.StatusCode != http.StatusSeeOther {
					t.Errorf("the login goes on: %s", r.Status)
				}
				if r := ask(d, "GET", "/", showing("the token of vi")); r.StatusCode != http.StatusUnauthorized {
					t.Errorf("the token is good: %s", r.Status)
				}
				if r := logIn(d, "the token of vi", "/"); r.StatusCode != http.StatusUnauthorized || len(r.Cookies()) != 0 {
					t.Errorf("it logs in: %s", r.Status)
				}
				for range lines {
				}
				if ctx.Err() != nil {
					t.Error("the stream goes on")
				}
				if r := ask(d, "GET", "/", cookie(other)); r.StatusCode != http.StatusOK {
					t.Errorf("another login ended too: %s", r.Status)
				}
			})
		})
	}
	// The same token for another role or limit is another login: such an entry cannot be made by
	// the command, but may be restored.
	e := people.Entry{Person: vi, Hash: people.Hash("t")}
	for _, now := range []people.Entry{
		{Person: people.Person{Name: "vi", Role: people.Operator}, Hash: e.Hash}, {Person: people.Person{Name: "vi", Role: people.Viewer, Studies: []proposal.Digest{{1}}}, Hash: e.Hash},
	} {
		if e.Same(now) || !e.Same(e) {
			t.Errorf("%+v is the same", now)
		}
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
	// A token that is shown with a request is paced alike, and the right one is let in.
	shown := func(token string) int {
		return ask(d, "GET", "/metrics", func(r *http.Request) { r.RemoteAddr = "192.0.2.9:1"; showing(token)(r) }).StatusCode
	}
	for range wrongBurst {
		if got := shown("wrong"); got != http.StatusUnauthorized {
			t.Errorf("a wrong token that is shown: %d", got)
		}
	}
	if got := shown("wrong"); got != http.StatusTooManyRequests || shown(goodToken) != http.StatusOK {
		t.Errorf("one too many: %d, and the right one then: %d", got, shown(goodToken))
	}
	for i := range maxWrongHosts + 50 {
		from(fmt.Sprintf("10.0.%d.%d:1", i/250, i%250), "wrong")
	}
	if n := len(d.paces.hosts); n > maxWrongHosts+1 {
		t.Errorf("%d hosts are counted", n)
	}
}
