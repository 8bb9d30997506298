//go:build unix

package control

import (
	"io/fs"
	"syscall"
)

// sameOwner reports whether two files belong to one user.
func sameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, too := b.Sys().(*syscall.Stat_t)
	return ok && too && x.Uid == y.Uid
}
