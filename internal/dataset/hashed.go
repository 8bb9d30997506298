package dataset

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

const bufferSize = 256 << 10

// hashedFile is a file that is hashed as it is read.
type hashedFile struct {
	path     string
	file     *os.File
	before   fs.FileInfo
	hash     hash.Hash
	read     int64
	progress func(read, total int64)
	beside   chan error  // what hashBeside ends with; nil if it does not run
	stop     atomic.Bool // hashBeside, early
}

func open(path string, o ReadOptions) (*hashedFile, error) {
	// Before it is opened: a pipe would wait for a writer, and is there once, where a study reads
	// its rows anew.
	before, err := os.Stat(path)
	if err == nil {
		err = regular(before)
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if before, err = f.Stat(); err == nil {
		err = regular(before)
	}
	if err != nil {
		f.Close()
		return nil, unreadable(path, err)
	}
	s := &hashedFile{path: path, file: f, before: before, hash: sha256.New(), progress: o.Progress}
	return s, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errors.New("is a directory, and only Parquet files can be read as a folder: write one file of its rows")
	case !info.Mode().IsRegular():
		return errors.New("is a pipe or a device, and no file")
	}
	return nil
}

// Read hands a parser the bytes that are hashed, from the first to the last.
func (s *hashedFile) Read(p []byte) (int, error) {
	n, err := s.file.Read(p)
	s.took(p[:n])
	return n, err
}

func (s *hashedFile) took(p []byte) {
	s.hash.Write(p) // never fails (hash.Hash)
	s.read += int64(len(p))
	if s.progress != nil && len(p) > 0 {
		s.progress(s.read, s.before.Size())
	}
}

// hashBeside hashes the file on a goroutine of its own, for a parser that reads here and there.
func (s *hashedFile) hashBeside() {
	s.beside = make(chan error, 1)
	go func() {
		buffer, at := make([]byte, bufferSize), int64(0)
		for !s.stop.Load() {
			n, err := s.file.ReadAt(buffer, at)
			s.took(buffer[:n])
			if at += int64(n); err != nil {
				if err == io.EOF {
					err = nil
				}
				s.beside <- err
				return
			}
		}
		s.beside <- nil
	}()
}

// finish reads what a parser may have left, gives the hash of all bytes and
// refuses a file that was written to meanwhile: what was read may be half
// of the old and half of the new.
func (s *hashedFile) finish() (sum [32]byte, err error) {
	if s.beside != nil {
		err = <-s.beside
		s.beside = nil
	} else {
		_, err = io.CopyBuffer(io.Discard, s, make([]byte, bufferSize))
	}
	if err != nil {
		return sum, unreadable(s.path, err)
	}
	after, err := s.file.Stat()
	if err != nil {
		return sum, unreadable(s.path, err)
	}
	if after.Size() != s.before.Size() || !after.ModTime().Equal(s.before.ModTime()) {
		return sum, &Error{File: s.path, Reason: "the file changed while it was read", Remedy: wholeFile}
	}
	return [32]byte(s.hash.Sum(nil)), nil
}

func (s *hashedFile) close() {
	if s.beside != nil {
		s.stop.Store(true)
		<-s.beside
	}
	s.file.Close() // only read from: nothing to lose
}

// unreadable names the fault without the path, which the Error gives itself.
func unreadable(path string, err error) *Error {
	reason := err
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		reason = p.Err
	}
	return &Error{File: path, Reason: "cannot be read: " + reason.Error(), Err: err}
}
