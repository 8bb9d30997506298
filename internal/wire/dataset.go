package wire

import (
	"errors"
	"strconv"
)

// MaxDataset bounds a data set's name in a site's hello, in bytes; a study names none that is
// longer.
const MaxDataset = 200

// ErrDataset is returned for a name that CheckDataset refuses.
var ErrDataset = errors.New("link: a data set's name is empty, longer than 200 bytes, or holds a character that is not printed as itself")

// CheckDataset accepts the names that an agent's configuration can hold. They reach the operator's
// terminal beside the fingerprints of sites' keys: a control character could overwrite one.
func CheckDataset(name string) error {
	if name == "" || len(name) > MaxDataset {
		return ErrDataset
	}
	for _, r := range name {
		if !strconv.IsPrint(r) || r == '\uFFFD' { // U+FFFD also stands for bytes that are no UTF-8
			return ErrDataset
		}
	}
	return nil
}
