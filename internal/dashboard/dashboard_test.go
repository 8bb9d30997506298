package dashboard

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/sheet"
)

// empty is a coordinator that knows nothing but its studies.
type empty struct {
	views   []outline.View
	changed chan struct{}
	crew    *crew
}

func (e *empty) Overview(int) outline.Overview {
	return outline.Overview{Leading: true, Studies: e.views, Expires: time.Now().Add(1000 * time.Hour), Key: "key-print", CA: "ca-print"}
}
func (e *empty) Story(proposal.Digest) (outline.Story, bool)    { return outline.Story{}, false }
func (e *empty) Result(proposal.Digest) (*result.Result, error) { return nil, errors.New("no") }
func (e *empty) ResultFile(proposal.Digest) (func(io.Writer) error, error) {
	return nil, errors.New("no")
}
func (e *empty) Changed() <-chan struct{} { return e.changed }

const goodToken = "the-token-of-these-tests-0123456789" // ana's, who is an operator

// crew is a register that a test changes.
type crew struct {
	mu sync.Mutex
	of people.Register
}

func (c *crew) now() people.Register {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of
}

// admit puts a person in, with a token if it is not empty, and returns the entry.
func (c *crew) admit(t testing.TB, p people.Person, token string) people.Entry {
	t.Helper()
	e := people.Entry{Person: p}
	if token != "" {
		e.Hash = people.Hash(token)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	if c.of, err = c.of.Put(e); err != nil {
		t.Fatal(err)
	}
	return e
}

func (c *crew) revoke(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of, _ = c.of.Remove(name)
}

// everything is what an operator sees.
func everything(d *Dashboard) sight { return d.sight(people.Person{Role: people.Operator}) }

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func newTest(t *testing.T) (*Dashboard, *empty, *clock) {
	source, now := &empty{changed: make(chan struct{}), crew: &crew{}}, &clock{at: time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	source.crew.admit(t, people.Person{Name: "ana", Role: people.Operator, Expires: now.at.Add(90 * 24 * time.Hour)}, goodToken)
	d := New(Options{
		Source: source, Cluster: func() Cluster {
			return Cluster{Self: "1", Leader: "1", Peers: []Peer{{Name: "1", Voter: true, Reached: true}}}
		},
		People: source.crew.now, Hosts: []string{"Covey.example"}, Logger: slog.New(slog.DiscardHandler), Now: now.now,
	})
	t.Cleanup(d.Close)
	return d, source, now
}

// ask makes one request; change may alter it.
func ask(d *Dashboard, method, target string, change func(*http.Request)) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "127.0.0.1:7480"
	r.Header.Set("Accept", "text/html")
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, r)
	return w.Result()
}

