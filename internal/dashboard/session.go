package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"covey/internal/people"
)

// How long a login lasts: lasting in all, and idle without a request for anything but the stream,
// which a browser that nobody sits at keeps open. Of each person maxSessions are good at a time.
const (
	lasting     = 12 * time.Hour
	idle        = time.Hour
	maxSessions = 8
)

// sessions are the logins made here, by the hash of their cookies: nothing in it logs anybody in. A
// login ends at its time, when it is logged out, when newer ones of its person need its place, and
// with the process; and it is good for nothing once the register has another entry of its person,
// or none. So a coordinator needs no other one, and no leader, to log somebody in, and a revocation
// ends the logins at all of them.
type sessions struct {
	mu   sync.Mutex
	open map[[sha256.Size]byte]*login
}

// login is one: as whom, since when, and when it was last used.
type login struct {
	as          people.Entry
	began, used time.Time
}

func (l *login) over(now time.Time) bool {
	return now.Sub(l.began) >= lasting || now.Sub(l.used) >= idle
}

// String keeps what is here out of logs.
func (*sessions) String() string   { return "[redacted]" }
func (*sessions) GoString() string { return "[redacted]" }

func sessionID(value string) [sha256.Size]byte { return sha256.Sum256([]byte(value)) }

// issue returns the cookie's value of a new login: 256 random bits.
func (s *sessions) issue(as people.Entry, now time.Time) string {
	var raw [32]byte
	rand.Read(raw[:]) // never fails: the process ends instead
	value := hex.EncodeToString(raw[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[[sha256.Size]byte]*login{}
	}
	mine := 0
	var oldest [sha256.Size]byte
	for id, l := range s.open {
		if l.over(now) {
			delete(s.open, id)
			continue
		}
		if l.as.Name == as.Name {
			mine++
			if first, ok := s.open[oldest]; !ok || l.began.Before(first.began) {
				oldest = id
			}
		}
	}
	if mine >= maxSessions {
		delete(s.open, oldest)
	}
	s.open[sessionID(value)] = &login{as, now, now}
	return value
}

// find returns the person for whom the login of a cookie's value was made; ok is false where there
// is no such login, or it has ended.
func (s *sessions) find(value string, now time.Time) (as people.Entry, ok bool) {
	id := sessionID(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.open[id]
	if l == nil {
		return people.Entry{}, false
	}
	if l.over(now) {
		delete(s.open, id)
		return people.Entry{}, false
	}
	return l.as, true
}

// use notes that a login is not idle.
func (s *sessions) use(value string, now time.Time) {
	id := sessionID(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.open[id]; l != nil {
		l.used = now
	}
}

// end ends the login of a cookie's value.
func (s *sessions) end(value string) {
	id := sessionID(value)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}

// cookieName has the port by which the browser came: cookies of several coordinators' pages on one
// host, such as the ends of tunnels to them, do not replace each other. Over TLS it has the prefix
// by which browsers hold it to this very host.
func cookieName(r *http.Request) string {
	name := "covey"
	if r.TLS != nil {
		name = "__Host-covey"
	}
	if _, port, err := net.SplitHostPort(r.Host); err == nil && port != "" && strings.Trim(port, "0123456789") == "" {
		name += "-" + port
	}
	return name
}
