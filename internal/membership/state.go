// Package membership keeps who belongs to a federation, by the entries of the coordinators' log:
// sites and analysts that joined, join files that were given out, coordinators, and the CAs that
// vouch for them all. It is deterministic and reads no clock: the log's entries have the time.
package membership

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
)

// Holder is a site or an analyst that joined.
type Holder struct {
	Name     string       `json:"name"`
	Identity proposal.Key `json:"identity"`
	Joined   time.Time    `json:"joined"`
	Token    string       `json:"token"` // hash of the one it joined with
	// TLS is the key of its certificates, so that those of an earlier membership of the name do not
	// pass for this one's.
	TLS     proposal.Key `json:"tls,omitempty"`
	Revoked bool         `json:"revoked,omitempty"`
	// Until is when one that is revoked may be forgotten (State.Forgo); zero for never.
	Until time.Time `json:"until,omitzero"`
	// Past are the keys of earlier memberships of the name that were revoked.
	Past []proposal.Key `json:"past,omitempty"`
}

// spent returns all keys of the name that were revoked. A thief for whose sake one was may still
// have it.
func (h Holder) spent() []proposal.Key {
	if !h.Revoked {
		return h.Past
	}
	return append(slices.Clone(h.Past), h.Identity, h.TLS)
}

// Party returns an analyst as proposals name it.
func (h Holder) Party() proposal.Party { return proposal.Party{Name: h.Name, Identity: h.Identity} }

// RoleNode is an Invite's for a new coordinator, which has no client certificate.
const RoleNode pki.Role = "node"

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

// InviteOf returns an invite with a name alone.
func InviteOf(role pki.Role, name string) Invite {
	switch role {
	case pki.RoleSite:
		return Invite{Site: name}
	case pki.RoleAnalyst:
		return Invite{Analyst: name}
	}
	return Invite{Node: name}
}

// Whose returns the role and the name that an invite is for.
func (i Invite) Whose() (pki.Role, string) {
	switch {
	case i.Site != "":
		return pki.RoleSite, i.Site
	case i.Analyst != "":
		return pki.RoleAnalyst, i.Analyst
	}
	return RoleNode, i.Node
}

// InviteEntry is a join file given out.
type InviteEntry struct {
	Token string `json:"token"` // hash, hex
	Invite
}

// JoinEntry spends a token; what of is the invite's to say.
type JoinEntry struct {
	Token string       `json:"token"` // hash, hex
	Name  string       `json:"name"`
	Key   proposal.Key `json:"identity"`
	TLS   proposal.Key `json:"tls,omitempty"` // of the certificate that is given out
	Now   time.Time    `json:"now"`           // the leader's, so that Apply needs no clock
}

// ClientEntry is about a site or an analyst.
type ClientEntry struct {
	Role pki.Role `json:"role"`
	Name string   `json:"name"`
}

// JoinError is a join, or a request about one, that the registry refuses.
type JoinError struct {
	Reason string
}

func (e *JoinError) Error() string { return e.Reason }

// State is who belongs to a federation.
type State struct {
	Invites map[string]Invite `json:"invites"` // by token hash, hex
	Sites   map[string]Holder `json:"sites"`   // by name
	// Analysts, by name; no name is also a site's.
	Analysts map[string]Holder `json:"analysts"`
	Nodes    map[string]Node   `json:"nodes"`        // coordinators, by ID
	Changes  uint64            `json:"node_changes"` // entries that changed Nodes
	CAs      Authorities       `json:"authorities,omitzero"`
}

// New returns the state of a federation that nobody has joined.
func New() State {
	return State{Invites: map[string]Invite{}, Sites: map[string]Holder{}, Analysts: map[string]Holder{}, Nodes: map[string]Node{}}
}

// Clone returns a copy that later entries do not change.
func (s State) Clone() State {
	s.Invites, s.Sites, s.Analysts, s.Nodes = maps.Clone(s.Invites), maps.Clone(s.Sites), maps.Clone(s.Analysts), maps.Clone(s.Nodes)
	return s
}

// Check makes a state that was read usable, or says what no entries lead to.
func (s *State) Check() error {
	empty := New()
	for _, all := range []*map[string]Holder{&s.Sites, &s.Analysts} {
		if *all == nil {
			*all = map[string]Holder{}
		}
		for name, h := range *all {
			if len(h.Identity) != ed25519.PublicKeySize || h.Name != name { // or a written state could not be read again
				return fmt.Errorf("%q has no identity key, or another name", name)
			}
		}
	}
	for name := range s.Sites {
		if _, twice := s.Analysts[name]; twice {
			return fmt.Errorf("%q is a site and an analyst", name)
		}
	}
	if s.Invites == nil {
		s.Invites = empty.Invites
	}
	if s.Nodes == nil {
		s.Nodes = empty.Nodes
	}
	return nil
}

