package agent

import (
	"context"
	"crypto/sha256"
	"time"

	"google.golang.org/grpc"

	"covey/internal/egress"
	"covey/internal/enroll"
	"covey/internal/pki"
	"covey/internal/wire"
)

// standingEvery is how often an agent asks which CAs are in force: while a federation changes its
// CA, its operator waits for all sites.
const standingEvery = 10 * time.Minute

// renewals keeps the certificate good for more than pki.RenewBefore, and of the CA that the
// federation changes to, as long as the link lives. The keys stay.
func (a *Agent) renewals(ctx context.Context, conn grpc.ClientConnInterface) {
	for {
		moved, err := a.follow(ctx, conn)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("the coordinator was not asked which CAs are in force, or its answer is refused; it is tried again", "error", enroll.Plain(err))
		}
		if moved || pki.Expiry(a.site.Certificate(), a.now()) < int(pki.RenewBefore/(24*time.Hour)) {
			if a.renew(ctx, conn) && moved {
				// So that the operator of the coordinator hears at once, and the old CA is dropped
				// if it is over.
				a.follow(ctx, conn)
			}
		}
		select {
		case <-time.After(standingEvery):
		case <-ctx.Done():
			return
		}
	}
}

// follow takes over the CAs that are in force, and says whether this site's certificate is to be
// one of another CA than it is.
func (a *Agent) follow(ctx context.Context, conn grpc.ClientConnInterface) (moved bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, enroll.JoinTimeout)
	defer cancel()
	issuer := sha256.Sum256(a.site.Issuer().Raw)
	a.egress.Record(egress.Line{Kind: "standing", Bytes: len(issuer)}.Of(issuer[:]), a.now())
	s, err := wire.CallStanding(bounded, conn, issuer[:])
	if err != nil {
		return false, err
	}
	changed, err := a.site.Trust(s.Authorities, a.now())
	if err != nil {
		return false, err
	}
	if changed {
		var trusted []string
		for _, ca := range a.site.Authorities() {
			trusted = append(trusted, pki.CAFingerprint(ca))
		}
		a.log.Warn("the federation changes its CA: these are trusted now; compare them with what its operator says", "authorities", trusted)
	}
	return s.Authorities[0].Fingerprint() != pki.CAFingerprint(a.site.Issuer()), nil
}

func (a *Agent) renew(ctx context.Context, conn grpc.ClientConnInterface) (done bool) {
	var certificate []byte
	csr, err := a.site.CSR(a.config.Site)
	if err == nil {
		a.egress.Record(egress.Line{Kind: "renewal", Bytes: len(csr)}.Of(csr), a.now())
		bounded, cancel := context.WithTimeout(ctx, enroll.JoinTimeout)
		certificate, err = wire.CallRenew(bounded, conn, csr)
		cancel()
	}
	if err == nil {
		err = a.site.SaveCertificate(certificate, nil, a.now())
	}
	left := pki.Expiry(a.site.Certificate(), a.now())
	if err != nil {
		a.log.Warn("the certificate was not renewed; it is tried again", "days_left", left, "error", enroll.Plain(err))
		return false
	}
	a.log.Info("certificate renewed", "days_left", left, "authority", pki.CAFingerprint(a.site.Issuer()))
	return true
}
