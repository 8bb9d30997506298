package ledger

import (
	"bytes"
	"crypto/ed25519"
)

// Proposer is who signed a study's proposal: a name, and an Ed25519 public key, by which studies
// are counted. The zero Proposer is nobody.
type Proposer struct {
	Name string `json:"name"`
	Key  []byte `json:"key"`
}

// same reports whether the proposer has a key, and it is this one.
func (p Proposer) same(key []byte) bool { return len(key) > 0 && bytes.Equal(p.Key, key) }

func (p Proposer) check() error {
	if !printable(p.Name, 0) || len(p.Key) != 0 && len(p.Key) != ed25519.PublicKeySize || (p.Name == "") != (len(p.Key) == 0) {
		return &FieldError{Field: "proposer", Reason: "must be a name of at most 200 characters and an Ed25519 public key, or nobody"}
	}
	return nil
}

// stored returns the proposer as an entry holds it: nobody is nothing.
func (p Proposer) stored() *Proposer {
	if len(p.Key) == 0 {
		return nil
	}
	return &p
}

// Proposed returns the part of a population's budget that the studies of a proposer's key have
// taken; its CapRho is 0. Nothing once the ledger has failed.
func (l *Ledger) Proposed(population string, key []byte) Population {
	p := Population{Name: population, GDP: true}
	for _, s := range l.Studies() {
		if s.Proposer.same(key) {
			p.add(s)
		}
	}
	return p
}
