package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// WriteNew makes a file that was not there, whole or not at all. It is for what more than one user
// may read: of a result all that privacy protects is noised. The error is an [*InputError] for a
// file that cannot be made, also since there is one.
func WriteNew(path string, content []byte) error { return CopyNew(path, bytes.NewReader(content)) }

// CopyNew is WriteNew of what is read.
func CopyNew(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return Bad("%s: file exists and is not overwritten", path)
	}
	if err != nil {
		return &InputError{Err: err}
	}
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, errors.Join(err, os.Remove(path)))
	}
	return nil
}
