package pki

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrNotJoined is returned for what needs a site's certificate before there
	// is one.
	ErrNotJoined = errors.New("pki: this site has not joined: it has no certificate")
	// ErrIdentityProof is returned for a join that is not signed by the identity
	// key it names.
	ErrIdentityProof = errors.New("pki: the proof of the identity key is wrong")
	// ErrToken is returned for what is no join token.
	ErrToken = errors.New("pki: not a join token")
)

// ExistsError is a file that is not overwritten.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return e.Path + ": exists and is not overwritten" }

// FileError is a file that is missing, unreadable or not what it should be. It
// carries nothing of the file's content.
type FileError struct {
	Path   string
	Reason string
	Err    error // may be nil
}

func (e *FileError) Error() string { return e.Path + ": " + e.Reason }

// Unwrap returns the operating system's or the parser's error, or nil.
func (e *FileError) Unwrap() error { return e.Err }

// ModeError is a file with a secret that every user of the machine can reach.
type ModeError struct {
	Path string
	Mode fs.FileMode
}

func (e *ModeError) Error() string {
	return fmt.Sprintf("%s: holds a secret, but its mode %04o lets others reach it; chmod it to 0600", e.Path, e.Mode.Perm())
}

// NameError is a name that is not [a-z0-9-], 1 to 63 long, without a hyphen
// at either end.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("name %q: must be 1 to 63 characters from a-z, 0-9 and -, with no - at either end", shorten(e.Name))
}

// HostError is a host that a server certificate cannot be made for.
type HostError struct{ Host string }

func (e *HostError) Error() string {
	return fmt.Sprintf("host %q: must be a DNS name or an IP address, without a port", shorten(e.Host))
}

// CertificateError is a certificate or a certificate request that is not in order.
type CertificateError struct {
	Reason string // a clause that names the certificate
	Err    error  // may be nil
}

// Error repeats names of a certificate that nobody may have vouched for: x509 looks at them before
// the chain. What is not printed as itself is a space in it.
func (e *CertificateError) Error() string {
	// x509's own text has the present time: a log that says what is new would have every try.
	if bad, ok := errors.AsType[x509.CertificateInvalidError](e.Err); ok && bad.Reason == x509.Expired && bad.Cert != nil {
		return fmt.Sprintf("%s: it is valid from %s to %s, which is not now by this machine's clock: compare clocks", e.Reason,
			bad.Cert.NotBefore.UTC().Format(time.RFC3339), bad.Cert.NotAfter.UTC().Format(time.RFC3339))
	}
	if e.Err != nil {
		text := strings.Map(func(r rune) rune {
			if !strconv.IsPrint(r) {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(e.Err.Error(), " "))
		return e.Reason + ": " + text
	}
	return e.Reason
}

// Unwrap returns crypto/x509's error, or nil.
func (e *CertificateError) Unwrap() error { return e.Err }

// WrongCAError is a coordinator, or a certificate, that is not of the CA that is
// pinned.
type WrongCAError struct {
	Want string // fingerprint pinned
	Got  string // fingerprint shown; empty if none was
}

func (e *WrongCAError) Error() string {
	got := e.Got
	if got == "" {
		got = "none"
	}
	return fmt.Sprintf("wrong CA: its fingerprint should be %s and is %s", shorten(e.Want), got)
}

// JoinError is a join file that is not in order. It carries no token.
type JoinError struct {
	Field  string // key of the file; empty if the fault is in none
	Reason string
}

func (e *JoinError) Error() string {
	if e.Field == "" {
		return "join file: " + e.Reason
	}
	return fmt.Sprintf("join file: %s: %s", e.Field, e.Reason)
}

// ExpiredError is a join file past its time.
type ExpiredError struct{ At time.Time }

func (e *ExpiredError) Error() string {
	return "join file: expired at " + e.At.UTC().Format(time.RFC3339) + "; ask for a new one"
}

// shorten bounds what a message repeats of its input.
func shorten(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
