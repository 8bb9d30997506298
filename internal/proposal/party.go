package proposal

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Party is an analyst in a proposal: the name in its certificate and its long-term Ed25519 key. The
// key is who it is; a name can be given to another once it was revoked.
type Party struct {
	Name     string `toml:"name" json:"name"`
	Identity Key    `toml:"identity" json:"identity"`
}

// Same reports whether two are one party: of one name and one key.
func (p Party) Same(other Party) bool {
	return p.Name == other.Name && slices.Equal(p.Identity, other.Identity)
}

// MaxReaders bounds the analysts besides the proposer who may read a study's result.
const MaxReaders = 20

// proposalLabel separates the signatures on proposals from all else that an identity key signs.
const proposalLabel = "covey proposal v1\x00"

// SignProposal signs a proposal's exact bytes, by their digest, with its proposer's identity key.
// The proposer's name and key are in the bytes, the signature beside them: it cannot be in what it
// signs.
func SignProposal(key ed25519.PrivateKey, d Digest) []byte {
	return ed25519.Sign(key, slices.Concat([]byte(proposalLabel), d[:]))
}

// SignatureError is a proposal without its proposer's signature, or with one that it has no
// proposer for.
type SignatureError struct{ Reason string }

func (e *SignatureError) Error() string { return "study: the proposal's signature " + e.Reason }

// CheckSignature checks what stands beside a proposal of this digest: its proposer's signature, or
// nothing where it has no proposer. The error is a [*SignatureError].
func (p Proposal) CheckSignature(d Digest, signature []byte) error {
	switch {
	case p.Proposer == nil && len(signature) > 0:
		return &SignatureError{"is of nobody: the proposal names no proposer"}
	case p.Proposer == nil:
		return nil
	case len(p.Proposer.Identity) != ed25519.PublicKeySize || // ed25519.Verify panics on it
		!ed25519.Verify(ed25519.PublicKey(p.Proposer.Identity), slices.Concat([]byte(proposalLabel), d[:]), signature):
		return &SignatureError{fmt.Sprintf("is not that of its proposer, %q, over these bytes", p.Proposer.Name)}
	}
	return nil
}

// Reads reports whether a party may read the study's result: its proposer, or one of its readers.
// Sites of the roster may, too.
func (p Proposal) Reads(who Party) bool {
	return p.Proposer != nil && p.Proposer.Same(who) || slices.ContainsFunc(p.Readers, who.Same)
}

// checkReaders checks the names of readers whose keys are not known.
func checkReaders(readers []string, roster []Member) error {
	var p Proposal
	for _, name := range readers {
		key := sha256.Sum256([]byte("covey: no key of reader " + name))
		p.Readers = append(p.Readers, Party{name, key[:]})
	}
	names := map[string]bool{}
	for _, m := range roster {
		names[m.Name] = true
	}
	return p.checkParties(names, map[string]bool{})
}

// checkParties checks the proposer and the readers: names and keys are each one's own, the sites'
// included, so that a name in the proposal means one party.
func (p Proposal) checkParties(names, keys map[string]bool) error {
	if len(p.Readers) > MaxReaders {
		return FieldErrorf("readers", "at most %d, got %d", MaxReaders, len(p.Readers))
	}
	check := func(field string, one Party) error {
		if err := validName(field+".name", one.Name); err != nil {
			return err
		}
		if len(one.Identity) != ed25519.PublicKeySize {
			return FieldErrorf(field+".identity", "must be an Ed25519 public key")
		}
		if names[one.Name] || keys[string(one.Identity)] {
			return FieldErrorf(field, "name or identity appears twice: a site, the proposer or another reader has it")
		}
		names[one.Name], keys[string(one.Identity)] = true, true
		return nil
	}
	if p.Proposer != nil {
		if err := check("proposer", *p.Proposer); err != nil {
			return err
		}
	}
	for i, r := range p.Readers {
		if err := check(fmt.Sprintf("readers[%d]", i), r); err != nil {
			return err
		}
	}
	return nil
}
