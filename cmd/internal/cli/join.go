package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"covey/internal/enroll"
	"covey/internal/pki"
)

// maxJoinFile bounds what is read of a join file; a good one is under 64 KiB.
const maxJoinFile = 1 << 20

// ReadJoin reads a join file, and warns where others can read it, too: one that came by mail or as
// a mounted secret often is so. Errors: *[InputError]; a *pki.JoinError with the file's name.
func ReadJoin(path string, warn io.Writer) ([]byte, pki.Join, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, pki.Join{}, &InputError{err}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxJoinFile))
	if err != nil {
		return nil, pki.Join{}, &InputError{err}
	}
	join, err := pki.ParseJoin(text)
	if err != nil {
		return nil, join, fmt.Errorf("%s: %w", path, err)
	}
	if info, err := f.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		fmt.Fprintf(warn, "warning: others on this machine can read %s: who has read it can join in your place until you have\n", path)
	}
	return text, join, nil
}

// BadKeys reports whether an error is the fault of a join file, of the folder's keys and
// certificates, or of who asks with them, and not of the network on the way.
func BadKeys(err error) bool {
	return Is[*enroll.JoinRefusedError](err) || Is[*enroll.JoinedError](err) || errors.Is(err, pki.ErrNotJoined) ||
		Is[*pki.JoinError](err) || Is[*pki.ExpiredError](err) || Is[*pki.WrongCAError](err) || Is[*pki.CertificateError](err) ||
		Is[*pki.FileError](err) || Is[*pki.ModeError](err) || Is[*pki.ExistsError](err) ||
		// a network that swallows it is nobody's input
		Is[*enroll.HandshakeError](err) && !errors.Is(err, context.DeadlineExceeded)
}
