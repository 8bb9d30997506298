package wire

import (
	"errors"

	"covey/internal/name"
)

// MaxDataset bounds a data set's name in a site's hello, in bytes; a study names none that is
// longer.
const MaxDataset = 200

// ErrDataset is returned for a name that CheckDataset refuses.
var ErrDataset = errors.New("link: a data set's name is empty, longer than 200 bytes, or cannot be read as it is")

// CheckDataset accepts the names that an agent's configuration can hold. They reach the operator's
// terminal beside the fingerprints of sites' keys: a control character could overwrite one.
func CheckDataset(dataset string) error {
	if dataset == "" || len(dataset) > MaxDataset || !name.Readable(dataset) {
		return ErrDataset
	}
	return nil
}
