package proposal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
)

// Digest is the SHA-256 of the exact bytes of a proposal: what sites approve,
// sign and budget for, never a re-encoding of it.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText writes lower-case hex.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads 64 hex digits.
func (d *Digest) UnmarshalText(text []byte) error {
	v, err := ParseDigest(string(text))
	*d = v
	return err
}

// ParseDigest reads 64 hex digits.
func ParseDigest(text string) (Digest, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != sha256.Size {
		return Digest{}, FieldErrorf("digest", "must be the whole digest, 64 hexadecimal digits, got %.80q", text)
	}
	return Digest(raw), nil
}

// DigestOf returns the digest of a proposal's exact bytes.
func DigestOf(body []byte) Digest { return sha256.Sum256(body) }

// Key is an Ed25519 public key written in hex.
type Key []byte

// MarshalText writes lower-case hex.
func (k Key) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(k)), nil }

// UnmarshalText reads 64 hex digits.
func (k *Key) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return FieldErrorf("key", "must be 64 hex digits")
	}
	*k = raw
	return nil
}

// Member is one site of the roster.
type Member struct {
	// Name as in its certificate.
	Name string `toml:"name" json:"name"`
	// Identity is the site's long-term Ed25519 key.
	Identity Key `toml:"identity" json:"identity"`
	// Units is how many units the site contributes, counted before any row is
	// dropped; public under replacement adjacency.
	Units int `toml:"units" json:"units"`
}

// version is the format of a proposal. What a proposal means never changes: another meaning
// is another number.
const version = 3

// Proposal is a Spec with everything filled in that a site approves: the
// roster with its keys and counts, the coordinator's signing key and a nonce
// that makes two studies of one spec two studies.
type Proposal struct {
	Version     int  `toml:"version" json:"version"`
	Nonce       Key  `toml:"nonce" json:"nonce"`
	Coordinator Key  `toml:"coordinator" json:"coordinator"`
	Spec        Spec `toml:"study" json:"study"`
	// Proposer is the analyst who proposes the study and signs these bytes; nil where the operator
	// of the coordinator does, whom no signature stands for.
	Proposer *Party `toml:"proposer,omitempty" json:"proposer,omitempty"`
	// Readers are the analysts who may read the result besides the proposer.
	Readers []Party `toml:"readers,omitempty" json:"readers,omitempty"`
	// of more than MaxComplete sites
	Graph  *Graph   `toml:"graph,omitempty" json:"graph,omitempty"`
	Roster []Member `toml:"roster" json:"roster"`
}

// Propose is [ProposeAs] by nobody, for a plan alone. Readers that the spec names are checked as
// far as names can be, and left out: their keys are not known, and no figure of a plan follows from
// them.
func Propose(spec Spec, roster []Member, coordinator ed25519.PublicKey, nonce [32]byte) ([]byte, error) {
	if err := checkReaders(spec.Readers, roster); err != nil {
		return nil, err
	}
	spec.Readers = nil
	return ProposeAs(nil, spec, roster, nil, coordinator, nonce)
}

// ProposeAs writes the proposal of a spec: the bytes that everyone hashes. by is the analyst who
// signs their digest ([SignProposal]), nil the coordinator's operator; readers are those that the
// spec names, with their keys; nonce is 32 random bytes, coordinator the key that will sign
// releases.
func ProposeAs(by *Party, spec Spec, roster []Member, readers []Party, coordinator ed25519.PublicKey, nonce [32]byte) ([]byte, error) {
	if err := spec.resolve(); err != nil {
		return nil, err
	}
	if len(spec.Readers) != len(readers) {
		return nil, FieldErrorf("readers", "%d are named and %d are known", len(spec.Readers), len(readers))
	}
	spec.Sites, spec.Readers = nil, nil // the proposal has them with their keys
	thresholds, err := spec.thresholds(len(roster))
	if err != nil {
		return nil, err
	}
	var graph *Graph
	if thresholds.Sparse() {
		dropout := spec.Dropout
		if dropout == 0 {
			dropout = defaultDropout
		}
		if graph, err = newGraph(thresholds, dropout); err != nil {
			return nil, err
		}
	}
	p := Proposal{Version: version, Nonce: nonce[:], Coordinator: Key(coordinator), Spec: spec, Proposer: by, Readers: readers, Graph: graph, Roster: roster}
	body, err := encode(p)
	if err != nil {
		return nil, fmt.Errorf("study: encode proposal: %w", err)
	}
	if _, err := Parse(body); err != nil {
		return nil, err
	}
	return body, nil
}

// defaultDropout is Spec.Dropout's default.
const defaultDropout = 0.1

// Thresholds are the roster's, checked.
func (p Proposal) Thresholds() (Thresholds, error) {
	t, err := p.Spec.thresholds(len(p.Roster))
	if err != nil {
		return t, err
	}
	return t.with(p.Graph)
}

