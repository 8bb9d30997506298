package enroll

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// JoinedError is a directory whose owner has joined already.
type JoinedError struct {
	Dir  string
	Role pki.Role
}

func (e *JoinedError) Error() string {
	return fmt.Sprintf("%s: this %s has joined already; nothing was changed (with --again it joins once more, with the keys that it has)", e.Dir, e.Role)
}

// Newcomer is whom a join lets in.
type Newcomer struct {
	Role pki.Role
	// File is the configuration that a join leaves in the directory, with Sample's text, unless
	// there is one.
	File   string
	Sample func(pki.Join) ([]byte, error)
	// Again is set for one that has joined before: its certificate ended, or its coordinator has
	// another CA. It keeps its keys, configuration and name.
	Again bool
}

// Site is a newcomer whose operator fills in an agent.toml.
var Site = Newcomer{Role: pki.RoleSite, File: siteconfig.File, Sample: siteconfig.Sample}

// programs are the programs that join files are for.
var programs = map[pki.Role]string{pki.RoleSite: "agent", pki.RoleAnalyst: "analyst"}

var articles = map[pki.Role]string{pki.RoleSite: "a", pki.RoleAnalyst: "an"}

// Join is [Newcomer.Join] of a site.
func Join(ctx context.Context, file []byte, dir string, now time.Time, options ...grpc.DialOption) error {
	return Site.Join(ctx, file, dir, now, options...)
}

// Join spends a join file: it makes the data directory dir (./NAME if empty),
// the keys there, and gets the certificate. It ends with a configuration to
// fill in, unless there is one. A join that failed on the way can be tried again
// in the same directory: the keys stay, and so does a certificate that came.
//
// Errors: *pki.JoinError, *pki.ExpiredError, *JoinedError, *JoinRefusedError,
// *HandshakeError with *pki.WrongCAError or *pki.CertificateError within, *VersionError,
// *DialError.
func (n Newcomer) Join(ctx context.Context, file []byte, dir string, now time.Time, options ...grpc.DialOption) error {
	join, err := n.parse(file, now)
	if err != nil {
		return err
	}
	role, name := join.Client()
	if dir == "" {
		dir = name
	}
	holder, err := n.holder(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, n.File)
	switch was := holder.Name(); {
	case was == name && !n.Again && missing(path) && trusts(holder, join.Fingerprint) && now.Before(holder.Certificate().NotAfter):
		// The last try came as far as that, unless the keys were revoked since.
		if _, _, err := enroll(ctx, join, holder, options); err != nil {
			return err
		}
		return n.configure(path, join)
	case was != "" && !n.Again:
		return &JoinedError{dir, n.Role}
	case n.Again && was != name:
		return &pki.JoinError{Field: string(role), Reason: fmt.Sprintf("is %q, and %s is %s %q", name, dir, role, was)}
	}
	certificate, authority, err := enroll(ctx, join, holder, options)
	if err != nil {
		return err
	}
	if err := pki.CheckCA(authority, join.Fingerprint); err != nil {
		return err
	}
	save := holder.SaveCertificate
	if n.Again {
		save = holder.Rejoin
	}
	if err := save(certificate, authority, now); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return nil // its owner's own
	}
	return n.configure(path, join)
}

// parse reads a join file, which must be for this role and not expired.
func (n Newcomer) parse(file []byte, now time.Time) (pki.Join, error) {
	join, err := pki.ParseJoin(file)
	if err != nil {
		return pki.Join{}, err
	}
	role, _ := join.Client()
	switch {
	case join.Node != "":
		return pki.Join{}, &pki.JoinError{Field: "node", Reason: "the file is for a coordinator: use `coordinator init --join`"}
	case role != n.Role:
		return pki.Join{}, &pki.JoinError{Field: string(role), Reason: fmt.Sprintf("the file is for %s %s: use `%s join`", articles[role], role, programs[role])}
	}
	return join, join.Check(now)
}

