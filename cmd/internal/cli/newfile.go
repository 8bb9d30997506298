package cli

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"covey/internal/wire"
)

// WriteNew makes a file that was not there, whole or not at all. It is for what more than one user
// may read: of a result all that privacy protects is noised. The error is an [*InputError] for a
// file that cannot be made, also since there is one.
func WriteNew(path string, content []byte) error { return CopyNew(path, bytes.NewReader(content)) }

// CopyNew is WriteNew of what is read. A process that is killed meanwhile leaves a file of another
// name in the folder.
func CopyNew(path string, content io.Reader) error {
	if err := IsFile(path); err != nil {
		return err
	}
	exists := Bad("%s: file exists and is not overwritten", path)
	if _, err := os.Lstat(path); err == nil {
		return exists
	}
	beside := path + "." + rand.Text()[:8] + ".tmp"
	f, err := os.OpenFile(beside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return &InputError{Err: fmt.Errorf("%s: %w", path, reason(err))}
	}
	defer os.Remove(beside) // gone already where it was renamed
	_, err = io.Copy(f, content)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	err = os.Link(beside, path) // which replaces nothing, even what was made meanwhile
	if errors.Is(err, fs.ErrExist) {
		return exists
	}
	if err != nil { // there are file systems without links
		if _, made := os.Lstat(path); made == nil {
			return exists
		}
		err = os.Rename(beside, path)
	}
	return err
}

// IsFile refuses "-", which a file would be called that somebody wants on standard output.
func IsFile(path string) error {
	if path == "-" {
		return Bad(`"-" is no file, and nothing is written to standard output in place of one: name a file, or leave the flag out`)
	}
	return nil
}

// reason is an error of a file's without its name.
func reason(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return of.Err
	}
	return err
}

// Spool returns all that is read, at its beginning, for what must be read twice: in a file that is
// gone once it is closed, or in memory where no file can be made, as in an image that has no folder
// for temporary ones. More than a site may download of a result is an [*InputError], and takes no
// room: a pipe may never end.
func Spool(from io.Reader) (io.ReadSeekCloser, error) { return spool(from, wire.MaxResult) }

func spool(from io.Reader, most int64) (io.ReadSeekCloser, error) {
	from = io.LimitReader(from, most+1)
	f, err := os.CreateTemp("", "covey-*")
	if err != nil {
		text, err := io.ReadAll(from)
		if err == nil {
			err = within(int64(len(text)), most)
		}
		return held{bytes.NewReader(text)}, err
	}
	var n int64
	err = os.Remove(f.Name())
	if err == nil {
		n, err = io.Copy(f, from)
	}
	if err == nil {
		err = within(n, most)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// within is an error if more bytes came than may.
func within(came, most int64) error {
	if came > most {
		return Bad("more than %d bytes arrived, too many for a result", most)
	}
	return nil
}

// held is a text in memory.
type held struct{ *bytes.Reader }

func (held) Close() error { return nil }

// OpenTwice opens a file that is to be read twice: of a pipe, a copy. The error is an
// [*InputError] if it cannot be opened.
func OpenTwice(path string) (io.ReadSeekCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &InputError{Err: err}
	}
	if _, err := f.Seek(0, io.SeekCurrent); err == nil {
		return f, nil
	}
	defer f.Close()
	return Spool(f)
}
