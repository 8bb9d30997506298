package analyst

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"covey/internal/frame"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/strict"
	"covey/internal/wire"
)

// pinsFile has the keys that this analyst was shown, and then proposed with.
const pinsFile = "pins.toml"

const maxPins = 4 << 20

// pins are the keys that a coordinator showed first, each of one name for good: sites and analysts
// share one namespace. They are those of proposals that were sent: a person has agreed to them.
type pins struct {
	Coordinator proposal.Key            `toml:"coordinator,omitempty"` // signs releases and results
	Parties     map[string]proposal.Key `toml:"parties,omitempty"`
}

// KeyChangedError is a party that has another key than this analyst was shown before.
type KeyChangedError struct {
	Who     string // empty: the coordinator
	Was, Is string // fingerprints
}

func (e *KeyChangedError) Error() string {
	who, risk, ask := "the coordinator", "Somebody else may hold it: your study would be run, and its result signed, by a coordinator that you do not know", "its operator"
	if e.Who != "" {
		who = frame.Word(e.Who)
		risk = fmt.Sprintf("Somebody else may answer as %s: rows, or a result's reader, that you do not know; enough made-up sites uncover what the others add", who)
		ask = "them"
	}
	return fmt.Sprintf("%s had the key %s and now shows %s. %s. Nothing was proposed. Ask %s, and not through this coordinator; if the new key is theirs: --trust %s",
		who, e.Was, e.Is, risk, ask, e.Is)
}

// readPins reads the folder's pins; none where there is no file.
func (c *Client) readPins() (p pins, err error) {
	path := filepath.Join(c.dir, pinsFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return pins{}, nil
	}
	if err == nil && info.Size() > maxPins {
		return pins{}, &ConfigError{File: path, Reason: fmt.Sprintf("is longer than %d bytes", maxPins)}
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return pins{}, err
	}
	if err := strict.Decode(text, &p); err != nil {
		return pins{}, &ConfigError{File: path, Reason: err.Error()}
	}
	return p, nil
}

// pin holds an offer against the keys that were shown before, of which those in trusted, by their
// fingerprints, may have changed. What is new is pinned, on disk before it returns.
// The error for a key that changed is a [*KeyChangedError]; then nothing is pinned.
func (c *Client) pin(o wire.Offer, trusted []string) error {
	before, err := c.readPins()
	if err != nil {
		return err
	}
	p, _, err := before.with(o, trusted)
	if err != nil || slices.Equal(before.Coordinator, p.Coordinator) && maps.EqualFunc(before.Parties, p.Parties, slices.Equal[proposal.Key]) {
		return err
	}
	text, err := toml.Marshal(p)
	if err != nil {
		return err
	}
	return pki.ReplaceFile(filepath.Join(c.dir, pinsFile), text, 0o600)
}

// with returns the pins after an offer, and the names that it shows first, the empty one for the
// coordinator's key. p is left alone.
func (p pins) with(o wire.Offer, trusted []string) (after pins, fresh []string, err error) {
	if err := same("", p.Coordinator, o.Coordinator, trusted); err != nil {
		return p, nil, err
	}
	if p.Coordinator == nil {
		fresh = append(fresh, "")
	}
	after = pins{o.Coordinator, map[string]proposal.Key{}}
	maps.Copy(after.Parties, p.Parties)
	parties := slices.Clone(o.Readers)
	for _, s := range o.Sites {
		parties = append(parties, proposal.Party{Name: s.Name, Identity: s.Identity})
	}
	for _, one := range parties {
		known := after.Parties[one.Name]
		if err := same(one.Name, known, one.Identity, trusted); err != nil {
			return p, nil, err
		}
		if known == nil {
			fresh = append(fresh, one.Name)
		}
		after.Parties[one.Name] = one.Identity
	}
	return after, fresh, nil
}

// same returns nil for a key that is the one shown before, the first one shown, or one that the
// analyst trusts; else a [*KeyChangedError].
func same(who string, was, is proposal.Key, trusted []string) error {
	if was == nil || slices.Equal(was, is) || slices.Contains(trusted, FingerprintOf(is)) {
		return nil
	}
	return &KeyChangedError{who, FingerprintOf(was), FingerprintOf(is)}
}

// FingerprintOf returns the form of a key that people compare.
func FingerprintOf(key proposal.Key) string { return pki.Fingerprint(ed25519.PublicKey(key)) }
