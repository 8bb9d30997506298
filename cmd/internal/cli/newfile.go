package cli

import (
	"errors"
	"fmt"
	"os"
)

// WriteNew makes a file that was not there, whole or not at all. It is for what more than one user
// may read: of a result all that privacy protects is noised. The error is an [*InputError] for a
// file that cannot be made, also since there is one.
func WriteNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return Bad("%s: file exists and is not overwritten", path)
	}
	if err != nil {
		return &InputError{Err: err}
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return nil
}
