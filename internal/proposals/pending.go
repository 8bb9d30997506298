package proposals

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"covey/internal/packed"
	"covey/internal/pki"
	"covey/internal/proposal"
)

// Proposals that await the operator are files: pending/<digest>.toml.gz holds the
// exact bytes, so that what a person reads there, with zcat, is what is approved. Losing
// one loses nothing: the coordinator offers it again on every link.

// Bounds on what an unapproved coordinator message may make this site keep.
const (
	MaxProposal     = 32 << 20
	maxPending      = 100
	maxPendingBytes = 2 * MaxProposal // together, as they are read: each is in memory, too, twice over
)

const extension = ".toml.gz"

// ErrFull is returned by Put once too much waits.
var ErrFull = fmt.Errorf("%d proposals, or %d MiB of them, await the operator already: approve or reject some; this one must then be proposed again", maxPending, maxPendingBytes>>20)

// PendingStore is the directory. Files are replaced whole, so a crash leaves the
// old or the new one, or a temporary file that the next start removes.
type PendingStore struct{ dir string }

// OpenPending makes the directory, and removes what a crash left half written.
func OpenPending(dir string) (*PendingStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp"))
	if err != nil {
		return nil, err
	}
	for _, path := range left {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return &PendingStore{dir}, nil
}

func (p *PendingStore) path(d proposal.Digest) string {
	return filepath.Join(p.dir, d.String()+extension)
}

// Put stores a proposal; storing it again changes nothing.
func (p *PendingStore) Put(body []byte) error {
	d := proposal.DigestOf(body)
	if p.Has(d) {
		return nil
	}
	all, err := p.List()
	if err != nil {
		return err
	}
	total := len(body)
	for _, other := range all {
		if zipped, err := os.ReadFile(p.path(other)); err == nil { // else it is gone since
			total += max(0, packed.Length(zipped))
		}
	}
	if len(all) >= maxPending || total > maxPendingBytes {
		return ErrFull
	}
	return pki.ReplaceFile(p.path(d), packed.Zip(body), 0o600)
}

// Has reports whether a proposal is stored.
func (p *PendingStore) Has(d proposal.Digest) bool {
	_, err := os.Stat(p.path(d))
	return err == nil
}

// Get returns a proposal's bytes; false if it is not there or not what its name says.
func (p *PendingStore) Get(d proposal.Digest) ([]byte, bool) {
	zipped, err := os.ReadFile(p.path(d))
	if err != nil {
		return nil, false
	}
	body, err := packed.Unzip(zipped, MaxProposal)
	return body, err == nil && proposal.DigestOf(body) == d
}

// ReadFile reads a file of a study: a proposal as it is kept here, or any text as it is.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxProposal+1)) // a pipe may never end
	if err == nil && len(text) > MaxProposal {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is longer than %d MiB, which no proposal is", MaxProposal>>20)}
	}
	if err == nil && strings.HasSuffix(path, extension) {
		text, err = packed.Unzip(text, MaxProposal)
	}
	return text, err
}

// Remove forgets a proposal that is decided or over.
func (p *PendingStore) Remove(d proposal.Digest) error {
	if err := os.Remove(p.path(d)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List returns the digests, in order.
func (p *PendingStore) List() ([]proposal.Digest, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return nil, err
	}
	var out []proposal.Digest
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), extension)
		if !ok {
			continue
		}
		if d, err := proposal.ParseDigest(name); err == nil {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b proposal.Digest) int { return strings.Compare(a.String(), b.String()) })
	return out, nil
}