// Holders returns those of a role, by name; nil of another role.
func (s *State) Holders(role pki.Role) map[string]Holder {
	switch role {
	case pki.RoleSite:
		return s.Sites
	case pki.RoleAnalyst:
		return s.Analysts
	}
	return nil
}

// RoleOf returns the role of a name that joined; a name has only one.
func (s *State) RoleOf(name string) pki.Role {
	if _, ok := s.Analysts[name]; ok {
		return pki.RoleAnalyst
	}
	return pki.RoleSite
}

// Is reports whether a roster's member is the site that has its name now: the name may have joined
// again with another key.
func (s *State) Is(member proposal.Member) bool {
	h, ok := s.Sites[member.Name]
	return ok && bytes.Equal(h.Identity, member.Identity)
}

// Barred returns why a roster's member cannot come back to its studies; empty if it can.
func (s *State) Barred(member proposal.Member) string {
	switch {
	case !s.Is(member):
		return "other key"
	case s.Sites[member.Name].Revoked:
		return "revoked"
	}
	return ""
}

// MayInvite checks a join file that is to be given out to a site or an analyst: again is for one
// that has joined.
func (s *State) MayInvite(role pki.Role, name string, again bool) error {
	if err := s.vacant(role, name); err != nil {
		return err
	}
	old, ok := s.Holders(role)[name]
	switch known := ok && !old.Revoked; {
	case known && !again:
		return &JoinError{Reason: fmt.Sprintf("%s %q has already joined; revoke it first, or give --again to keep its identity key", role, name)}
	case !known && again:
		return &JoinError{Reason: fmt.Sprintf("%s %q has not joined, or was revoked: it cannot join again; leave --again out", role, name)}
	}
	return nil
}

// maxInvite bounds how long a join file may be good for.
const maxInvite = 30 * 24 * time.Hour

// CheckValid returns an error unless a join file may be good for so long.
func CheckValid(valid time.Duration) error {
	if valid <= 0 || valid > maxInvite {
		return &JoinError{Reason: fmt.Sprintf("a join file is valid for more than 0 and at most %v, not %v", maxInvite, valid)}
	}
	return nil
}

// vacant returns an error for a name that one of the other role has or had: a name stays one
// party's, on certificates, in rosters and in what people read.
func (s *State) vacant(role pki.Role, name string) error {
	for _, other := range []pki.Role{pki.RoleSite, pki.RoleAnalyst} {
		if _, taken := s.Holders(other)[name]; taken && role != other && role != RoleNode {
			return &JoinError{Reason: fmt.Sprintf("the name %q already belongs to a %s; choose another", name, other)}
		}
	}
	return nil
}

// Invite records a join file that is given out.
func (s *State) Invite(e InviteEntry) error {
	role, name := e.Whose()
	if err := s.vacant(role, name); err != nil {
		return err
	}
	// the newest alone lets in: an older one may be anywhere
	s.Withdraw(role, name)
	s.Invites[e.Token] = e.Invite
	return nil
}

// Withdraw deletes the unused join files of a name.
func (s *State) Withdraw(role pki.Role, name string) {
	maps.DeleteFunc(s.Invites, func(_ string, i Invite) bool {
		r, n := i.Whose()
		return r == role && n == name
	})
}

// What is over stays for a while, for people to read, and so that it outlasts wrong clocks.
const (
	keptInvite  = 30 * 24 * time.Hour // an unused join file, from its end
	keptRevoked = 30 * 24 * time.Hour // one that is revoked, from the end of its certificates
)

// Forgo forgets, at the time of an entry, unused join files that ended 30 days before, and members
// whose certificates have all been over for 30 days since they were revoked. That lets nobody in:
// only members in the state may connect, with the TLS key that the state has (coordinator.admit).
// It frees the name.
func (s *State) Forgo(at time.Time) {
	maps.DeleteFunc(s.Invites, func(_ string, i Invite) bool { return at.After(i.Expires.Add(keptInvite)) })
	for _, all := range []map[string]Holder{s.Sites, s.Analysts} {
		maps.DeleteFunc(all, func(_ string, h Holder) bool { return h.Revoked && !h.Until.IsZero() && at.After(h.Until) })
	}
}

