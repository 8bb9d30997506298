package coordinator

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"fmt"
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
)

// MaxInvite bounds how long a join file may be good for.
const MaxInvite = 30 * 24 * time.Hour

// Invite makes a join file's content for a site and records its token's hash.
func (c registry) Invite(site string, addresses []string, valid time.Duration) (pki.Join, error) {
	return c.invite(site, addresses, valid, false)
}

// InviteAgain is Invite for a site that has joined and whose certificate ended, or whose CA did: it
// joins with the identity key that it has, and stays in its studies.
func (c registry) InviteAgain(site string, addresses []string, valid time.Duration) (pki.Join, error) {
	return c.invite(site, addresses, valid, true)
}

func (c registry) invite(site string, addresses []string, valid time.Duration, again bool) (pki.Join, error) {
	if err := pki.ValidName(site); err != nil {
		return pki.Join{}, err
	}
	if err := checkValid(site, valid); err != nil {
		return pki.Join{}, err
	}
	old, ok := c.machine.Site(site)
	switch known := ok && !old.Revoked; {
	case known && !again:
		return pki.Join{}, &JoinError{site, fmt.Sprintf("site %q has already joined; revoke it first, or give --again to keep its identity key", site)}
	case !known && again:
		return pki.Join{}, &JoinError{site, fmt.Sprintf("site %q has not joined, or was revoked: it cannot join again; leave --again out", site)}
	}
	return c.giveOut(Invite{Site: site, Again: again}, addresses, valid)
}

func checkValid(site string, valid time.Duration) error {
	if valid <= 0 || valid > MaxInvite {
		return &JoinError{site, fmt.Sprintf("a join file is valid for more than 0 and at most %v, not %v", MaxInvite, valid)}
	}
	return nil
}

// giveOut makes a join file's content and records its token's hash.
func (c registry) giveOut(i Invite, addresses []string, valid time.Duration) (pki.Join, error) {
	token, err := pki.NewToken()
	if err != nil {
		return pki.Join{}, err
	}
	i.Expires = c.now().Add(valid).UTC().Truncate(time.Second)
	if err := c.apply(entry{Invite: &inviteEntry{Token: tokenKey(token.Hash()), Invite: i}}); err != nil {
		return pki.Join{}, err
	}
	return pki.Join{Coordinator: addresses, Fingerprint: c.authority.Fingerprint(), Token: token, Site: i.Site, Node: i.Node, Expires: i.Expires}, nil
}

// Withdraw takes a site's unused join files back and returns how many there were; the log is left
// alone where there is none.
func (c registry) Withdraw(site string) (int, error) {
	if err := pki.ValidName(site); err != nil {
		return 0, err
	}
	if !c.Leading() {
		return 0, ErrNotLeader
	}
	m := c.machine.lock()
	unused := 0
	for _, i := range m.invites {
		if i.Site == site {
			unused++
		}
	}
	c.machine.unlock()
	if unused == 0 {
		return 0, nil
	}
	return unused, c.apply(entry{Withdraw: &withdrawEntry{Site: site}})
}

// Revoke ends a site's membership and its link.
func (c registry) Revoke(site string) error {
	// Sites are never forgotten: this is what the log would answer, without a line in it.
	if _, known := c.machine.Site(site); !known {
		return &JoinError{site, fmt.Sprintf("no site %.80q", site)}
	}
	if err := c.apply(entry{Revoke: &revokeEntry{Site: site}}); err != nil {
		return err
	}
	m := c.machine.lock()
	defer c.machine.unlock()
	if l := m.links[site]; l != nil {
		l.close(errRevoked)
	}
	return nil
}

// join spends a token. The certificate is made first and given out only if the
// log took the join, so that a token buys at most one site.
func (c registry) join(_ context.Context, token []byte, site string, csr, identity, proof []byte) ([]byte, error) {
	if err := pki.ValidName(site); err != nil {
		return nil, &JoinError{site, "the site's name is not a valid one"}
	}
	if len(identity) != ed25519.PublicKeySize {
		return nil, &JoinError{site, "the identity key is not an Ed25519 public key"}
	}
	t, err := pki.TokenFrom(token)
	if err != nil {
		return nil, &JoinError{site, "the token is not a token"}
	}
	if !c.Leading() {
		return nil, ErrNotLeader
	}
	// Before anything is signed or written: who has no token could fill the log otherwise, and make
	// every study wait for its disk.
	hash := t.Hash()
	now := c.now()
	attempt := joinEntry{Token: tokenKey(hash), Site: site, Key: proposal.Key(identity), TLS: requestKey(csr), Now: now}
	again, err := c.machine.joinable(attempt)
	if err != nil {
		return nil, err
	}
	if err := pki.CheckIdentityProof(identity, site, hash, csr, proof); err != nil {
		return nil, &JoinError{site, "the proof of the identity key is wrong"}
	}
	certificate, err := c.authority.Issue(pki.RoleSite, site, csr, now)
	if err != nil {
		return nil, &JoinError{site, "the certificate request is not in order"}
	}
	if again { // it is in the log: its reply was lost
		return certificate, nil
	}
	if err := c.apply(entry{Join: &attempt}); err != nil {
		return nil, err
	}
	c.log.Info("site joined", "site", site, "identity", pki.Fingerprint(identity))
	return certificate, nil
}

// requestKey is the key that a certificate request asks for; nothing of a request that is not in
// order: Issue refuses it.
func requestKey(csr []byte) proposal.Key {
	if r, err := x509.ParseCertificateRequest(csr); err == nil {
		if key, ok := r.PublicKey.(ed25519.PublicKey); ok {
			return proposal.Key(key)
		}
	}
	return nil
}