// holder returns the keys in dir: new ones unless there are some, or with Again those with which
// somebody has joined.
func (n Newcomer) holder(dir string) (*pki.Holder, error) {
	if !n.Again {
		if err := pki.NewKeys(dir); err != nil {
			return nil, err
		}
		return pki.LoadHolder(n.Role, dir)
	}
	holder, err := pki.LoadHolder(n.Role, dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && holder.Name() == "" {
		return nil, &pki.JoinError{Reason: fmt.Sprintf("--again keeps the keys of %s, from where nobody has joined: name the folder that has them, or leave --again out", dir)}
	}
	return holder, err
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

func trusts(holder *pki.Holder, fingerprint string) bool {
	return slices.ContainsFunc(holder.Authorities(), func(ca *x509.Certificate) bool { return pki.CAFingerprint(ca) == fingerprint })
}

// configure writes the configuration to fill in, last.
func (n Newcomer) configure(path string, join pki.Join) error {
	text, err := n.Sample(join)
	if err != nil {
		return err
	}
	if err := pki.ReplaceFile(path, text, 0o600); err != nil {
		return fmt.Errorf("this %s has joined, but %s could not be written; once it can be, run the same command again: %w", n.Role, path, err)
	}
	return nil
}

// DialError is a coordinator that was not reached at any of its addresses, or gives no answer there
// but a refusal.
type DialError struct {
	Addresses []string
	Err       error // of the last
}

func (e *DialError) Error() string {
	if c := status.Code(e.Err); c == codes.PermissionDenied || c == codes.Unauthenticated {
		return fmt.Sprintf("the coordinator at %s refuses: %s", e.at(), frame.Quoted(status.Convert(e.Err).Message()))
	}
	if version, ok := errors.AsType[*VersionError](e.Err); ok { // it answers
		return fmt.Sprintf("at %s %v", e.at(), version)
	}
	if why := noProxy(e.Err); why != "" {
		return fmt.Sprintf("the coordinator at %s is not reached: %s. Check HTTPS_PROXY, or ask the proxy's administrator", e.at(), why)
	}
	if why := unreached(e.Err); why != "" {
		return fmt.Sprintf("no coordinator answers at %s: %s. Check the address and this machine's network, or ask the coordinator's operator whether it runs", e.at(), why)
	}
	return fmt.Sprintf("no coordinator answers at %s: %s", e.at(), Plain(e.Err))
}

// at returns the addresses for a terminal, in quotes where one is not plain: a join file may have
// made it up.
func (e *DialError) at() string {
	words := make([]string, len(e.Addresses))
	for i, a := range e.Addresses {
		if words[i] = frame.Quoted(a); frame.Word(strings.ReplaceAll(a, ":", "")) == strings.ReplaceAll(a, ":", "") {
			words[i] = a
		}
	}
	return strings.Join(words, ", ")
}

// Unwrap returns the last address's error.
func (e *DialError) Unwrap() error { return e.Err }

// enroll tries the join file's addresses in order, and no other: the leader is one of
// them, or the file is out of date. One that shows a wrong CA or says no ends it: the
// token must not be shown around.
func enroll(ctx context.Context, join pki.Join, holder *pki.Holder, options []grpc.DialOption) (certificate, authority []byte, err error) {
	_, name := join.Client()
	csr, err := holder.CSR(name)
	if err != nil {
		return nil, nil, err
	}
	proof := holder.ProveIdentity(name, join.Token.Hash(), csr)
	identity := holder.Identity().Public().(ed25519.PublicKey)
	for _, address := range join.Coordinator {
		seen := NewHandshake(pki.JoinTLS(join.Fingerprint, ServerName(address)))
		var conn *grpc.ClientConn
		if conn, err = grpc.NewClient(address, append(DialOptions(holder.Role(), seen), options...)...); err != nil {
			continue
		}
		bounded, cancel := context.WithTimeout(ctx, JoinTimeout)
		certificate, authority, err = wire.CallJoin(bounded, conn, wire.JoinRequest{Token: join.Token.Bytes(), Name: name, CSR: csr, Identity: identity, Proof: proof})
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
		if _, ok := errors.AsType[*pki.WrongCAError](err); ok {
			return nil, nil, fmt.Errorf("%w; if the CA was changed since the file was made, ask for a new file; otherwise this is not the file's coordinator", err)
		}
		if _, ok := errors.AsType[*HandshakeError](err); ok {
			return nil, nil, err
		}
		if _, ok := errors.AsType[*VersionError](err); ok {
			return nil, nil, err
		}
	}
	return nil, nil, &DialError{join.Coordinator, err}
}
