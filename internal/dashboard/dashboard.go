// Package dashboard is one coordinator's page for people who watch: studies, rounds,
// sites, coordinators, what was spent and how to verify the result. It shows what
// internal/coordinator's Overview and Story hold, which is never un-noised, and changes
// nothing. It works without script; with it, the page renews itself over server-sent events.
//
// Who may see it: whoever shows an operator's certificate or has logged in with the token of
// the data folder. Everything but logging in and out is GET, the Host must be a configured one
// (so that a page elsewhere cannot reach this by rebinding a name), and the page may load
// nothing but its own files.
package dashboard

import (
	"bytes"
	"embed"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"covey/internal/coordinator"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/sheet"
)

// Source is the coordinator that is shown. *coordinator.Coordinator is one.
type Source interface {
	Overview(most int) coordinator.Overview
	Story(proposal.Digest) (coordinator.Story, bool)
	Result(proposal.Digest) (*result.Result, error)
	Changed() <-chan struct{}
}

// Cluster is the coordinators as one of them knows them.
type Cluster struct {
	Self   string
	Leader string // "" where none is known
	// Heard is when this one last heard from a leader, by its machine's clock; zero for never.
	// Behind is how many committed entries it knows of and does not show yet. Both are a
	// follower's.
	Heard  time.Time
	Behind int
	Peers  []Peer
}

// Peer is one coordinator.
type Peer struct {
	Name, Address string
	Voter         bool
	Reached       bool // over its port, when last tried; the asking one itself always
}

// Tolerates says how many coordinators more may fail before nothing goes on; -1 where most
// are already not reached.
func (c Cluster) Tolerates() int {
	voters, reached := 0, 0
	for _, p := range c.Peers {
		if p.Voter {
			voters++
			if p.Reached {
				reached++
			}
		}
	}
	return max(-1, reached-(voters/2+1))
}

// unreached names the voters that did not answer.
func (c Cluster) unreached() []string {
	var out []string
	for _, p := range c.Peers {
		if p.Voter && !p.Reached {
			out = append(out, p.Name)
		}
	}
	return out
}

// Options of a dashboard.
type Options struct {
	Source  Source
	Cluster func() Cluster
	// Token logs in. Hosts are the names, without port, that the page is reached by, beside
	// localhost, 127.0.0.1 and ::1.
	Token string
	Hosts []string
	// Logger takes logins; Now is the wall clock, time.Now if nil.
	Logger *slog.Logger
	Now    func() time.Time
}

// Dashboard serves one coordinator's page.
type Dashboard struct {
	source  Source
	cluster func() Cluster
	hosts   map[string]bool
	session *session
	paces   paces
	log     *slog.Logger
	now     func() time.Time
	stop    chan struct{}
	once    sync.Once
	// weighing is held while what a result is worth is computed.
	weighing sync.Mutex
	cache    cache
	streams  streams
}

//go:embed static template
var files embed.FS

// New makes a dashboard.
func New(o Options) *Dashboard {
	d := &Dashboard{
		source: o.Source, cluster: o.Cluster, log: o.Logger, now: o.Now, session: newSession(o.Token),
		hosts: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}, stop: make(chan struct{}),
	}
	if d.now == nil {
		d.now = time.Now
	}
	for _, h := range o.Hosts {
		d.hosts[strings.ToLower(strings.Trim(h, "[]"))] = true
	}
	return d
}

// Close ends open streams.
func (d *Dashboard) Close() { d.once.Do(func() { close(d.stop) }) }

// Handler serves the page, its files, /metrics, results and logging in.
func (d *Dashboard) Handler() http.Handler {
	private := http.NewServeMux()
	private.HandleFunc("GET /{$}", d.page)
	private.HandleFunc("GET /studies/{digest}", d.page)
	private.HandleFunc("GET /studies/{digest}/report", d.report)
	private.HandleFunc("GET /studies/{digest}/result.json", d.result)
	private.HandleFunc("GET /events", d.events)
	private.Handle("GET /metrics", promhttp.HandlerFor(d.registry(), promhttp.HandlerOpts{MaxRequestsInFlight: 4}))

	mux := http.NewServeMux()
	for _, name := range []string{"style.css", "page.js", "icon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, files, "static/"+name)
		})
	}
	mux.HandleFunc("GET /report.css", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "report.css", time.Time{}, bytes.NewReader(sheet.Style()))
	})
	mux.HandleFunc("GET /login", d.loginPage)
	// Logging in and out are the only requests that change something: what the browser holds.
	same := http.NewCrossOriginProtection()
	mux.Handle("POST /login", same.Handler(http.HandlerFunc(d.login)))
	mux.Handle("POST /logout", same.Handler(http.HandlerFunc(d.logout)))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case d.operator(r) != "":
			private.ServeHTTP(w, r)
		case r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html"):
			d.toLogin(w, r)
		default:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "log in at /login, or send the token of dashboard.token: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header(), r.TLS != nil)
		if !d.hosts[hostname(r.Host)] {
			http.Error(w, "this name is not configured: `dashboard.hosts` in coordinator.toml lists the names that the page is reached by", http.StatusMisdirectedRequest)
			return
		}
		// A slow reader holds a connection no longer than this; events set their own.
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(30 * time.Second))
		mux.ServeHTTP(w, r)
	})
}

// policy lets the page load its own style, script and icon, listen to its own events and
// post to its own forms; nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func secure(h http.Header, tls bool) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
		"Cache-Control":                "no-store",
	} {
		h.Set(name, value)
	}
	if tls {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// hostname is a Host header without its port, in lower case.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// slowest is how many bytes a second a reader of a result has to take.
const slowest = 16 << 10

// result returns a completed study's result file, as `coordinator study result --json` does.
func (d *Dashboard) result(w http.ResponseWriter, r *http.Request) {
	digest, err := proposal.ParseDigest(r.PathValue("digest"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if _, ok := d.source.Story(digest); !ok {
		http.NotFound(w, r)
		return
	}
	result, err := d.source.Result(digest)
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		d.log.Error("a result does not encode", "study", digest, "error", err)
		http.Error(w, "the result does not encode", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Of a large study it is of many megabytes, and a tunnel can be slow.
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(30*time.Second + time.Duration(len(text))*time.Second/slowest))
	w.Header().Set("Content-Disposition", `attachment; filename="result-`+digest.String()[:12]+`.json"`)
	w.Write(append(text, '\n'))
}
