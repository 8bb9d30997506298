package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"covey/internal/pki"
	"covey/internal/study"
)

// Holder is a site or an analyst that joined.
type Holder struct {
	Name     string    `json:"name"`
	Identity study.Key `json:"identity"`
	Joined   time.Time `json:"joined"`
	Token    string    `json:"token"` // hash of the one it joined with
	// TLS is the key of its certificates, so that those of an earlier membership of the name are
	// none of this one.
	TLS     study.Key `json:"tls,omitempty"`
	Revoked bool      `json:"revoked,omitempty"`
}

// party returns an analyst as proposals name it.
func (h Holder) party() study.Party { return study.Party{Name: h.Name, Identity: h.Identity} }

// roleNode is an Invite's for a new coordinator, which has no client certificate.
const roleNode pki.Role = "node"

// Invite is a join file given out and not yet used, for a site, an analyst or a new coordinator.
// Only the token's hash is kept.
type Invite struct {
	Site    string    `json:"site,omitempty"`
	Analyst string    `json:"analyst,omitempty"`
	Node    string    `json:"node,omitempty"`
	Expires time.Time `json:"expires"`
	// Again lets a holder that has joined join once more, with the identity key that it has.
	Again bool `json:"again,omitempty"`
}

// inviteOf returns an invite with a name alone.
func inviteOf(role pki.Role, name string) Invite {
	switch role {
	case pki.RoleSite:
		return Invite{Site: name}
	case pki.RoleAnalyst:
		return Invite{Analyst: name}
	}
	return Invite{Node: name}
}

// whose returns the role and the name that an invite is for.
func (i Invite) whose() (pki.Role, string) {
	switch {
	case i.Site != "":
		return pki.RoleSite, i.Site
	case i.Analyst != "":
		return pki.RoleAnalyst, i.Analyst
	}
	return roleNode, i.Node
}

type inviteEntry struct {
	Token string `json:"token"` // hash, hex
	Invite
}

// joinEntry spends a token; what of is the invite's to say.
type joinEntry struct {
	Token string    `json:"token"` // hash, hex
	Name  string    `json:"name"`
	Key   study.Key `json:"identity"`
	TLS   study.Key `json:"tls,omitempty"` // of the certificate that is given out
	Now   time.Time `json:"now"`           // the leader's, so that Apply needs no clock
}

// clientEntry is about a site or an analyst.
type clientEntry struct {
	Role pki.Role `json:"role"`
	Name string   `json:"name"`
}

// JoinError is a join that the registry refuses.
type JoinError struct {
	Name   string
	Reason string
}

func (e *JoinError) Error() string { return e.Reason }

// holders returns those of a role, by name; nil of another role.
func (m *replicated) holders(role pki.Role) map[string]Holder {
	switch role {
	case pki.RoleSite:
		return m.sites
	case pki.RoleAnalyst:
		return m.analysts
	}
	return nil
}

// roleOf returns the role of a name that joined; a name is of one.
func (m *replicated) roleOf(name string) pki.Role {
	if _, ok := m.analysts[name]; ok {
		return pki.RoleAnalyst
	}
	return pki.RoleSite
}

// vacant returns an error for a name that one of the other role has or had: a name stays one
// party's, on certificates, in rosters and in what people read.
func (m *replicated) vacant(role pki.Role, name string) error {
	for _, other := range []pki.Role{pki.RoleSite, pki.RoleAnalyst} {
		if _, taken := m.holders(other)[name]; taken && role != other && role != roleNode {
			return &JoinError{name, fmt.Sprintf("the name %q is of the %s that joined under it; choose another", name, other)}
		}
	}
	return nil
}

func (m *replicated) invite(e inviteEntry) error {
	role, name := e.whose()
	if err := m.vacant(role, name); err != nil {
		return err
	}
	// the newest alone lets in: an older one may be anywhere
	m.withdraw(role, name)
	m.invites[e.Token] = e.Invite
	return nil
}

// withdraw deletes the unused join files of a name.
func (m *replicated) withdraw(role pki.Role, name string) {
	maps.DeleteFunc(m.invites, func(_ string, i Invite) bool {
		r, n := i.whose()
		return r == role && n == name
	})
}

