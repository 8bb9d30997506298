package coordinator

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"time"

	"covey/internal/membership"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
)

// Invite makes a join file's content for a site and records its token's hash.
func (c registry) Invite(site string, addresses []string, valid time.Duration) (pki.Join, error) {
	return c.InviteAs(pki.RoleSite, site, addresses, valid, false)
}

// InviteAs is Invite for a site or an analyst, or, with again, for one that has joined and whose
// certificate ended, or whose CA did: it joins with the identity key that it has, and stays in its
// studies.
func (c registry) InviteAs(role pki.Role, name string, addresses []string, valid time.Duration, again bool) (pki.Join, error) {
	if err := pki.ValidName(name); err != nil {
		return pki.Join{}, err
	}
	if err := membership.CheckValid(valid); err != nil {
		return pki.Join{}, err
	}
	m := c.machine.lock()
	err := m.who.MayInvite(role, name, again)
	c.machine.unlock()
	if err != nil {
		return pki.Join{}, err
	}
	i := membership.InviteOf(role, name)
	i.Again = again
	return c.giveOut(i, addresses, valid)
}

// giveOut makes a join file's content and records its token's hash.
func (c registry) giveOut(i membership.Invite, addresses []string, valid time.Duration) (pki.Join, error) {
	token, err := pki.NewToken()
	if err != nil {
		return pki.Join{}, err
	}
	i.Expires = c.now().Add(valid).UTC().Truncate(time.Second)
	if err := c.apply(entry{Invite: &membership.InviteEntry{Token: tokenKey(token.Hash()), Invite: i}}); err != nil {
		return pki.Join{}, err
	}
	return pki.Join{Coordinator: addresses, Fingerprint: c.authority.Fingerprint(), Token: token, Site: i.Site, Analyst: i.Analyst, Node: i.Node, Expires: i.Expires}, nil
}

// Withdraw voids the unused join files of a site or an analyst and returns how many there were;
// it writes nothing to the log where there were none.
func (c registry) Withdraw(role pki.Role, name string) (int, error) {
	if err := pki.ValidName(name); err != nil {
		return 0, err
	}
	if !c.Leading() {
		return 0, ErrNotLeader
	}
	_, invited := c.machine.holders(role)
	unused := 0
	for _, i := range invited {
		if _, n := i.Whose(); n == name {
			unused++
		}
	}
	if unused == 0 {
		return 0, nil
	}
	return unused, c.apply(entry{Withdraw: &membership.ClientEntry{Role: role, Name: name}})
}

// Revoke ends the membership of a site or an analyst, and its streams.
func (c registry) Revoke(role pki.Role, name string) error {
	// This is what the log would answer, without a line in it.
	if _, known := c.machine.holder(role, name); !known {
		return &membership.JoinError{Reason: fmt.Sprintf("no %s %.80q; `coordinator %s list` has all", role, name, role)}
	}
	if err := c.apply(entry{Revoke: &membership.ClientEntry{Role: role, Name: name}}); err != nil {
		return err
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	if l := m.links[name]; l != nil {
		l.Close(errRevoked)
	}
	m.tell(name, func(site int) round.Event { return round.Barred{Site: site} })
	m.notify() // those who watch are looked up again
	return nil
}

// join spends a token. The certificate is made first and given out only if the
// log took the join, so that a token buys at most one membership.
func (c registry) join(_ context.Context, token []byte, name string, csr, identity, proof []byte) ([]byte, error) {
	if err := pki.ValidName(name); err != nil {
		return nil, &membership.JoinError{Reason: "the name is not valid"}
	}
	if len(identity) != ed25519.PublicKeySize {
		return nil, &membership.JoinError{Reason: "the identity key is not an Ed25519 public key"}
	}
	t, err := pki.TokenFrom(token)
	if err != nil {
		return nil, &membership.JoinError{Reason: "the token is malformed"}
	}
	if !c.Leading() {
		return nil, ErrNotLeader
	}
	// Before anything is signed or written: who has no token could fill the log otherwise, and make
	// every study wait for its disk.
	hash := t.Hash()
	now := c.now()
	attempt := membership.JoinEntry{Token: tokenKey(hash), Name: name, Key: proposal.Key(identity), TLS: proposal.Key(pki.RequestKey(csr)), Now: now}
	role, again, err := c.machine.joinable(attempt)
	if err != nil {
		return nil, err
	}
	if err := pki.CheckIdentityProof(identity, name, hash, csr, proof); err != nil {
		return nil, &membership.JoinError{Reason: "the proof of the identity key is wrong"}
	}
	if err := c.machine.lock().who.Claimed(attempt); err != nil {
		c.machine.unlock()
		return nil, err
	}
	c.machine.unlock()
	certificate, err := c.authority.Issue(role, name, csr, now)
	if err != nil {
		return nil, &membership.JoinError{Reason: "the certificate request is not valid"}
	}
	if again { // it is in the log: its reply was lost
		return certificate, nil
	}
	if err := c.apply(entry{Join: &attempt}); err != nil {
		return nil, err
	}
	c.log.Info(string(role)+" joined", "name", name, "identity", pki.Fingerprint(identity))
	return certificate, nil
}
