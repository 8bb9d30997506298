package cli

import (
	"fmt"
	"io"
	"os"

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
