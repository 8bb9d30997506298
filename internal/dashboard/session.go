package dashboard

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// session knows the token by its hash alone, and the logins that are good by a keyed hash of their
// cookies: nothing here logs anybody in. A login ends at its time, when it is logged out, when the
// process ends, or when maxSessions newer ones are there: whoever holds a copy of its cookie sees
// nothing after that.
type session struct {
	hash [sha256.Size]byte
	key  []byte

	mu   sync.Mutex
	open map[[sha256.Size]byte]time.Time // ends
}

// lasting is how long a login is good for; maxSessions are good at a time.
const (
	lasting     = 12 * time.Hour
	maxSessions = 64
)

func newSession(token string) *session {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("covey dashboard session v1"))
	return &session{hash: sha256.Sum256([]byte(token)), key: mac.Sum(nil)}
}

// String keeps the key out of logs.
func (*session) String() string   { return "[redacted]" }
func (*session) GoString() string { return "[redacted]" }

// matches takes as long for a token that is wrong in its last byte as in its first.
func (s *session) matches(token string) bool {
	hash := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(hash[:], s.hash[:]) == 1
}

// issue returns the cookie's value of a new login: 256 random bits.
func (s *session) issue(end time.Time) string {
	var raw [32]byte
	rand.Read(raw[:]) // never fails: the process ends instead
	value := hex.EncodeToString(raw[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]time.Time{}
	}
	if len(s.open) >= maxSessions {
		var soonest [sha256.Size]byte
		for id, at := range s.open {
			if first, ok := s.open[soonest]; !ok || at.Before(first) {
				soonest = id
			}
		}
		delete(s.open, soonest)
	}
	s.open[s.sign(value)] = end
	return value
}

func (s *session) sign(value string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(value))
	return [sha256.Size]byte(mac.Sum(nil))
}

// until returns the end of the login of a cookie's value; zero if there is none.
func (s *session) until(value string) time.Time {
	id := s.sign(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// end ends the login of a cookie's value.
func (s *session) end(value string) {
	id := s.sign(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// cookieName has, over TLS, the prefix by which browsers hold it to this very host.
func cookieName(r *http.Request) string {
	if r.TLS != nil {
		return "__Host-covey"
	}
	return "covey"
}

// operator names who asks, "" for nobody who may: by certificate, by a login, or by
// the token itself.
func (d *Dashboard) operator(r *http.Request) string {
	if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		leaf := r.TLS.VerifiedChains[0][0]
		// Sites and coordinators have certificates of the federation; they are no operators.
		for _, uri := range leaf.URIs {
			if uri.Scheme == "covey" {
				return ""
			}
		}
		if name := leaf.Subject.CommonName; name != "" {
			return name
		}
	}
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && d.session.matches(strings.TrimSpace(token)) {
		return "token"
	}
	if d.sessionEnd(r).After(d.now()) {
		return "token"
	}
	return ""
}

func (d *Dashboard) sessionEnd(r *http.Request) time.Time {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return time.Time{}
	}
	return d.session.until(c.Value)
}

// ours are the paths that a login goes on to: no other site, and nothing that acts.
var ours = regexp.MustCompile(`^/(studies/[0-9a-f]{64}(/report)?)?$`)

func (d *Dashboard) toLogin(w http.ResponseWriter, r *http.Request) {
	to := "/login"
	if r.URL.Path != "/" && ours.MatchString(r.URL.Path) {
		to += "?next=" + r.URL.Path
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

type loginModel struct {
	Next  string
	Wrong bool
}

func (d *Dashboard) loginPage(w http.ResponseWriter, r *http.Request) {
	if d.operator(r) != "" {
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

func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	to := next(r.PostFormValue("next"))
	if !d.session.matches(strings.TrimSpace(r.PostFormValue("token"))) {
		unlogged, ok := d.paces.wrong(r.RemoteAddr, d.now())
		if !ok {
			w.Header().Set("Retry-After", strconv.Itoa(int(wrongEvery/time.Second)))
			http.Error(w, "too many wrong logins from this address: wait, then log in with the token of dashboard.token", http.StatusTooManyRequests)
			return
		}
		d.log.Warn("dashboard: a login was refused", "from", r.RemoteAddr, "more_unlogged", unlogged)
		d.render(w, http.StatusUnauthorized, "login", loginModel{Next: to, Wrong: true})
		return
	}
	d.log.Info("dashboard: logged in", "from", r.RemoteAddr)
	end := d.now().Add(lasting)
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: d.session.issue(end), Path: "/", Expires: end,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// logout ends the login here, whatever becomes of the browser's cookie and its copies.
func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		d.session.end(c.Value)
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
