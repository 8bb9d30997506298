package dashboard

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// session knows the token by its hash alone, and signs cookies with a key that comes from
// it: another token ends every session, and a restart ends none.
type session struct {
	hash [sha256.Size]byte
	key  []byte
}

// lasting is how long a login is good for.
const lasting = 12 * time.Hour

func newSession(token string) session {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("covey dashboard session v1"))
	return session{sha256.Sum256([]byte(token)), mac.Sum(nil)}
}

// String keeps the key out of logs.
func (session) String() string   { return "[redacted]" }
func (session) GoString() string { return "[redacted]" }

// matches takes as long for a token that is wrong in its last byte as in its first.
func (s session) matches(token string) bool {
	hash := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(hash[:], s.hash[:]) == 1
}

// issue gives a cookie's value: the session's end, signed.
func (s session) issue(end time.Time) string {
	at := strconv.FormatInt(end.Unix(), 10)
	return at + "." + hex.EncodeToString(s.sign(at))
}

func (s session) sign(at string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(at))
	return mac.Sum(nil)
}

// until gives the end of the session of a cookie's value; zero if it is none of ours.
func (s session) until(value string) time.Time {
	at, mac, _ := strings.Cut(value, ".")
	raw, err := hex.DecodeString(mac)
	if err != nil || !hmac.Equal(raw, s.sign(at)) {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
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
var ours = regexp.MustCompile(`^/(studies/[0-9a-f]{64})?$`)

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
		d.log.Warn("dashboard: a login was refused", "from", r.RemoteAddr)
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

func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
