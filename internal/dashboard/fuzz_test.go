package dashboard

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"covey/internal/people"
	"covey/internal/proposal"
)

// FuzzCookie: a cookie's value is one that was issued, or nobody's.
func FuzzCookie(f *testing.F) {
	var s sessions
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	good := s.issue(people.Entry{Person: people.Person{Name: "ana"}}, now)
	f.Add(good)
	f.Add(strings.ToUpper(good))
	f.Add(".")
	f.Add("9223372036854775807." + strings.Repeat("0", 64))
	f.Fuzz(func(t *testing.T, value string) {
		if as, ok := s.find(value, now); ok != (value == good) || ok && as.Name != "ana" {
			t.Fatalf("%q is %q", value, as.Name)
		}
	})
}

// FuzzNext: a login goes on to a page of ours, whatever it is told.
func FuzzNext(f *testing.F) {
	for _, s := range []string{"/", "//evil.example", "/studies/" + strings.Repeat("a", 64), "/studies/" + strings.Repeat("a", 64) + "\n", `/\evil`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		to := next(path)
		if to == "/" {
			return
		}
		if _, err := proposal.ParseDigest(strings.TrimPrefix(to, "/studies/")); err != nil || to != path {
			t.Fatalf("%q goes on to %q", path, to)
		}
	})
}

// FuzzRequest asks for any path with any query, cookie and header: pages answer with a status that
// they know, and a request without the token sees none.
func FuzzRequest(f *testing.F) {
	known := "/studies/" + strings.Repeat("0", 64)
	for _, path := range []string{"/", "/login?next=//x", known, known + "/result", "/events?study=x", "/metrics", "/static/../x", "/%00", "/studies/%2e%2e"} {
		f.Add(path, "", "", false)
		f.Add(path, "covey=1.2", "127.0.0.1:7480", true)
	}
	source := &empty{changed: make(chan struct{}), crew: &crew{}}
	source.crew.admit(f, people.Person{Name: "ana", Role: people.Operator, Expires: time.Now().Add(time.Hour)}, goodToken)
	d := New(Options{Source: source, Cluster: func() Cluster { return Cluster{Self: "1"} }, People: source.crew.now, Hosts: []string{"Covey.example"}, Logger: slog.New(slog.DiscardHandler)})
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, target, cookie, host string, token bool) {
		at, err := url.ParseRequestURI(target)
		// a stream does not end
		if err != nil || !strings.HasPrefix(target, "/") || strings.HasPrefix(at.Path, "/events") && token {
			return
		}
		answer := ask(d, "GET", "/", func(r *http.Request) {
			r.URL, r.RequestURI = at, target
			r.Host = host
			r.Header.Set("Cookie", cookie)
			if token {
				showing(goodToken)(r)
			}
		})
		switch answer.StatusCode {
		case 200, 301, 303, 304, 307, 308, 400, 401, 403, 404, 405, 421:
		default:
			t.Fatalf("%q: %s", target, answer.Status)
		}
		if where := answer.Header.Get("Location"); strings.HasPrefix(where, "//") || strings.Contains(where, "://") {
			t.Fatalf("%q leads to %q", target, where)
		}
	})
}