func showing(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

func logIn(d *Dashboard, token, next string) *http.Response {
	return ask(d, "POST", "/login", func(r *http.Request) {
		form := url.Values{"token": {token}, "next": {next}}
		r.Body = io.NopCloser(strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})
}

// TestWhoMaySee: nobody without a login, over any path; a login's cookie and the token do.
func TestWhoMaySee(t *testing.T) {
	d, _, now := newTest(t)
	digest := strings.Repeat("ab", 32)
	asked := 0
	for _, path := range []string{"/", "/studies/" + digest, "/studies/" + digest + "/report", "/studies/" + digest + "/result.json", "/events", "/metrics", "/nothing"} {
		if r := ask(d, "GET", path, nil); r.StatusCode != http.StatusSeeOther || !strings.HasPrefix(r.Header.Get("Location"), "/login") {
			t.Errorf("%s without a login: %s", path, r.Status)
		}
		for name, change := range map[string]func(*http.Request){
			"no token":    func(r *http.Request) { r.Header.Del("Accept") },
			"wrong token": func(r *http.Request) { r.Header.Del("Accept"); showing(goodToken + "x")(r) },
			"no bearer":   func(r *http.Request) { r.Header.Del("Accept"); r.Header.Set("Authorization", goodToken) },
			"empty token": func(r *http.Request) { r.Header.Del("Accept"); showing("")(r) },
		} {
			asked++
			r := ask(d, "GET", path, func(r *http.Request) {
				r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", asked) // each has its pace
				change(r)
			})
			if r.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with %s: %s", path, name, r.Status)
			}
		}
	}
	if r := ask(d, "GET", "/", showing(goodToken)); r.StatusCode != http.StatusOK {
		t.Errorf("the token itself: %s", r.Status)
	}
	r := logIn(d, goodToken[1:], "/")
	if r.StatusCode != http.StatusUnauthorized || len(r.Cookies()) != 0 {
		t.Errorf("a wrong token: %s, %v", r.Status, r.Cookies())
	}
	r = logIn(d, goodToken, "/studies/"+digest)
	if r.StatusCode != http.StatusSeeOther || r.Header.Get("Location") != "/studies/"+digest || len(r.Cookies()) != 1 {
		t.Fatalf("a login: %s to %s", r.Status, r.Header.Get("Location"))
	}
	c := r.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Secure || strings.Contains(c.Value, goodToken) {
		t.Errorf("the cookie: %v", c)
	}
	with := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookieName(r), Value: value}) }
	}
	if r := ask(d, "GET", "/", with(c.Value)); r.StatusCode != http.StatusOK {
		t.Errorf("a login's cookie: %s", r.Status)
	}
	for name, value := range map[string]string{
		"one digit less": c.Value[1:], "another digit": "x" + c.Value[1:], "another": strings.Repeat("00", 32), "none": "", "the token": goodToken,
		"of another coordinator": new(sessions).issue(d.people()[0], now.now()),
	} {
		if r := ask(d, "GET", "/", with(value)); r.StatusCode != http.StatusSeeOther {
			t.Errorf("a cookie with %s: %s", name, r.Status)
		}
	}
	for range lasting / idle {
		now.add(idle - time.Second)
		if r := ask(d, "GET", "/", with(c.Value)); r.StatusCode != http.StatusOK {
			t.Fatalf("a login in use after %v: %s", now.now(), r.Status)
		}
	}
	now.add(idle - time.Second) // it is not idle
	if r := ask(d, "GET", "/", with(c.Value)); r.StatusCode != http.StatusSeeOther {
		t.Errorf("a cookie past its end: %s", r.Status)
	}
	if r := ask(d, "POST", "/logout", nil); r.StatusCode != http.StatusSeeOther || r.Cookies()[0].MaxAge >= 0 {
		t.Errorf("a logout: %s", r.Status)
	}
}

// TestLoginGoesNowhereElse: the page that a login goes on to is this one's.
func TestLoginGoesNowhereElse(t *testing.T) {
	d, _, _ := newTest(t)
	for _, next := range []string{"//evil.example", "/studies/" + strings.Repeat("a", 64) + "/report/x", "https://evil.example/", "/\\evil.example", "/studies/../logout", "/logout", "/metrics", "javascript:alert(1)", "/studies/" + strings.Repeat("a", 63)} {
		if to := logIn(d, goodToken, next).Header.Get("Location"); to != "/" {
			t.Errorf("next=%s goes to %s", next, to)
		}
	}
}

// TestReadOnly: no method but GET (and HEAD) on anything, but for logging in and out, and
// those not from another site.
func TestReadOnly(t *testing.T) {
	d, _, _ := newTest(t)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		for _, path := range []string{"/", "/studies/" + strings.Repeat("ab", 32), "/events", "/metrics", "/studies/" + strings.Repeat("ab", 32) + "/result.json"} {
			if r := ask(d, method, path, showing(goodToken)); r.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %s", method, path, r.Status)
			}
		}
	}
	for _, path := range []string{"/login", "/logout"} {
		r := ask(d, "POST", path, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") })
		if r.StatusCode != http.StatusForbidden {
			t.Errorf("%s from another site: %s", path, r.Status)
		}
	}
}

// TestHost: a page elsewhere that gives its name this address is told no, even with a token.
func TestHost(t *testing.T) {
	d, _, _ := newTest(t)
	for host, want := range map[string]int{
		"127.0.0.1:7480": 200, "localhost": 200, "LOCALHOST:1": 200, "[::1]:7480": 200, "covey.example:7480": 200, "covey.example": 200,
		"evil.example": 421, "evil.example:7480": 421, "127.0.0.1.evil.example": 421, "": 421, "covey.example.": 421, "10.0.0.1": 421,
	} {
		if r := ask(d, "GET", "/", func(r *http.Request) { r.Host = host; showing(goodToken)(r) }); r.StatusCode != want {
			t.Errorf("Host %q: %s, want %d", host, r.Status, want)
		}
	}
}

