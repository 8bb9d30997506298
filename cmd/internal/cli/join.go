package cli

import (
	"fmt"
	"io"
	"os"

	"covey/internal/pki"
)

// maxJoinFile bounds what is read of a join file; a good one is under 64 KiB.
const maxJoinFile = 1 << 20

// ReadJoin reads a join file. Errors: *[InputError]; a *pki.JoinError with the file's name.
func ReadJoin(path string) ([]byte, pki.Join, error) {
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
	return text, join, nil
}
