// Package people keeps who may log in at the coordinators' pages, and what each may see there. The
// register is in the coordinators' log, so every page takes the same logins. It holds no token,
// only hashes, and reads no clock: the caller compares Expires with its own.
package people

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
)

// Role is what a person may see.
type Role string

const (
	// Viewer sees studies and results, all or some, and nothing of links, coordinators and logs.
	Viewer Role = "viewer"
	// Operator sees all that the page shows.
	Operator Role = "operator"
	// Metrics reads /metrics alone: a program's.
	Metrics Role = "metrics"
)

// Roles are all there are.
var Roles = []Role{Viewer, Operator, Metrics}

// Bounds of a register.
const (
	maxPeople  = 200
	MaxStudies = 100                  // that a viewer is limited to
	MaxValid   = 366 * 24 * time.Hour // of a login
)

// Person is somebody, or a program, that may log in until Expires.
type Person struct {
	Name string `json:"name"` // as pki.ValidName takes it
	Role Role   `json:"role"`
	// Studies are all that a viewer sees; every study where it is empty.
	Studies []proposal.Digest `json:"studies,omitempty"`
	Expires time.Time         `json:"expires"`
	// Certificate is set for a person who has no token and logs in with a client certificate of the
	// operators' CA, in which Name is the common name.
	Certificate bool `json:"certificate,omitempty"`
}

// Sees reports whether the person's role and limits allow to see a study, known or not.
func (p Person) Sees(d proposal.Digest) bool {
	switch p.Role {
	case Operator:
		return true
	case Viewer:
		return len(p.Studies) == 0 || slices.Contains(p.Studies, d)
	}
	return false
}

// Entry is a person with the hash of its token, in hex: 64 digits, or none where it has a
// certificate.
type Entry struct {
	Person
	Hash string `json:"hash,omitempty"`
}

// Same reports whether a login made as e is still good as now: by the same token, for the same.
func (e Entry) Same(now Entry) bool {
	return e.Name == now.Name && e.Hash == now.Hash && e.Certificate == now.Certificate && e.Role == now.Role && slices.Equal(e.Studies, now.Studies)
}

// Error is what is wrong with a person.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

func bad(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// check holds an entry to its bounds, so that what the log holds can be written and read again.
func (e Entry) check() error {
	if err := pki.ValidName(e.Name); err != nil {
		return err
	}
	raw, err := hex.DecodeString(e.Hash)
	switch {
	case !slices.Contains(Roles, e.Role):
		return bad("role %.20q: must be viewer, operator or metrics", e.Role)
	case len(e.Studies) > 0 && e.Role != Viewer:
		return bad("a limit to some studies is a viewer's: %s is %s", e.Name, e.Role)
	case len(e.Studies) > MaxStudies:
		return bad("%d studies: a viewer is limited to at most %d", len(e.Studies), MaxStudies)
	case e.Certificate && e.Hash != "":
		return bad("%s has a certificate and a token: one person has one way in", e.Name)
	case !e.Certificate && (err != nil || len(raw) != sha256.Size || hex.EncodeToString(raw) != e.Hash):
		return bad("%s has no token", e.Name)
	}
	return nil
}

// Register is the people in the order of their names, each once. It is never changed in place: a
// copy of it stays what it is.
type Register []Entry

func byName(e Entry, name string) int { return cmp.Compare(e.Name, name) }

// Put returns the register with a person in it, replacing whoever had the name before.
func (r Register) Put(e Entry) (Register, error) {
	if err := e.check(); err != nil {
		return r, err
	}
	at, known := slices.BinarySearchFunc(r, e.Name, byName)
	if known {
		out := slices.Clone(r)
		out[at] = e
		return out, nil
	}
	if len(r) >= maxPeople {
		return r, bad("%d people may log in, and more cannot: revoke those whose logins have ended (coordinator page list)", maxPeople)
	}
	return slices.Concat(r[:at], Register{e}, r[at:]), nil
}

// Remove returns the register without a person.
func (r Register) Remove(name string) (Register, error) {
	at, known := slices.BinarySearchFunc(r, name, byName)
	if !known {
		return r, bad("nobody named %.80q may log in at the page: `coordinator page list` lists who may", name)
	}
	return slices.Concat(r[:at], r[at+1:]), nil
}

// Check returns an [*Error] for a register that Put could not have made.
func (r Register) Check() error {
	if len(r) > maxPeople {
		return bad("%d people, more than %d", len(r), maxPeople)
	}
	for i, e := range r {
		if err := e.check(); err != nil {
			return err
		}
		if i > 0 && r[i-1].Name >= e.Name {
			return bad("%s is not in the order of the names", e.Name)
		}
	}
	return nil
}

// Named returns the person of a name.
func (r Register) Named(name string) (Entry, bool) {
	at, known := slices.BinarySearchFunc(r, name, byName)
	if !known {
		return Entry{}, false
	}
	return r[at], true
}

// Holder returns whose token it is. It takes as long for every token that is wrong.
func (r Register) Holder(token string) (holder Entry, known bool) {
	hash := []byte(Hash(token))
	for _, e := range r {
		if subtle.ConstantTimeCompare(hash, []byte(e.Hash)) == 1 {
			holder, known = e, true
		}
	}
	return holder, known
}

// Text returns the form in which a person has a token, and shows it.
func Text(t pki.Token) string { return base64.RawURLEncoding.EncodeToString(t.Bytes()) }

// Hash returns what the register keeps of a token's text, under a label of its own: no join file's
// token is one. The token is uniform in 2^256, so no salt and no stretching is called for.
func Hash(token string) string {
	hash := sha256.Sum256([]byte("covey page token v1\x00" + token))
	return hex.EncodeToString(hash[:])
}
