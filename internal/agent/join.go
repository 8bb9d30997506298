package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/egress"
	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/siteconfig"
)

// JoinTimeout bounds one address's answer.
const JoinTimeout = 20 * time.Second

// JoinRefusedError is the coordinator's no to a join file: used before, expired
// or revoked there. A new one is needed.
type JoinRefusedError struct{ Reason string }

func (e *JoinRefusedError) Error() string {
	return fmt.Sprintf("the coordinator refused the join file: %s", frame.Quoted(e.Reason))
}

// JoinedError is a directory whose site has joined already.
type JoinedError struct{ Dir string }

func (e *JoinedError) Error() string {
	return e.Dir + ": this site has joined already; nothing was changed (with --again it joins once more, with the keys that it has)"
}

// Join spends a join file: it makes the data directory dir (./SITE if empty),
// the site's keys there, and gets the certificate. It ends with an agent.toml to
// fill in, unless there is one. A join that failed on the way can be tried again
// in the same directory: the keys stay.
//
// Errors: *pki.JoinError, *pki.ExpiredError, *JoinedError, *JoinRefusedError,
// *HandshakeError with *pki.WrongCAError or *pki.CertificateError within, *VersionError,
// *DialError.
func Join(ctx context.Context, file []byte, dir string, now time.Time, options ...grpc.DialOption) error {
	return joinSite(ctx, file, dir, false, now, options)
}

// JoinAgain is Join for a site that has joined: its certificate ended, or its coordinator has another CA. The
// keys and agent.toml stay; a site keeps its name.
func JoinAgain(ctx context.Context, file []byte, dir string, now time.Time, options ...grpc.DialOption) error {
	return joinSite(ctx, file, dir, true, now, options)
}

func joinSite(ctx context.Context, file []byte, dir string, again bool, now time.Time, options []grpc.DialOption) error {
	join, err := pki.ParseJoin(file)
	if err != nil {
		return err
	}
	if join.Node != "" {
		return &pki.JoinError{Field: "node", Reason: "the file is for a coordinator: use `coordinator init --join`"}
	}
	if err := join.Check(now); err != nil {
		return err
	}
	if dir == "" {
		dir = join.Site
	}
	if !again {
		if err := pki.NewSiteKeys(dir); err != nil {
			return err
		}
	}
	site, err := pki.LoadSite(dir)
	if err != nil {
		return err
	}
	switch name := site.Name(); {
	case name != "" && !again:
		return &JoinedError{dir}
	case name == "" && again:
		return pki.ErrNotJoined
	case again && name != join.Site:
		return &pki.JoinError{Field: "site", Reason: fmt.Sprintf("is %q, and %s is site %q", join.Site, dir, name)}
	}
	certificate, authority, err := enroll(ctx, join, site, options)
	if err != nil {
		return err
	}
	if err := pki.CheckCA(authority, join.Fingerprint); err != nil {
		return err
	}
	save := site.SaveCertificate
	if again {
		save = site.Rejoin
	}
	if err := save(certificate, authority, now); err != nil {
		return err
	}
	path := filepath.Join(dir, siteconfig.File)
	if _, err := os.Lstat(path); err == nil {
		return nil // the operator's own
	}
	text, err := siteconfig.Sample(join)
	if err != nil {
		return err
	}
	return writeFile(path, text)
}

// DialError is a coordinator that was not reached at any of its addresses.
type DialError struct {
	Addresses []string
	Err       error // of the last
}

func (e *DialError) Error() string {
	return fmt.Sprintf("no coordinator answers at %q: %s", e.Addresses, plain(e.Err))
}

// Unwrap gives the last address's error.
func (e *DialError) Unwrap() error { return e.Err }

