// Package sitepage is a site's page for the person who decides there: what is proposed in plain
// words, with this site's own figures, budgets, studies, and what left. It holds no key and no
// rows: it asks the running agent, as the commands do.
//
// Who may see it has come in by a link that the terminal printed, good once. A cookie is not enough
// to decide: browsers send it to every port of this machine, where other people's programs may
// listen. A decision also takes letters that the terminal alone shows.
package sitepage

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"covey/internal/agent"
	"covey/internal/doctor"
	"covey/internal/egress"
	"covey/internal/proposal"
	"covey/internal/sitedata"
	"covey/internal/style"
)

// Source is the site's running agent, and the files beside it.
type Source interface {
	Status(context.Context) (agent.Status, error)
	Studies(context.Context) ([]agent.StudyView, error)
	Study(context.Context, proposal.Digest) (agent.StudyDetail, error)
	Figures(context.Context, proposal.Digest) (sitedata.Figures, error)
	Approve(context.Context, proposal.Digest) error
	Reject(context.Context, proposal.Digest) error
	Ledger(context.Context) (agent.LedgerReply, error)
	Egress(context.Context) (egress.Reply, error)
	// Sent returns lines of the record of what left, as egress.Tail does.
	Sent(before int64, most int) ([]egress.Line, int64, error)
	// Checks are those of "agent check" that need neither keys nor network.
	Checks() ([]doctor.Finding, error)
}

// Options of a page. Address is what it is reached by, 127.0.0.1:PORT, and nothing else. Tell
// prints a line at the terminal.
type Options struct {
	Source  Source
	Address string
	Tell    func(string)
}

// Page serves one site's page to one browser.
type Page struct {
	source  Source
	address string
	tell    func(string)
	door    door
	// busy is held while checks read the data sets.
	busy sync.Mutex
	// deciding has room for the one form that is being decided on.
	deciding chan struct{}
}

// New makes a page.
func New(o Options) *Page {
	return &Page{source: o.Source, address: o.Address, tell: o.Tell, deciding: make(chan struct{}, 1)}
}

// Link returns a new link into the page, good once and for LinkFor. The one before is void.
func (p *Page) Link() string { return "http://" + p.address + "/enter/" + p.door.renew() }

// Handler serves the page.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	style.Serve(mux)
	mux.HandleFunc("GET /enter/{token}", p.enter)
	for pattern, view := range map[string]view{
		"GET /{$}":              p.list,
		"GET /studies/{digest}": p.study,
		"GET /budgets":          p.budgets,
		"GET /egress":           p.egress,
		"GET /checks":           p.checks,
	} {
		mux.HandleFunc(pattern, p.inside(view))
	}
	for pattern, view := range map[string]view{
		"POST /studies/{digest}": p.decide,
		"POST /checks":           p.check,
		"POST /leave":            p.leave,
	} {
		mux.HandleFunc(pattern, p.inside(p.ours(view)))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if r.Host != p.address {
			p.refuse(w, http.StatusMisdirectedRequest, "This page can be reached only by the address that the terminal printed.")
			return
		}
		// Another port of this machine is the same site to a browser, and another person's program
		// may listen there: what its pages ask for carries our cookie.
		switch r.Header.Get("Sec-Fetch-Site") {
		case "", "none", "same-origin":
		default:
			p.refuse(w, http.StatusForbidden, "Another page led here. Type or paste the link that the terminal printed.")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// policy lets the page load its own style and icon and post to its own forms; nothing else. There
// is no script.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func secure(h http.Header) {
	for name, value := range map[string]string{
		"Content-Security-Policy":      policy,
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
		"Cache-Control":                "no-store",
		// With no-referrer browsers send forms with "Origin: null". No other origin gets one
		// either.
		"Referrer-Policy": "same-origin",
	} {
		h.Set(name, value)
	}
}

// cookieName has the port: cookies of two pages on one machine do not replace each other.
func (p *Page) cookieName() string {
	return "covey-site-" + p.address[strings.LastIndexByte(p.address, ':')+1:]
}

// enter lets the browser in that has the link: it gets a cookie and an address without the token.
func (p *Page) enter(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet {
		p.refuse(w, http.StatusMethodNotAllowed, "The link is for a browser.")
		return
	}
	cookie, came := p.door.enter(r.PathValue("token"))
	switch came {
	case entryGood:
	case entryUsed:
		p.tell("The link was asked for a second time, and refused. If that was not you, somebody else has seen it: press Enter for a new one, and open it; that ends the session that is open.")
		fallthrough
	default:
		p.refuse(w, http.StatusForbidden, "This link is not valid, or no longer valid: each works once, for 60 seconds.")
		return
	}
	p.tell("The page is open in a browser. It closes after 15 minutes without a request, or with Ctrl-C here.")
	http.SetCookie(w, &http.Cookie{Name: p.cookieName(), Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// view answers a request of a session.
type view func(w http.ResponseWriter, r *http.Request, s *session)

// inside lets requests of the open session through.
func (p *Page) inside(next view) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// A page of another port can set more cookies of this name, which browsers may send first.
		var s *session
		for _, c := range r.CookiesNamed(p.cookieName()) {
			if s == nil {
				s = p.door.of(c.Value)
			}
		}
		if s == nil {
			p.refuse(w, http.StatusForbidden, "This page is closed: it closes after 15 minutes without a request, when the program ends, and when a newer link is opened.")
			return
		}
		next(w, r, s)
	}
}

// maxForm bounds what is read of a form, in bytes.
const maxForm = 8 << 10

// ours lets requests through that a form of this session's pages made: nothing else changes
// anything. A browser sets Origin and Sec-Fetch-Site, and no page can; the form's token is in no
// cookie.
func (p *Page) ours(next view) view {
	return func(w http.ResponseWriter, r *http.Request, s *session) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		var token string
		if r.ParseForm() == nil {
			token = r.PostForm.Get("form")
		}
		switch {
		case r.Header.Get("Origin") != "http://"+p.address:
		case r.Header.Get("Sec-Fetch-Site") != "same-origin":
		case !same(s.form, token):
		default:
			next(w, r, s)
			return
		}
		p.refuse(w, http.StatusForbidden, "Nothing was changed: this did not come from a form of this page. A browser that is older than 2023 cannot be used to decide.")
	}
}

// leave ends the session.
func (p *Page) leave(w http.ResponseWriter, _ *http.Request, s *session) {
	p.door.leave(s)
	http.SetCookie(w, &http.Cookie{Name: p.cookieName(), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	p.render(w, http.StatusOK, "closed", refusal{Text: "The page is closed."})
}

// back returns to a page after a form, so that a reload sends nothing again.
func back(w http.ResponseWriter, r *http.Request, id proposal.Digest) {
	http.Redirect(w, r, (&url.URL{Path: "/studies/" + id.String()}).String(), http.StatusSeeOther)
}
