// Package bolt makes bbolt's files whole or not at all.
package bolt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
)

// Make makes an empty database where there is no file. bbolt leaves the beginning of one where the
// disk is full: a damaged database, of which nobody knows later that nothing was ever in it. A file
// that is there is left as it is, also if another process has just made it.
//
// The caller makes the name durable. A crash may leave a file of another name, which nothing reads.
func Make(path string) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	if err := f.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(f.Name(), 0o600, nil) // fsynced
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return err
	}
	// Unlike a rename, a link replaces no file: another process may work on one by now. Where the
	// file system has no links, bbolt begins the file as it is opened.
	os.Link(f.Name(), path)
	return nil
}