// Parse reads a proposal strictly and checks all of it. Both sides plan from
// what Parse returns, so a field that it would have to fill in is an error: the
// digest covers every parameter in its final form, whatever a build's defaults are.
func Parse(body []byte) (Proposal, error) {
	var p Proposal
	if err := checkMarks(body); err != nil {
		return Proposal{}, err
	}
	if err := decode(body, &p); err != nil {
		return Proposal{}, err
	}
	if p.Version != version {
		return Proposal{}, FieldErrorf("version", "must be %d, got %d", version, p.Version)
	}
	if len(p.Nonce) != 32 {
		return Proposal{}, FieldErrorf("nonce", "must be 32 bytes")
	}
	if len(p.Coordinator) != ed25519.PublicKeySize {
		return Proposal{}, FieldErrorf("coordinator", "must be an Ed25519 public key")
	}
	given := p.Spec
	given.Columns = slices.Clone(given.Columns)
	if err := p.Spec.resolve(); err != nil {
		return Proposal{}, err
	}
	if key := given.differs(p.Spec); key != "" {
		return Proposal{}, FieldErrorf("study."+key, `must be in a proposal, which has all that decides written out: "coordinator study create" and "analyst propose" write it`)
	}
	if err := p.checkExpiry(); err != nil {
		return Proposal{}, err
	}
	if err := p.Spec.checkSpelledOut(); err != nil {
		return Proposal{}, err
	}
	if _, err := p.Thresholds(); err != nil {
		return Proposal{}, err
	}
	if s := p.Spec.SitesPerUnit; s > len(p.Roster) {
		return Proposal{}, FieldErrorf("sites_per_unit", "must be in 1..%d, the number of sites, got %d", len(p.Roster), s)
	}
	names, keys, err := p.checkRoster()
	if err != nil {
		return Proposal{}, err
	}
	if err := p.checkParties(names, keys); err != nil {
		return Proposal{}, err
	}
	return p, nil
}

// checkSpelledOut refuses what a study file may name, and a proposal holds in another form.
func (s *Spec) checkSpelledOut() error {
	switch {
	case s.Start != nil && s.Start.File != "":
		return FieldErrorf("start.file", "must be empty in a proposal, which has the vectors: \"coordinator study create\" reads the file")
	case len(s.Sites) != 0:
		return FieldErrorf("study.sites", "must be empty in a proposal: the roster names the sites")
	case len(s.Readers) != 0:
		return FieldErrorf("study.readers", "must be empty in a proposal: it has the readers with their keys")
	case s.Defaults != nil:
		return FieldErrorf("study.defaults", "must be empty in a proposal: each column has them written out")
	}
	return nil
}

// checkRoster checks each site, and returns the names and identity keys that the roster takes.
func (p Proposal) checkRoster() (names, keys map[string]bool, err error) {
	names, keys = map[string]bool{}, map[string]bool{}
	for i, m := range p.Roster {
		field := fmt.Sprintf("roster[%d]", i)
		if err := validName(field+".name", m.Name); err != nil {
			return nil, nil, err
		}
		if len(m.Identity) != ed25519.PublicKeySize {
			return nil, nil, FieldErrorf(field+".identity", "must be an Ed25519 public key")
		}
		if names[m.Name] || keys[string(m.Identity)] {
			return nil, nil, FieldErrorf(field, "name or identity appears twice")
		}
		names[m.Name], keys[string(m.Identity)] = true, true
		if m.Units < 1 || m.Units > MaxUnits {
			return nil, nil, FieldErrorf(field+".units", "must be in 1..2^40, got %d", m.Units)
		}
	}
	return names, keys, nil
}

// differs returns the first key in which two specs differ, empty if there is none.
func (s Spec) differs(other Spec) string {
	a, b := reflect.ValueOf(s), reflect.ValueOf(other)
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			return keyOf(a.Type().Field(i))
		}
	}
	return ""
}

// Site is the roster index of the site of that name, -1 for none.
func (p Proposal) Site(name string) int {
	return slices.IndexFunc(p.Roster, func(m Member) bool { return m.Name == name })
}

// Units is how many units there are in all, before any are paired.
func (p Proposal) Units() int {
	units := 0
	for _, m := range p.Roster {
		units += m.Units
	}
	return units
}

// Again reports whether a proposal asks what another one asked: all that its analyst wrote is the
// same, whatever its name, its nonce, its expiry, what it says for people and who the sites are.
func (p Proposal) Again(other Proposal) bool {
	return reflect.DeepEqual(p.asked(), other.asked())
}

func (p Proposal) asked() Spec {
	s := p.Spec
	s.Name, s.Expires, s.About, s.Columns = "", "", About{}, slices.Clone(s.Columns)
	for i := range s.Columns {
		s.Columns[i].Measure, s.Columns[i].Range = "", nil
	}
	return s
}
