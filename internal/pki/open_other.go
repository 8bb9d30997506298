//go:build !unix

package pki

import "io/fs"

// OpenToOthers reports false: modes say nothing here.
func OpenToOthers(string) (fs.FileMode, bool) { return 0, false }
