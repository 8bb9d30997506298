package dashboard

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"covey/internal/people"
)

// visitor is who asks: a person of the register as it is now.
type visitor struct {
	people.Entry
	// cookie is the value of a login's cookie; empty where the visitor shows a token or a
	// certificate.
	cookie string
}

// visitor finds who asks: by certificate, by token, or by a login. For each request anew, so that
// nobody is served whom the register does not have as it was when the login was made, or whose time
// is over.
func (d *Dashboard) visitor(r *http.Request) (v visitor, ok bool) {
	register, now := d.people(), d.now()
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		leaf := r.TLS.VerifiedChains[0][0]
		// Sites and coordinators have certificates of the federation; they are no people.
		for _, uri := range leaf.URIs {
			if uri.Scheme == "covey" {
				return visitor{}, false
			}
		}
		if e, known := register.Named(leaf.Subject.CommonName); known && e.Certificate && now.Before(e.Expires) {
			return visitor{Entry: e}, true
		}
	}
	if token, shown := bearer(r); shown {
		e, known := register.Holder(token)
		return visitor{Entry: e}, known && now.Before(e.Expires)
	}
	// On plain HTTP a page of another port can set more cookies of this name, which browsers may
	// send first.
	for _, c := range r.CookiesNamed(cookieName(r)) {
		as, known := d.sessions.find(c.Value, now)
		if !known {
			continue
		}
		e, known := register.Named(as.Name)
		if !known || !as.Same(e) || !now.Before(e.Expires) {
			d.sessions.end(c.Value)
			continue
		}
		return visitor{e, c.Value}, true
	}
	return visitor{}, false
}

// bearer returns the token that a request shows, without its spaces.
func bearer(r *http.Request) (token string, shown bool) {
	token, shown = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return strings.TrimSpace(token), shown
}

// ours are the paths that a login goes on to: no other site, and nothing that acts.
var ours = regexp.MustCompile(`^/(studies/[0-9a-f]{64}(/report)?)?$`)

// refuse answers who is not logged in.
func (d *Dashboard) refuse(w http.ResponseWriter, r *http.Request) {
	_, shown := bearer(r)
	if shown && !d.wrong(w, r) {
		return
	}
	if !shown && r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		to := "/login"
		if r.URL.Path != "/" && ours.MatchString(r.URL.Path) {
			to += "?next=" + r.URL.Path
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "log in at /login, or send your token: Authorization: Bearer TOKEN", http.StatusUnauthorized)
}

// wrong counts a token that is nobody's. Past the pace it answers, and returns false.
func (d *Dashboard) wrong(w http.ResponseWriter, r *http.Request) bool {
	unlogged, ok := d.paces.wrong(r.RemoteAddr, d.now())
	if !ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(wrongEvery/time.Second)))
		http.Error(w, "too many wrong logins from this address: wait, then log in with your token", http.StatusTooManyRequests)
		return false
	}
	d.log.Warn("dashboard: a login was refused", "from", r.RemoteAddr, "more_unlogged", unlogged)
	return true
}

type loginModel struct {
	Next  string
	Wrong bool
}

func (d *Dashboard) loginPage(w http.ResponseWriter, r *http.Request, _ visitor) {
	if v, ok := d.visitor(r); ok && v.Role != people.Metrics {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	d.render(w, http.StatusOK, "login", loginModel{Next: next(r.URL.Query().Get("next"))})
}

func next(path string) string {
	if ours.MatchString(path) {
		return path
	}
	return "/"
}

// maxLogin bounds what is read of a login.
const maxLogin = 4 << 10

// login makes one of a token. A token that is wrong, has ended or was revoked, and a program's, are
// answered alike.
func (d *Dashboard) login(w http.ResponseWriter, r *http.Request, _ visitor) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	to, now := next(r.PostFormValue("next")), d.now()
	e, known := d.people().Holder(strings.TrimSpace(r.PostFormValue("token")))
	if !known || !now.Before(e.Expires) || e.Role == people.Metrics {
		if d.wrong(w, r) {
			d.render(w, http.StatusUnauthorized, "login", loginModel{Next: to, Wrong: true})
		}
		return
	}
	d.log.Info("dashboard: logged in", "person", e.Name, "role", e.Role, "from", r.RemoteAddr)
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: d.sessions.issue(e, now), Path: "/", Expires: now.Add(lasting),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// logout ends the login here, whatever becomes of the browser's cookie and its copies.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request, _ visitor) {
	for _, c := range r.CookiesNamed(cookieName(r)) {
		d.sessions.end(c.Value)
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
