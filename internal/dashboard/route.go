package dashboard

import (
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"covey/internal/people"
	"covey/internal/proposal"
	"covey/internal/sheet"
	"covey/internal/style"
)

// route is one thing that is served, and to whom: to everybody if it is open, else to the roles
// named. A route that names none is served to nobody.
type route struct {
	pattern string
	open    bool
	roles   []people.Role
	serve   func(http.ResponseWriter, *http.Request, visitor)
}

func (d *Dashboard) routes() []route {
	readers := []people.Role{people.Operator, people.Viewer}
	// Logging in and out are the only requests that change something: what the browser holds.
	same := http.NewCrossOriginProtection()
	here := func(serve func(http.ResponseWriter, *http.Request, visitor)) func(http.ResponseWriter, *http.Request, visitor) {
		return func(w http.ResponseWriter, r *http.Request, v visitor) {
			same.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(w, r, v) })).ServeHTTP(w, r)
		}
	}
	metrics := promhttp.HandlerFor(d.registry(), promhttp.HandlerOpts{MaxRequestsInFlight: 4})
	out := []route{
		{pattern: "GET /{$}", roles: readers, serve: d.page},
		{pattern: "GET /studies/{digest}", roles: readers, serve: d.page},
		{pattern: "GET /studies/{digest}/report", roles: readers, serve: d.report},
		{pattern: "GET /studies/{digest}/result.json", roles: readers, serve: d.result},
		{pattern: "GET /events", roles: readers, serve: d.events},
		{pattern: "GET /metrics", roles: []people.Role{people.Operator, people.Metrics}, serve: func(w http.ResponseWriter, r *http.Request, v visitor) {
			d.read(v, "metrics", proposal.Digest{})
			metrics.ServeHTTP(w, r)
		}},
		{pattern: "GET /login", open: true, serve: d.loginPage},
		{pattern: "POST /login", open: true, serve: here(d.login)},
		{pattern: "POST /logout", open: true, serve: here(d.logout)},
		{pattern: "GET /report.css", open: true, serve: func(w http.ResponseWriter, r *http.Request, _ visitor) {
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeContent(w, r, "report.css", time.Time{}, bytes.NewReader(sheet.Style()))
		}},
	}
	serve := func(name string, of fs.FS, path string) {
		out = append(out, route{pattern: "GET /" + name, open: true, serve: func(w http.ResponseWriter, r *http.Request, _ visitor) {
			style.ServeFile(w, r, of, path)
		}})
	}
	serve("style.css", style.Files, "style.css")
	serve("icon.svg", style.Files, "icon.svg")
	serve("page.js", files, "static/page.js")
	return out
}

// visitorKey is the key in a request's context of who asks.
type visitorKey struct{}

// Handler serves the page, its files, /metrics, results and logging in. What a visitor may not see
// is answered as what is not there.
func (d *Dashboard) Handler() http.Handler {
	mux := http.NewServeMux()
	private := map[people.Role]*http.ServeMux{}
	for _, role := range people.Roles {
		private[role] = http.NewServeMux()
	}
	for _, o := range d.routes() {
		if o.open {
			mux.HandleFunc(o.pattern, func(w http.ResponseWriter, r *http.Request) { o.serve(w, r, visitor{}) })
			continue
		}
		for _, role := range o.roles {
			private[role].HandleFunc(o.pattern, func(w http.ResponseWriter, r *http.Request) {
				o.serve(w, r, r.Context().Value(visitorKey{}).(visitor))
			})
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		v, ok := d.visitor(r)
		if !ok {
			d.refuse(w, r)
			return
		}
		if v.cookie != "" && r.URL.Path != "/events" { // a stream asks by itself
			d.sessions.use(v.cookie, d.now())
		}
		private[v.Role].ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitorKey{}, v)))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A slow reader holds a connection no longer than this, whatever it asks for; events set
		// their own.
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(30 * time.Second))
		secure(w.Header(), r.TLS != nil)
		if !d.hosts[hostname(r.Host)] {
			http.Error(w, "this name is not configured: `dashboard.hosts` in coordinator.toml lists the names that the page is reached by", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// reads remembers what was logged, so that a page that renews itself is one line an hour.
type reads struct {
	mu     sync.Mutex
	logged map[string]time.Time
}

const (
	readEvery = time.Hour
	// keptReads bounds what is remembered. Beyond it all is forgotten, and lines come early.
	keptReads = 1 << 14
)

// read logs that a visitor was shown something, of a study or of none.
func (d *Dashboard) read(v visitor, what string, digest proposal.Digest) {
	key, now := v.Name+"\x00"+what+"\x00"+string(digest[:]), d.now()
	d.reads.mu.Lock()
	last, ok := d.reads.logged[key]
	if ok && now.Sub(last) < readEvery {
		d.reads.mu.Unlock()
		return
	}
	if d.reads.logged == nil || len(d.reads.logged) >= keptReads {
		d.reads.logged = map[string]time.Time{}
	}
	d.reads.logged[key] = now
	d.reads.mu.Unlock()
	line := d.log.With("person", v.Name, "role", v.Role, "what", what)
	if digest != (proposal.Digest{}) {
		line = line.With("study", digest)
	}
	line.Info("dashboard: read")
}
