package uplink

import (
	"context"
	"crypto/sha256"
	"errors"
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
func (u *Uplink) renewals(ctx context.Context, conn grpc.ClientConnInterface) {
	for {
		moved, err := u.follow(ctx, conn)
		if ctx.Err() != nil {
			return // with the link, and the next one asks again
		}
		// That the two share no protocol ends the link, which says so once and not at every try. So
		// does what refuses the site, of which this call may hear first, on each link.
		if _, link := errors.AsType[*enroll.VersionError](err); u.unasked(enroll.Plain(err)) && !link {
			u.o.Log.Warn("the coordinator could not be asked which CAs are in force, or its answer is refused; trying again", "error", enroll.Plain(err))
		}
		leaf, issuer := u.o.Holder.Certificate(), u.o.Holder.Issuer()
		soon := pki.Expiry(leaf, u.o.Now()) < int(pki.RenewBefore/(24*time.Hour))
		if moved || soon && leaf.NotAfter.Before(issuer.NotAfter) { // else a new one ends with its CA, too
			if u.renew(ctx, conn) && moved {
				// So that the operator of the coordinator hears at once, and the old CA is dropped
				// if it is over.
				u.follow(ctx, conn)
			}
		} else if soon && u.endUntold() {
			u.o.Log.Warn("this certificate ends together with the federation's CA, and is not renewed: ask the coordinator's operator whether `coordinator ca new` was run", "ends", leaf.NotAfter.UTC())
		}
		select {
		case <-time.After(standingEvery):
		case <-ctx.Done():
			return
		}
	}
}

// unasked notes why the last question was not answered, empty where it was, and reports whether
// that is to be logged.
func (u *Uplink) unasked(why string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.why
	u.why = why
	return why != "" && why != was
}

// endUntold reports whether the end of the CA is to be logged now: once a day, on however many
// links.
func (u *Uplink) endUntold() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.o.Now()
	if now.Sub(u.ends) < 24*time.Hour {
		return false
	}
	u.ends = now
	return true
}

// follow takes over the CAs that are in force, and reports whether this site's certificate must be
// replaced by one of another CA.
func (u *Uplink) follow(ctx context.Context, conn grpc.ClientConnInterface) (moved bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, enroll.JoinTimeout)
	defer cancel()
	issuer := sha256.Sum256(u.o.Holder.Issuer().Raw)
	if err := u.o.Egress.Record(egress.Line{Kind: "standing", Bytes: len(issuer)}.Of(issuer[:]), u.o.Now()); err != nil {
		return false, err
	}
	s, err := wire.CallStanding(bounded, conn, issuer[:])
	if err != nil {
		return false, err
	}
	u.compareClocks(s.Clock)
	changed, err := u.o.Holder.Trust(s.Authorities, u.o.Now())
	if err != nil {
		return false, err
	}
	if changed {
		var trusted []string
		for _, ca := range u.o.Holder.Authorities() {
			trusted = append(trusted, pki.CAFingerprint(ca))
		}
		u.o.Log.Warn("the federation changes its CA: these are trusted now; compare them with what its operator says", "authorities", trusted)
	}
	return s.Authorities[0].Fingerprint() != pki.CAFingerprint(u.o.Holder.Issuer()), nil
}

// MaxSkew is how far the two clocks may be apart before it is logged: certificates tolerate an
// hour, and proposals expire by each one's own clock.
const MaxSkew = 5 * time.Minute

// compareClocks logs that the coordinator's clock is far from this one, and later that it agrees
// again.
func (u *Uplink) compareClocks(theirs time.Time) {
	u.mu.Lock()
	u.theirs, u.told = theirs, time.Now()
	apart := u.ahead()
	far := apart.Abs() > MaxSkew
	was := u.skewed
	u.skewed = far
	u.mu.Unlock()
	switch {
	case far && !was:
		u.o.Log.Warn("this machine's clock and the coordinator's are far apart: proposals expire too early or too late, and beyond an hour certificates fail; correct the wrong one (NTP)", "apart", apart.Abs().Round(time.Second).String(), "this_one_is_ahead", apart > 0)
	case !far && was:
		u.o.Log.Info("this machine's clock and the coordinator's agree again")
	}
}

// ahead is Standing.Ahead: what the coordinator said goes on by a clock that nobody sets, so that
// this one shows as wrong as soon as it is. Called with mu held, once theirs is known.
func (u *Uplink) ahead() time.Duration {
	return u.o.Now().Sub(u.theirs.Add(time.Since(u.told)))
}

func (u *Uplink) renew(ctx context.Context, conn grpc.ClientConnInterface) (done bool) {
	var certificate []byte
	csr, err := u.o.Holder.CSR(u.o.Holder.Name())
	if err == nil {
		err = u.o.Egress.Record(egress.Line{Kind: "renewal", Bytes: len(csr)}.Of(csr), u.o.Now())
	}
	if err == nil {
		bounded, cancel := context.WithTimeout(ctx, enroll.JoinTimeout)
		certificate, err = wire.CallRenew(bounded, conn, csr)
		cancel()
	}
	if err == nil {
		err = u.o.Holder.SaveCertificate(certificate, nil, u.o.Now())
	}
	left := pki.Expiry(u.o.Holder.Certificate(), u.o.Now())
	if err != nil && ctx.Err() != nil {
		return false // the link ended, and the next one tries again
	}
	if err != nil {
		u.o.Log.Warn("the certificate was not renewed; it is tried again", "days_left", left, "error", enroll.Plain(err))
		return false
	}
	u.o.Log.Info("certificate renewed", "days_left", left, "authority", pki.CAFingerprint(u.o.Holder.Issuer()))
	return true
}