func (m *replicated) revoke(e clientEntry) error {
	h, ok := m.holders(e.Role)[e.Name]
	if !ok {
		return &JoinError{e.Name, fmt.Sprintf("no %s %.80q", e.Role, e.Name)}
	}
	h.Revoked = true
	m.holders(e.Role)[e.Name] = h
	m.withdraw(e.Role, e.Name)
	return nil
}

// joinable returns the role that a join is for, and reports whether it was taken before; the error
// is why it would be refused as the state is now.
func (m *Machine) joinable(e joinEntry) (role pki.Role, again bool, err error) {
	l := m.lock()
	defer m.unlock()
	return l.mayJoin(e)
}

func (m *replicated) join(e joinEntry) error {
	role, again, err := m.mayJoin(e)
	if again || err != nil {
		return err
	}
	delete(m.invites, e.Token)
	m.holders(role)[e.Name] = Holder{Name: e.Name, Identity: e.Key, TLS: e.TLS, Joined: e.Now, Token: e.Token}
	return nil
}

// mayJoin checks a join; again is one that was taken before: its reply was lost.
func (m *replicated) mayJoin(e joinEntry) (role pki.Role, again bool, err error) {
	for _, role := range []pki.Role{pki.RoleSite, pki.RoleAnalyst} {
		if h, ok := m.holders(role)[e.Name]; ok && h.Token == e.Token && bytes.Equal(h.Identity, e.Key) && bytes.Equal(h.TLS, e.TLS) && !h.Revoked {
			return role, true, nil
		}
	}
	refuse := func(format string, args ...any) (pki.Role, bool, error) {
		return "", false, &JoinError{e.Name, fmt.Sprintf(format, args...)}
	}
	invite, ok := m.invites[e.Token]
	role, name := invite.whose()
	switch {
	case len(e.Key) != ed25519.PublicKeySize:
		return refuse("whoever joins needs an identity key")
	case !ok:
		return refuse("this join file was already used, or was never given out here")
	case role == roleNode:
		return refuse("this join file is for a coordinator")
	case name != e.Name:
		return refuse("this join file is for %s %q", role, name)
	case e.Now.After(invite.Expires):
		return refuse("this join file expired on %s", invite.Expires.UTC().Format(time.RFC3339))
	}
	if err := m.vacant(role, name); err != nil { // the other one was quicker
		return "", false, err
	}
	if old, ok := m.holders(role)[name]; ok && !old.Revoked {
		if !invite.Again {
			return refuse("%s %q has already joined; revoke it first", role, name)
		}
		if !bytes.Equal(old.Identity, e.Key) {
			return refuse("this join file lets %s %q join again with the identity key that it has, and no other", role, name)
		}
	} else if invite.Again {
		return refuse("%s %q was revoked since; a new join file is needed", role, name)
	}
	return role, false, nil
}

// Holder returns a site or an analyst that joined.
func (m *Machine) Holder(role pki.Role, name string) (Holder, bool) {
	l := m.lock()
	defer m.unlock()
	h, ok := l.holders(role)[name]
	return h, ok
}

// Holders returns all of a role by name, and the pending invites of that role by name.
func (m *Machine) Holders(role pki.Role) (all []Holder, invited []Invite) {
	l := m.lock()
	defer m.unlock()
	for _, i := range l.invites {
		if r, _ := i.whose(); r == role {
			invited = append(invited, i)
		}
	}
	slices.SortFunc(invited, func(a, b Invite) int {
		_, x := a.whose()
		_, y := b.whose()
		return strings.Compare(x, y)
	})
	return byName(l.holders(role)), invited
}

func byName(all map[string]Holder) []Holder {
	return slices.SortedFunc(maps.Values(all), func(a, b Holder) int { return strings.Compare(a.Name, b.Name) })
}

// restoreHolders reads those of a snapshot.
func restoreHolders(into map[string]Holder, all []Holder) error {
	for _, h := range all {
		// or what is written of it is not read again
		if len(h.Identity) != ed25519.PublicKeySize {
			return fmt.Errorf("coordinator: snapshot: %q has no identity key", h.Name)
		}
		into[h.Name] = h
	}
	return nil
}