// TestHeaders: on whatever is answered.
func TestHeaders(t *testing.T) {
	d, _, _ := newTest(t)
	for name, r := range map[string]*http.Response{
		"the page": ask(d, "GET", "/", showing(goodToken)), "the login": ask(d, "GET", "/login", nil), "a refusal": ask(d, "GET", "/metrics", func(r *http.Request) { r.Header.Del("Accept") }),
		"a wrong host": ask(d, "GET", "/", func(r *http.Request) { r.Host = "x" }), "the style": ask(d, "GET", "/style.css", nil), "nothing": ask(d, "GET", "/none", showing(goodToken)),
	} {
		csp := r.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy lacks %s", name, want)
			}
		}
		if strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") || strings.Contains(csp, "*") {
			t.Errorf("%s: the policy is loose: %s", name, csp)
		}
		for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin"} {
			if r.Header.Get(header) != want {
				t.Errorf("%s: %s is %q", name, header, r.Header.Get(header))
			}
		}
		if name != "the style" && r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s may be stored", name)
		}
	}
}

// TestCertificate: one of the operators' CA logs in the person of the register that it names, who
// logs in so, with what that person may see, until the register says otherwise; one that is a
// site's or a coordinator's does not, whoever signed it and whatever its name.
func TestCertificate(t *testing.T) {
	d, source, now := newTest(t)
	end := now.now().Add(24 * time.Hour)
	for _, name := range []string{"bo", "north", "2"} {
		source.crew.admit(t, people.Person{Name: name, Role: people.Operator, Certificate: true, Expires: end}, "")
	}
	source.crew.admit(t, people.Person{Name: "vi", Role: people.Viewer, Certificate: true, Expires: end}, "")
	source.crew.admit(t, people.Person{Name: "late", Role: people.Operator, Certificate: true, Expires: now.now()}, "")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "operators"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign}
	raw, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if ca, err = x509.ParseCertificate(raw); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(d.Handler())
	s.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: x509.NewCertPool()}
	s.TLS.ClientCAs.AddCert(ca)
	s.StartTLS()
	defer s.Close()
	get := func(path, name, uri string) *http.Response {
		t.Helper()
		config := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		if name != "" {
			leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
				ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
			if uri != "" {
				u, err := url.Parse(uri)
				if err != nil {
					t.Fatal(err)
				}
				leaf.URIs = []*url.URL{u}
			}
			raw, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), key)
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		defer client.CloseIdleConnections()
		r, err := client.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		if path == "/" && r.StatusCode == http.StatusOK && !strings.Contains(string(text), `<p class="user">`+name+"</p>") {
			t.Errorf("the page does not say that %s looks", name)
		}
		if r.Header.Get("Strict-Transport-Security") == "" {
			t.Error("over TLS without Strict-Transport-Security")
		}
		return r
	}
	for _, c := range []struct {
		path, name, uri string
		ok              bool
	}{
		{"/", "bo", "", true}, {"/metrics", "bo", "", true}, {"/", "vi", "", true}, {"/metrics", "vi", "", false},
		{"/", "late", "", false}, {"/", "nobody", "", false}, {"/", "", "", false},
		{"/", "ana", "", false}, // has a token, and no other way in
		{"/", "north", "covey://site/north", false}, {"/", "2", "covey://node/2", false},
	} {
		if r := get(c.path, c.name, c.uri); (r.StatusCode == http.StatusOK) != c.ok {
			t.Errorf("%+v: %s", c, r.Status)
		}
	}
	source.crew.revoke("bo")
	if r := get("/", "bo", ""); r.StatusCode == http.StatusOK {
		t.Errorf("who was revoked: %s", r.Status)
	}
	// A login over TLS is bound to this very host.
	r := ask(d, "POST", "/login", func(r *http.Request) {
		r.TLS = &tls.ConnectionState{}
		r.Body = io.NopCloser(strings.NewReader("token=" + goodToken))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})
	if c := r.Cookies(); len(c) != 1 || !c[0].Secure || c[0].Name != "__Host-covey-7480" {
		t.Errorf("cookies over TLS: %v", c)
	}
}

