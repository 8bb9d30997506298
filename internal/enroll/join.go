package enroll

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/siteconfig"
	"covey/internal/wire"
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

// JoinAgain is Join for a site that has joined: its certificate ended, or its coordinator has
// another CA. The keys and agent.toml stay; a site keeps its name.
func JoinAgain(ctx context.Context, file []byte, dir string, now time.Time, options ...grpc.DialOption) error {
	return joinSite(ctx, file, dir, true, now, options)
}

func joinSite(ctx context.Context, file []byte, dir string, again bool, now time.Time, options []grpc.DialOption) error {
	join, err := pki.ParseJoin(file)
	if err != nil {
		return err
	}
	switch {
	case join.Node != "":
		return &pki.JoinError{Field: "node", Reason: "the file is for a coordinator: use `coordinator init --join`"}
	case join.Analyst != "":
		return &pki.JoinError{Field: "analyst", Reason: "the file is for an analyst: use `analyst join`"}
	}
	if err := join.Check(now); err != nil {
		return err
	}
	if dir == "" {
		dir = join.Site
	}
	if !again {
		if err := pki.NewKeys(dir); err != nil {
			return err
		}
	}
	site, err := pki.LoadHolder(pki.RoleSite, dir)
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
	return siteconfig.WriteFile(path, text)
}

// DialError is a coordinator that was not reached at any of its addresses.
type DialError struct {
	Addresses []string
	Err       error // of the last
}

func (e *DialError) Error() string {
	return fmt.Sprintf("no coordinator answers at %q: %s", e.Addresses, Plain(e.Err))
}

// Unwrap returns the last address's error.
func (e *DialError) Unwrap() error { return e.Err }

// enroll tries the join file's addresses in order, and no other: the leader is one of
// them, or the file is out of date. One that shows a wrong CA or says no ends it: the
// token must not be shown around.
func enroll(ctx context.Context, join pki.Join, site *pki.Holder, options []grpc.DialOption) (certificate, authority []byte, err error) {
	csr, err := site.CSR(join.Site)
	if err != nil {
		return nil, nil, err
	}
	proof := site.ProveIdentity(join.Site, join.Token.Hash(), csr)
	identity := site.Identity().Public().(ed25519.PublicKey)
	for _, address := range join.Coordinator {
		seen := NewHandshake(pki.JoinTLS(join.Fingerprint, ServerName(address)))
		var conn *grpc.ClientConn
		if conn, err = grpc.NewClient(address, append(DialOptions(seen), options...)...); err != nil {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, JoinTimeout)
		certificate, authority, err = wire.CallJoin(bounded, conn, wire.JoinRequest{Token: join.Token.Bytes(), Name: join.Site, CSR: csr, Identity: identity, Proof: proof})
		err = ExplainLeader(err)
		cancel()
		conn.Close()
		if err == nil {
			return certificate, authority, nil
		}
		if status.Code(err) == codes.PermissionDenied {
			return nil, nil, &JoinRefusedError{status.Convert(err).Message()}
		}
		err = seen.Explain(err)
		if _, ok := errors.AsType[*HandshakeError](err); ok {
			return nil, nil, err
		}
		if _, ok := errors.AsType[*VersionError](err); ok {
			return nil, nil, err
		}
	}
	return nil, nil, &DialError{join.Coordinator, err}
}
