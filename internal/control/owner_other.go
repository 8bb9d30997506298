//go:build !unix

package control

import "io/fs"

// sameOwner is true where folders for temporary files are each user's own.
func sameOwner(_, _ fs.FileInfo) bool { return true }
