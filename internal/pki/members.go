package pki

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
)

// membersFile is a coordinator's note of which coordinators there are. It holds public keys alone.
const membersFile = "members.json"

// Members are the coordinators that may connect to each other, as their log has them.
type Members struct {
	// Version counts the entries of the log that changed the members: of two lists the one with the
	// higher version is the later.
	Version uint64 `json:"version"`
	// Keys are the coordinators' own (Authority.NodeKey), 32 bytes each, by name.
	Keys map[string][]byte `json:"keys"`
}

// Known reports whether a key is a member's. A coordinator can show any name, so its name says
// nothing.
func (m Members) Known(key ed25519.PublicKey) bool {
	for _, k := range m.Keys {
		if len(k) == ed25519.PublicKeySize && bytes.Equal(k, key) {
			return true
		}
	}
	return false
}

// SaveMembers replaces the note in a coordinator's folder. A crash leaves the old note or the new
// one.
func SaveMembers(dir string, m Members) error {
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return ReplaceFile(filepath.Join(dir, membersFile), append(raw, '\n'), publicMode)
}

// LoadMembers reads the note; the zero value where there is none yet. The error is a [*FileError].
func LoadMembers(dir string) (Members, error) {
	path := filepath.Join(dir, membersFile)
	raw, err := readFile(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return Members{}, nil
	}
	if err != nil {
		return Members{}, err
	}
	return parseMembers(path, raw)
}

func parseMembers(path string, raw []byte) (Members, error) {
	var m Members
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Members{}, &FileError{path, "is not a list of coordinators: put another coordinator's in its place", err}
	}
	return m, nil
}
