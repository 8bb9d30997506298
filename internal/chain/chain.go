package chain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// The labels of what is hashed and signed.
const (
	linkLabel = "covey chain v1\x00"
	stepLabel = "covey chain step v1\x00"
	headLabel = "covey chain head v1\x00"
)

// A Step is the hash of one entry: all that a site sees of those that are not its own.
type Step [32]byte

// A Link is the hash of a step and of the link before it: of the whole chain up to there.
type Link [32]byte

// start is the link before the first entry.
func start() Link { return sha256.Sum256([]byte(linkLabel)) }

// next returns the link that follows with a step.
func (l Link) next(s Step) Link {
	h := sha256.New()
	h.Write([]byte(linkLabel))
	h.Write(l[:])
	h.Write(s[:])
	return Link(h.Sum(nil))
}

func (l Link) String() string { return hex.EncodeToString(l[:]) }

// MarshalText returns the link's hexadecimal digits.
func (l Link) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads hexadecimal digits.
func (l *Link) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != len(l) {
		return fmt.Errorf("a chain's head has 64 hexadecimal digits")
	}
	copy(l[:], raw)
	return nil
}

// The kinds of entries. Each has a part that nobody outside of it can guess, so that its step tells
// a site that is not in it nothing: the digest of a proposal, which has a nonce, or the hash of the
// token that a site joined with.
const (
	joined   = "joined"
	revoked  = "revoked"
	proposed = "proposed"
	released = "released"
	drafted  = "drafted"
	ended    = "ended"
)

// Joined is the step of a site that joined, or joined again. token is the hash of the one that it
// joined with, as the log has it.
func Joined(name, token string, identity, tls []byte) Step {
	return step(joined, []byte(name), []byte(token), identity, tls)
}

// Revoked is the step of the end of a site's membership; token is as in Joined.
func Revoked(name, token string) Step { return step(revoked, []byte(name), []byte(token)) }

// Proposed is the step of a proposal.
func Proposed(study [32]byte) Step { return step(proposed, study[:]) }

// Released is the step of a release: its exact signed bytes.
func Released(study [32]byte, encoded []byte) Step { return step(released, study[:], encoded) }

// Drafted is the step of the draft of a study's result, what sites are asked to sign: its SHA-256.
func Drafted(study, draft [32]byte) Step { return step(drafted, study[:], draft[:]) }

// Ended is the step of a study's end, with its result or without.
func Ended(study [32]byte, code string) Step { return step(ended, study[:], []byte(code)) }

func step(kind string, fields ...[]byte) Step {
	h := sha256.New()
	h.Write([]byte(stepLabel))
	for _, f := range append([][]byte{[]byte(kind)}, fields...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(f))))
		h.Write(f)
	}
	return Step(h.Sum(nil))
}

// A Head is a link and its number: how many entries it is the hash of.
type Head struct {
	Number uint64 `json:"number"`
	Link   Link   `json:"head"`
}

func (h Head) String() string { return fmt.Sprintf("%d:%s", h.Number, h.Link) }

// A Signed is a head that a coordinator has shown, with its signature: that its chain has both the
// base, where what it showed began, and the head that this led to. Two that name another link of
// one number prove that the key's holder told two pasts.
type Signed struct {
	Head
	Base      Head   `json:"base"`
	Signature []byte `json:"signature,omitempty"`
}

// SigningInput is what a coordinator signs with the key of its releases.
func (s Signed) SigningInput() []byte {
	out := []byte(headLabel)
	for _, h := range []Head{s.Base, s.Head} {
		out = append(binary.BigEndian.AppendUint64(out, h.Number), h.Link[:]...)
	}
	return out
}

// String has all that it takes to check the signature.
func (s Signed) String() string {
	return fmt.Sprintf("%v from %v signed %x", s.Head, s.Base, s.Signature)
}
