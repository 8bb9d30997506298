//go:build !linux

package ledger

import "os"

// dataFile is the file itself, where there is no cheaper fsync.
type dataFile struct{ *os.File }
