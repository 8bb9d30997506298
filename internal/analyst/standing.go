package analyst

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"google.golang.org/grpc"

	"covey/internal/enroll"
	"covey/internal/pki"
	"covey/internal/wire"
)

// stand takes over the CAs that are in force, and renews the certificate if it nears its end or is
// to be of another CA. An analyst has no daemon: each command does it first, once a coordinator.
// What fails here but the first call is said and ends nothing: the next command tries again.
func (c *Client) stand(ctx context.Context, conn grpc.ClientConnInterface) error {
	moved, err := c.follow(ctx, conn)
	if err != nil {
		return err
	}
	if !moved && pki.Expiry(c.holder.Certificate(), c.now()) >= int(pki.RenewBefore/(24*time.Hour)) {
		return nil
	}
	csr, err := c.holder.CSR(c.holder.Name())
	var certificate []byte
	if err == nil {
		certificate, err = wire.CallRenew(ctx, conn, csr)
	}
	if err == nil {
		err = c.holder.SaveCertificate(certificate, nil, c.now())
	}
	if err != nil {
		c.Say("the certificate, good until %s, was not renewed; the next command tries again: %s", c.Ends().UTC().Format(time.DateOnly), enroll.Plain(err))
		return nil
	}
	if moved {
		c.follow(ctx, conn) // so that the coordinator's operator sees that this analyst has moved
	}
	return nil
}

// follow takes over the CAs that are in force. moved reports whether the certificate must be
// replaced by one of another CA. The error is the call's.
func (c *Client) follow(ctx context.Context, conn grpc.ClientConnInterface) (moved bool, err error) {
	issuer := sha256.Sum256(c.holder.Issuer().Raw)
	s, err := wire.CallStanding(ctx, conn, issuer[:])
	if err != nil {
		return false, err
	}
	changed, err := c.holder.Trust(s.Authorities, c.now())
	if err != nil {
		c.Say("the coordinator names CAs that are refused: %s", enroll.Plain(err))
		return false, nil
	}
	if changed {
		var trusted []string
		for _, ca := range c.holder.Authorities() {
			trusted = append(trusted, pki.CAFingerprint(ca))
		}
		c.Say("the federation changes its CA: these are trusted now; compare them with what its operator says:\n  %s", strings.Join(trusted, "\n  "))
	}
	return s.Authorities[0].Fingerprint() != pki.CAFingerprint(c.holder.Issuer()), nil
}
