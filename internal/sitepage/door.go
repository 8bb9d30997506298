package sitepage

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"sync"
	"time"

	"covey/internal/proposal"
)

// Bounds on who may come in, and for how long.
const (
	LinkFor   = time.Minute      // a link is good, once
	idleFor   = 15 * time.Minute // a session is, since its last request
	maxWrong  = 3                // wrong letters, of all proposals, that end a session
	letterSet = "ABCDEFGHJKMNPQRSTUVWXYZ"
	letterLen = 4
)

// door knows one link at most and one session at most, each by the hash of its secret: who comes in
// by a new link ends the session that was. It is in memory alone and ends with the process.
type door struct {
	mu      sync.Mutex
	link    [sha256.Size]byte
	until   time.Time // zero once the link was used
	session *session
}

// session is one browser that came in by a link. Its fields are the door's, under its mutex, but
// for form, which does not change.
type session struct {
	cookie [sha256.Size]byte
	form   string // the token that its forms carry
	seen   time.Time
	wrong  int
	// letters are those that the terminal printed, until they were used.
	letters map[proposal.Digest]string
}

// String keeps secrets out of logs.
func (*door) String() string      { return "[redacted]" }
func (*door) GoString() string    { return "[redacted]" }
func (*session) String() string   { return "[redacted]" }
func (*session) GoString() string { return "[redacted]" }

// secret returns 256 random bits in hex.
func secret() string {
	var raw [32]byte
	rand.Read(raw[:]) // never fails: the process ends instead
	return hex.EncodeToString(raw[:])
}

// equal takes as long for a text that is wrong in its last byte as in its first.
func equal(hash [sha256.Size]byte, text string) bool {
	of := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(hash[:], of[:]) == 1
}

// renew returns the token of a new link; an older one that was not used is void.
func (d *door) renew() string {
	token := secret()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.link, d.until = sha256.Sum256([]byte(token)), time.Now().Add(LinkFor)
	return token
}

// entry is what came of a token.
type entry int

const (
	entryWrong entry = iota
	entryUsed        // it is the last link's, and was used
	entryLate
	entryGood
)

// enter uses a link's token and returns the cookie of a new session.
func (d *door) enter(token string) (cookie string, _ entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.link == [sha256.Size]byte{} || !equal(d.link, token):
		return "", entryWrong
	case d.until.IsZero():
		return "", entryUsed
	case !time.Now().Before(d.until):
		return "", entryLate
	}
	d.until = time.Time{}
	cookie = secret()
	d.session = &session{cookie: sha256.Sum256([]byte(cookie)), form: secret(), seen: time.Now(), letters: map[proposal.Digest]string{}}
	return cookie, entryGood
}

// of returns the session of a cookie, nil if the cookie is not the session's or the session was
// idle for too long. It counts as a request of the session.
func (d *door) of(cookie string) *session {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session
	if s == nil || !equal(s.cookie, cookie) {
		return nil
	}
	if time.Since(s.seen) >= idleFor {
		d.session = nil
		return nil
	}
	s.seen = time.Now()
	return s
}

// leave ends a session.
func (d *door) leave(s *session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session == s {
		d.session = nil
	}
}

// letters returns the letters for a decision on a proposal, and reports whether they are new: the
// terminal, and it alone, shows them then.
func (d *door) letters(s *session, id proposal.Digest) (letters string, fresh bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if letters, ok := s.letters[id]; ok {
		return letters, false
	}
	out := make([]byte, letterLen)
	for i := range out {
		out[i] = letterSet[below(len(letterSet))]
	}
	s.letters[id] = string(out)
	return string(out), true
}

// below returns a random number from 0 to n-1, n at most 256, each as likely.
func below(n int) int {
	var b [1]byte
	for {
		rand.Read(b[:])
		if int(b[0]) < 256/n*n {
			return int(b[0]) % n
		}
	}
}

// verdict is what came of typed letters.
type verdict int

const (
	lettersRight verdict = iota
	lettersWrong
	lettersNone // none were printed for the proposal, or they were used
	lettersOver // the session is: too many were wrong
)

// guess compares typed letters with those that the terminal printed for a proposal. The right ones
// are used up: of two requests with them one is taken.
func (d *door) guess(s *session, id proposal.Digest, typed string) verdict {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != s {
		return lettersOver
	}
	letters, ok := s.letters[id]
	switch {
	case !ok:
		return lettersNone
	case subtle.ConstantTimeCompare([]byte(letters), []byte(typed)) == 1:
		delete(s.letters, id)
		return lettersRight
	}
	if s.wrong++; s.wrong >= maxWrong {
		d.session = nil
		return lettersOver
	}
	return lettersWrong
}
