package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"covey/internal/proposal"
	"covey/internal/result"
)

// maxStudy bounds a study file, as the coordinator bounds one that it is sent.
const maxStudy = 16 << 20

// ReadStudy returns the text of a study file, or of a pipe with one. The error is an [*InputError]
// if it is too long.
func ReadStudy(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxStudy+1))
	if err == nil && len(text) > maxStudy {
		err = Bad("%s: longer than %d MiB, too long for a study file", path, maxStudy>>20)
	}
	return text, err
}

// ReadSpec reads the text of a study file. Where that names a result to start from, by a path from
// the study file's own folder, the text returned has its components in place of the name.
func ReadSpec(file string, text []byte) (proposal.Spec, []byte, error) {
	spec, err := proposal.ParseSpec(text)
	if err != nil || spec.Start == nil || spec.Start.File == "" {
		return spec, text, InFile(file, err)
	}
	path := spec.Start.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	from, err := OpenTwice(path)
	if err != nil {
		return spec, nil, Bad("%s: start.file: %v", file, err)
	}
	defer from.Close()
	r, _, err := result.Read(from)
	if err != nil {
		return spec, nil, Bad("%s: start.file: %v", file, err)
	}
	if err := r.SetStart(&spec); err != nil {
		return spec, nil, InFile(file, err)
	}
	text, err = spec.Encode()
	return spec, text, err
}

// InFile names the file of a study whose fields are at fault.
func InFile(file string, err error) error {
	if bad, ok := errors.AsType[*proposal.FieldError](err); ok {
		return &InputError{&namedError{file + ": " + bad.Words(), bad}}
	}
	if bad, ok := errors.AsType[*InputError](err); ok {
		return Bad("%s: %w", file, bad.Err)
	}
	return err
}

// namedError is an error in other words.
type namedError struct {
	words string
	err   error
}

func (e *namedError) Error() string { return e.words }
func (e *namedError) Unwrap() error { return e.err }
