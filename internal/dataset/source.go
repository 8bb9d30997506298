package dataset

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
)

const bufferSize = 256 << 10

// source is a file that is hashed as it is read.
type source struct {
	path     string
	file     *os.File
	before   fs.FileInfo
	hash     hash.Hash
	read     int64
	progress func(read, total int64)
}

func open(path string, o ReadOptions) (*source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	before, err := f.Stat()
	if err == nil && before.IsDir() {
		err = errors.New("is a directory")
	}
	if err != nil {
		f.Close()
		return nil, unreadable(path, err)
	}
	s := &source{path: path, file: f, before: before, hash: sha256.New(), progress: o.Progress}
	return s, nil
}

// Read gives a parser that goes from the first byte to the last what is hashed.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.hash.Write(p[:n]) // never fails (hash.Hash)
	s.read += int64(n)
	if s.progress != nil && n > 0 {
		s.progress(s.read, s.before.Size())
	}
	return n, err
}

// finish reads what a parser may have left, or all for one that reads here and there, gives the hash of all bytes and
// refuses a regular file that was written to meanwhile: what was read may be half
// of the old and half of the new.
func (s *source) finish() (sum [32]byte, err error) {
	if _, err := io.CopyBuffer(io.Discard, s, make([]byte, bufferSize)); err != nil {
		return sum, unreadable(s.path, err)
	}
	after, err := s.file.Stat()
	if err != nil {
		return sum, unreadable(s.path, err)
	}
	if s.before.Mode().IsRegular() && (after.Size() != s.before.Size() || !after.ModTime().Equal(s.before.ModTime())) {
		return sum, &Error{File: s.path, Reason: "the file changed while it was read"}
	}
	return [32]byte(s.hash.Sum(nil)), nil
}

func (s *source) close() { s.file.Close() } // only read from: nothing to lose

// unreadable names the fault without the path, which the Error gives itself.
func unreadable(path string, err error) *Error {
	reason := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		reason = p.Err
	}
	return &Error{File: path, Reason: "cannot be read: " + reason.Error(), Err: err}
}