// stream opens /events and gives its lines; a closed channel is its end.
func stream(t *testing.T, c *http.Client, value string) (*http.Response, context.Context, <-chan string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", "http://127.0.0.1:7480/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.AddCookie(&http.Cookie{Name: cookieName(r), Value: value})
	answer, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	lines := make(chan string, 10_000)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(answer.Body); in.Scan(); {
			lines <- in.Text()
		}
	}()
	return answer, ctx, lines
}

// TestStreamsArePeoples: open streams are bounded, and one person, by however many
// logins, cannot take the others' places.
func TestStreamsArePeoples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, source, now := newTest(t)
		c := served(t, d)
		var open []<-chan string
		opens := func(value string, want int) {
			t.Helper()
			more, _, lines := stream(t, c, value)
			if more.StatusCode != want {
				t.Fatalf("%s, want %d", more.Status, want)
			}
			open = append(open, lines)
		}
		ana := d.people()[0]
		one, two := d.sessions.issue(ana, now.now()), d.sessions.issue(ana, now.now())
		for range personStreams / 2 {
			opens(one, http.StatusOK)
			opens(two, http.StatusOK)
		}
		opens(two, http.StatusServiceUnavailable)
		for i := range maxStreams/personStreams - 1 {
			e := source.crew.admit(t, people.Person{Name: fmt.Sprintf("vi%d", i), Role: people.Viewer, Expires: now.now().Add(time.Hour)}, fmt.Sprint(i))
			value := d.sessions.issue(e, now.now())
			for range personStreams {
				opens(value, http.StatusOK)
			}
		}
		last := d.sessions.issue(source.crew.admit(t, people.Person{Name: "zoe", Role: people.Viewer, Expires: now.now().Add(time.Hour)}, "zoe's"), now.now())
		opens(last, http.StatusServiceUnavailable)
		// A place is free again once its stream has ended.
		now.add(2 * time.Hour)
		for _, lines := range open {
			for range lines {
			}
		}
		if d.streams.count() > 0 || len(d.streams.of) > 0 {
			t.Errorf("%d streams are counted, of %v", d.streams.count(), d.streams.of)
		}
	})
}

// TestEvents: a stream shows the page, then what changes, and ends with its session.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _, now := newTest(t)
		c := served(t, d)
		value := d.sessions.issue(d.people()[0], now.now())
		answer, ctx, lines := stream(t, c, value)
		if answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%v", answer.Header)
		}
		if first := <-lines; first != "event: page" {
			t.Errorf("begins with %q", first)
		}
		for line := range lines {
			if line == "" {
				break
			}
			if !strings.HasPrefix(line, "data: ") {
				t.Fatalf("a line that is no data: %q", line)
			}
		}
		now.add(2 * time.Hour)
		for line := range lines {
			if strings.Contains(line, "event") {
				t.Error("an event after the session's end")
			}
		}
		if ctx.Err() != nil {
			t.Error("the stream did not end with its session")
		}
	})
}

func TestTolerates(t *testing.T) {
	for reached, want := range map[string]int{"1": 0, "11": 0, "10": -1, "111": 1, "110": 0, "100": -1, "11111": 2, "11110": 1, "11100": 0, "10000": -1, "11n": 0} {
		c := Cluster{}
		for _, r := range reached {
			c.Peers = append(c.Peers, Peer{Voter: r != 'n', Reached: r == '1'})
		}
		if got := c.Tolerates(); got != want {
			t.Errorf("%s: %d, want %d", reached, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{1e-6: "1e-6", 0.08815: "0.08815", 2: "2", 1e10: "1e10", 0.123456: "0.1235"} {
		if got := number(v); got != want {
			t.Errorf("%v: %s", v, got)
		}
	}
	for n, want := range map[int]string{1: "1", 999: "999", 10500: "10\u202f500", 1234567: "1\u202f234\u202f567"} {
		if got := sheet.Grouped(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]int{36 * time.Hour: 1, time.Hour: 0, -time.Hour: -1} {
		if got := daysLeft(now.Add(left), now); got != want {
			t.Errorf("%v: %d days", left, got)
		}
	}
}
