// Package dashboard is one coordinator's page for people who watch: studies, rounds,
// sites, coordinators, what was spent and how to verify the result. It shows what
// internal/coordinator's Overview and Story hold, which is never un-noised, and changes
// nothing. It works without script; with it, the page renews itself over server-sent events.
//
// Who may see it: the people of the coordinators' register (internal/people), each what its role
// and limits allow (route.go, sight.go). Everything but logging in and out is GET, the Host must be
// a configured one (so that a page elsewhere cannot reach this by rebinding a name), and the page
// may load nothing but its own files.
//
// # Rules
//
// The rules of docs/protocol.md that this package keeps, at length.
//
//   - DASH-1, DASH-2: The page, its stream, `/metrics` and result files are served only to people
//     of the register that the coordinators' log carries, by a token, a login made with it, or a
//     certificate of the operators' CA that names a person who logs in so. A certificate of the
//     federation is nobody's, and its CA is not taken as the operators'.
//   - DASH-3: Requests for a Host that is not configured are refused before anything is read.
//   - DASH-4: All but logging in and out is GET, and those two are refused from another origin.
//   - DASH-5: Tokens do not travel in the clear beyond loopback unless the operator says that TLS
//     is in front.
//   - DASH-6: Pages, streams and metrics hold no un-noised value and no row.
//   - DASH-7: The event log's times are the leader's times of commits, which releases reach on the
//     tick, in replicas and snapshots too.
//   - DASH-8: A login ends when it is logged out (also for anybody else who has its cookie), an
//     hour after its last request other than a stream, and after 12 hours. It ends for every
//     request and event once the register no longer has its person, has another token, role or
//     limit for it, or its time is over. Of each person 8 are good at a time; one more ends the
//     oldest. A person has 16 streams at most, and all together 64.
//   - DASH-9: 10 wrong logins at once from one host (IPv6: one /64), and one every 6 s after that,
//     are answered and logged; others get 429 and no line. A right token is always let in. The
//     register and the log hold hashes alone; a token that is wrong, has ended or was revoked is
//     answered alike.
//   - DASH-10: A page that may be out of date says so first: a follower's that has not heard from
//     a leader for 5 s or has entries to read, and a browser's whose connection is lost or silent
//     for 40 s.
//   - DASH-11: A result whose bounds do not hold, are wide or do not exist is never shown as one
//     that holds; what speaks against it stands before its components. Nothing of a component that
//     cannot be told apart is shown unasked.
//   - DASH-12: Each route is served to the roles that it names, and one that names none to nobody.
//     What a person may not see is answered like what does not exist. A viewer sees no links,
//     coordinators, happenings, faults or deadlines, of codes only those of the schema and of
//     people's public acts, the sites that a query awaits only once its deadline has passed, and
//     all of it as of one moment in each ten seconds.
//   - DASH-13: Who was shown what of which study is a line of the log, at most once an hour,
//     without token or cookie.
package dashboard

import (
	"embed"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"covey/internal/outline"
	"covey/internal/people"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/result"
	"covey/internal/round"
)

// Source is the coordinator that is shown. *coordinator.Coordinator is one.
type Source interface {
	Overview(most int) outline.Overview
	Story(proposal.Digest) (outline.Story, bool)
	Result(proposal.Digest) (*result.Result, error)
	ResultFile(proposal.Digest) (func(io.Writer) error, error)
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
	// KeyExchange is that of the connections with it, zero if there is no connection.
	KeyExchange pki.KeyExchange
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
	// People may log in.
	People func() people.Register
	// Hosts are the names, without port, that the page is reached by, beside localhost, 127.0.0.1
	// and ::1.
	Hosts []string
	// Logger takes logins and who read what; Now is the wall clock, time.Now if nil.
	Logger *slog.Logger
	Now    func() time.Time
}

// Dashboard serves one coordinator's page.
type Dashboard struct {
	source   Source // of an operator's sight and of metrics alone
	cluster  func() Cluster
	people   func() people.Register
	hosts    map[string]bool
	sessions sessions
	paces    paces
	reads    reads
	coarse   coarse
	log      *slog.Logger
	now      func() time.Time
	stop     chan struct{}
	closed   bool // behind the cache's lock
	work     sync.WaitGroup
	// weighing is held while what a result is worth is computed, signing while one is made for a
	// download.
	weighing, signing sync.Mutex
	cache             cache
	streams           streams
}

//go:embed static template
var files embed.FS

// New makes a dashboard.
func New(o Options) *Dashboard {
	d := &Dashboard{
		source: o.Source, cluster: o.Cluster, people: o.People, log: o.Logger, now: o.Now,
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

// Close ends open streams and waits for what is computed meanwhile.
func (d *Dashboard) Close() {
	d.cache.mu.Lock()
	if !d.closed {
		close(d.stop)
	}
	d.closed = true // nothing more begins
	d.cache.mu.Unlock()
	d.work.Wait()
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

// paced writes a file of any length to a reader who may be slow: a tunnel can be.
type paced struct {
	http.ResponseWriter
	c    *http.ResponseController
	left int // until the deadline is set anew
}

func (p *paced) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		p.left = 30 * slowest
		p.c.SetWriteDeadline(time.Now().Add(30*time.Second + time.Duration(p.left+len(b))*time.Second/slowest))
	}
	return p.ResponseWriter.Write(b)
}

// slowest is how many bytes a second a reader of a result has to take.
const slowest = 16 << 10

// resultFile returns the name that a study's result file has where it is downloaded.
func resultFile(digest proposal.Digest) string { return "result-" + short(digest) + ".json" }

// result serves a completed study's result file, as `coordinator study result --json` does.
func (d *Dashboard) result(w http.ResponseWriter, r *http.Request, v visitor) {
	digest, err := proposal.ParseDigest(r.PathValue("digest"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	s := d.sight(v.Person)
	story, ok := s.story(digest)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if !s.whole && story.Status != round.StatusCompleted { // why it has none, an operator is told
		http.Error(w, "the study has no result", http.StatusConflict)
		return
	}
	d.signing.Lock() // each is made anew and signed: one at a time, however often people ask
	write, err := d.source.ResultFile(digest)
	d.signing.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	d.read(v, "result", digest)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="`+resultFile(digest)+`"`)
	if err := write(&paced{w, http.NewResponseController(w), 0}); err != nil {
		d.log.Error("a result was not given out whole", "study", digest, "error", err)
		panic(http.ErrAbortHandler) // it shows as cut off, not as a file
	}
}
