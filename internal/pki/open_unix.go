//go:build unix

package pki

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// OpenToOthers reports whether any user of the machine may change a file, or what is in a folder,
// and returns its mode. In a folder like /tmp everybody can make files, and nobody another's go
// away. What is mounted to be read only, such as a cluster's configuration, has whatever mode it
// has.
func OpenToOthers(path string) (fs.FileMode, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	mode := info.Mode()
	open := mode.Perm()&0o002 != 0 && !(mode.IsDir() && mode&fs.ModeSticky != 0)
	return mode.Perm(), open && !errors.Is(unix.Access(path, unix.W_OK), unix.EROFS)
}