// enroll tries the join file's addresses in order, and no other: the leader is one of
// them, or the file is out of date. One that shows a wrong CA or says no ends it: the
// token must not be shown around.
func enroll(ctx context.Context, join pki.Join, site *pki.Site, options []grpc.DialOption) (certificate, authority []byte, err error) {
	csr, err := site.CSR(join.Site)
	if err != nil {
		return nil, nil, err
	}
	proof := site.ProveIdentity(join.Site, join.Token.Hash(), csr)
	identity := site.Identity().Public().(ed25519.PublicKey)
	for _, address := range join.Coordinator {
		seen := newHandshake(pki.JoinTLS(join.Fingerprint, serverName(address)))
		var conn *grpc.ClientConn
		if conn, err = grpc.NewClient(address, append(dialOptions(seen), options...)...); err != nil {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, JoinTimeout)
		certificate, authority, err = callJoin(bounded, conn, join.Token.Bytes(), join.Site, csr, identity, proof)
		cancel()
		conn.Close()
		if err == nil {
			return certificate, authority, nil
		}
		if status.Code(err) == codes.PermissionDenied {
			return nil, nil, &JoinRefusedError{status.Convert(err).Message()}
		}
		err = seen.explain(err)
		if _, ok := errors.AsType[*HandshakeError](err); ok {
			return nil, nil, err
		}
		if _, ok := errors.AsType[*VersionError](err); ok {
			return nil, nil, err
		}
	}
	return nil, nil, &DialError{join.Coordinator, err}
}

// serverName is the host of an address, as the coordinator's certificate has it.
func serverName(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// standingEvery is how often an agent asks which CAs are in force: while a federation changes its CA, its
// operator waits for all sites.
const standingEvery = 10 * time.Minute

// renewals keeps the certificate good for more than pki.RenewBefore, and of the CA that the federation
// changes to, as long as the link lives. The keys stay.
func (a *Agent) renewals(ctx context.Context, conn grpc.ClientConnInterface) {
	for {
		moved, err := a.follow(ctx, conn)
		if err != nil && ctx.Err() == nil {
			a.log.Warn("the coordinator was not asked which CAs are in force, or its answer is refused; it is tried again", "error", plain(err))
		}
		if moved || pki.Expiry(a.site.Certificate(), a.now()) < int(pki.RenewBefore/(24*time.Hour)) {
			if a.renew(ctx, conn) && moved {
				// So that the operator of the coordinator hears at once, and the old CA is dropped if it is over.
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

// follow takes over the CAs that are in force, and says whether this site's certificate is to be one of
// another CA than it is.
func (a *Agent) follow(ctx context.Context, conn grpc.ClientConnInterface) (moved bool, err error) {
	bounded, cancel := context.WithTimeout(ctx, JoinTimeout)
	defer cancel()
	issuer := sha256.Sum256(a.site.Issuer().Raw)
	a.egress.Record(egress.Line{Kind: "standing", Bytes: len(issuer)}.Of(issuer[:]), a.now())
	s, err := callStanding(bounded, conn, issuer[:])
	if err != nil {
		return false, err
	}
	changed, err := a.site.Trust(s.authorities, a.now())
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
	return s.authorities[0].Fingerprint() != pki.CAFingerprint(a.site.Issuer()), nil
}

func (a *Agent) renew(ctx context.Context, conn grpc.ClientConnInterface) (done bool) {
	var certificate []byte
	csr, err := a.site.CSR(a.config.Site)
	if err == nil {
		a.egress.Record(egress.Line{Kind: "renewal", Bytes: len(csr)}.Of(csr), a.now())
		bounded, cancel := context.WithTimeout(ctx, JoinTimeout)
		certificate, err = callRenew(bounded, conn, csr)
		cancel()
	}
	if err == nil {
		err = a.site.SaveCertificate(certificate, nil, a.now())
	}
	left := pki.Expiry(a.site.Certificate(), a.now())
	if err != nil {
		a.log.Warn("the certificate was not renewed; it is tried again", "days_left", left, "error", plain(err))
		return false
	}
	a.log.Info("certificate renewed", "days_left", left, "authority", pki.CAFingerprint(a.site.Issuer()))
	return true
}
