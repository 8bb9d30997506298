package coordinator

import (
	"errors"
	"strconv"
)

// maxDataset bounds a data set's name in a site's hello, in bytes; a study names none that is
// longer.
const maxDataset = 200

var errDataset = errors.New("link: a data set's name is empty, longer than 200 bytes, or holds a character that is not printed as itself")

// checkDataset accepts the names that an agent's configuration can hold. They reach the operator's
// terminal beside the fingerprints of sites' keys: a control character could overwrite one.
func checkDataset(name string) error {
	if name == "" || len(name) > maxDataset {
		return errDataset
	}
	for _, r := range name {
		if !strconv.IsPrint(r) || r == '\uFFFD' { // U+FFFD also stands for bytes that are no UTF-8
			return errDataset
		}
	}
	return nil
}