// Revoke ends a membership at the time of the entry. No certificate is issued after that, so the
// last one ends within pki.ClientValidity.
func (s *State) Revoke(e ClientEntry, at time.Time) error {
	h, ok := s.Holders(e.Role)[e.Name]
	if !ok {
		return &JoinError{Reason: fmt.Sprintf("no %s %.80q", e.Role, e.Name)}
	}
	if !h.Revoked && !at.IsZero() {
		h.Until = at.Add(pki.ClientValidity + keptRevoked)
	}
	h.Revoked = true
	s.Holders(e.Role)[e.Name] = h
	s.Withdraw(e.Role, e.Name)
	return nil
}

// Join spends a token.
func (s *State) Join(e JoinEntry) error {
	role, again, err := s.MayJoin(e)
	if again || err != nil {
		return err
	}
	if err := s.Claimed(e); err != nil { // two joins of one key may have been on their way
		return err
	}
	past := s.Holders(role)[e.Name].spent()
	delete(s.Invites, e.Token)
	s.Holders(role)[e.Name] = Holder{Name: e.Name, Identity: e.Key, TLS: e.TLS, Joined: e.Now, Token: e.Token, Past: past}
	return nil
}

// MayJoin checks a join; again is one that was taken before: its reply was lost.
func (s *State) MayJoin(e JoinEntry) (role pki.Role, again bool, err error) {
	for _, role := range []pki.Role{pki.RoleSite, pki.RoleAnalyst} {
		if h, ok := s.Holders(role)[e.Name]; ok && h.Token == e.Token && bytes.Equal(h.Identity, e.Key) && bytes.Equal(h.TLS, e.TLS) && !h.Revoked {
			return role, true, nil
		}
	}
	refuse := func(format string, args ...any) (pki.Role, bool, error) {
		return "", false, &JoinError{Reason: fmt.Sprintf(format, args...)}
	}
	invite, ok := s.Invites[e.Token]
	role, name := invite.Whose()
	switch {
	case len(e.Key) != ed25519.PublicKeySize:
		return refuse("a join needs an identity key")
	case !ok:
		return refuse("this join file was already used, or was never given out here")
	case role == RoleNode:
		return refuse("this join file is for a coordinator")
	case name != e.Name:
		return refuse("this join file is for %s %q", role, name)
	case e.Now.After(invite.Expires):
		return refuse("this join file expired on %s", invite.Expires.UTC().Format(time.RFC3339))
	}
	if err := s.vacant(role, name); err != nil { // the other one was quicker
		return "", false, err
	}
	old, ok := s.Holders(role)[name]
	if ok && !old.Revoked {
		if !invite.Again {
			return refuse("%s %q has already joined; revoke it first", role, name)
		}
		if !bytes.Equal(old.Identity, e.Key) {
			return refuse("this join file lets %s %q join again with the identity key that it has, and no other: if that key is lost, the coordinator's operator revokes %s and makes a new join file", role, name, name)
		}
	} else if invite.Again {
		return refuse("%s %q was revoked since; a new join file is needed", role, name)
	}
	if slices.ContainsFunc(old.spent(), func(k proposal.Key) bool {
		return len(k) > 0 && (bytes.Equal(k, e.Key) || bytes.Equal(k, e.TLS))
	}) {
		return refuse("these keys of %s %q were revoked: join with new ones, into an empty folder", role, name)
	}
	return role, false, nil
}

// Claimed returns an error for a join with a key that another name has, or had: a thief of a
// revoked key may still have it (RE-18). The leader asks before it fills the log, and after the
// proof of the identity key: the error has a name in it.
func (s *State) Claimed(e JoinEntry) error {
	for _, all := range []map[string]Holder{s.Sites, s.Analysts} {
		for _, h := range all {
			for _, k := range append(slices.Clone(h.Past), h.Identity, h.TLS) {
				if h.Name != e.Name && len(k) > 0 && (bytes.Equal(e.Key, k) || bytes.Equal(e.TLS, k)) {
					return &JoinError{Reason: fmt.Sprintf("these keys are those of %q, or were: join with new ones, into an empty folder", h.Name)}
				}
			}
		}
	}
	return nil
}

// Invited returns the unused join files of a role, by name.
func (s *State) Invited(role pki.Role) (out []Invite) {
	for _, i := range s.Invites {
		if r, _ := i.Whose(); r == role {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b Invite) int {
		_, x := a.Whose()
		_, y := b.Whose()
		return strings.Compare(x, y)
	})
	return out
}

// ByName returns holders in the order of their names.
func ByName(all map[string]Holder) []Holder {
	return slices.SortedFunc(maps.Values(all), func(a, b Holder) int { return strings.Compare(a.Name, b.Name) })
}
