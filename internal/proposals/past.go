package proposals

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/study"
)

// Proposals that are over at this site stay in view: past/<digest>.json says how each ended, and
// when and why. It is for the operator alone. Nothing is decided by it, no other party reads it,
// and losing it loses nothing else; what counts is on the ledger.

// Bounds on what is kept: the oldest goes first, so that whoever makes proposals cannot fill the
// disk.
const (
	maxPast      = 100
	maxPastBytes = 64 << 20
	maxPastBody  = 4 << 20 // a longer proposal is not kept with its record
)

// Past is how one proposal ended here.
type Past struct {
	Digest     proposal.Digest `json:"digest"`
	Name       string          `json:"name,omitempty"` // empty where the bytes are no proposal
	State      string          `json:"state"`
	Code       study.Code      `json:"code"`
	Why        string          `json:"why,omitempty"` // in words, for this site's operator
	By         string          `json:"by,omitempty"`
	Population string          `json:"population,omitempty"`
	Rho        float64         `json:"rho,omitempty"` // the plan's
	Proposer   *proposal.Party `json:"proposer,omitempty"`
	Time       time.Time       `json:"time"`
	Proposal   []byte          `json:"proposal,omitempty"`

	bytes int // of its file
}

// PastStore is the directory, with all but the proposals in memory.
type PastStore struct {
	dir string
	mu  sync.Mutex
	all map[proposal.Digest]Past
}

// OpenPast makes the directory and reads it. A file that does not read is removed: nothing depends
// on it.
func OpenPast(dir string) (*PastStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	p := &PastStore{dir: dir, all: map[proposal.Digest]Past{}}
	for _, e := range entries {
		name, _ := strings.CutSuffix(e.Name(), ".json")
		id, err := proposal.ParseDigest(name)
		one, ok := Past{}, false
		if err == nil {
			one, ok = p.read(id)
		}
		if !ok {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return nil, err
			}
			continue
		}
		one.Proposal = nil
		p.all[id] = one
	}
	return p, p.trim(proposal.Digest{})
}

func (p *PastStore) path(id proposal.Digest) string { return filepath.Join(p.dir, id.String()+".json") }

// read reads one file; false if it is not there, or not what its name says.
func (p *PastStore) read(id proposal.Digest) (Past, bool) {
	var one Past
	raw, err := os.ReadFile(p.path(id))
	if err != nil || json.Unmarshal(raw, &one) != nil || one.Digest != id || len(one.Proposal) > 0 && proposal.DigestOf(one.Proposal) != id {
		return Past{}, false
	}
	one.bytes = len(raw)
	return one, true
}

// Put keeps a record in place of an older one of the study. The same end again changes nothing: the
// first time stands.
func (p *PastStore) Put(one Past) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old, ok := p.all[one.Digest]; ok && old.State == one.State && old.Code == one.Code {
		return nil
	}
	one.Why = frame.Cleaned(one.Why)
	if len(one.Proposal) > maxPastBody {
		one.Proposal = nil
	}
	raw, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if err := pki.ReplaceFile(p.path(one.Digest), raw, 0o600); err != nil {
		return err
	}
	one.bytes, one.Proposal = len(raw), nil
	p.all[one.Digest] = one
	return p.trim(one.Digest)
}

// trim drops the oldest until the rest is within bounds; never the one just kept. Called with mu
// held, or before there is another.
func (p *PastStore) trim(kept proposal.Digest) error {
	total := 0
	for _, one := range p.all {
		total += one.bytes
	}
	for _, one := range slices.SortedFunc(maps.Values(p.all), func(a, b Past) int { return a.Time.Compare(b.Time) }) {
		if len(p.all) <= maxPast && total <= maxPastBytes {
			break
		}
		if one.Digest == kept {
			continue
		}
		if err := p.drop(one.Digest); err != nil {
			return err
		}
		total -= one.bytes
	}
	return nil
}

func (p *PastStore) drop(id proposal.Digest) error {
	delete(p.all, id)
	if err := os.Remove(p.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Remove forgets a study that is open again.
func (p *PastStore) Remove(id proposal.Digest) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.all[id]; !ok {
		return nil
	}
	return p.drop(id)
}

// Get returns a record without its proposal.
func (p *PastStore) Get(id proposal.Digest) (Past, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, ok := p.all[id]
	return one, ok
}

// Proposal returns the bytes that are kept with a record; nil for none.
func (p *PastStore) Proposal(id proposal.Digest) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.all[id]; !ok {
		return nil
	}
	one, _ := p.read(id)
	return one.Proposal
}

// List returns the digests, the newest first.
func (p *PastStore) List() []proposal.Digest {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []proposal.Digest
	for _, one := range slices.SortedFunc(maps.Values(p.all), func(a, b Past) int { return b.Time.Compare(a.Time) }) {
		out = append(out, one.Digest)
	}
	return out
}
