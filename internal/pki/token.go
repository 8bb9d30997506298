package pki

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

const (
	tokenSize = 32
	redacted  = "[redacted]"
)

// Token is the 256-bit secret of a join file: the first to show it is the site.
// The zero Token is no token. It prints as [redacted] whatever the verb, in slog, JSON
// and TOML; Bytes and a join file are the ways out.
type Token struct{ secret secret[[tokenSize]byte] }

// NewToken draws a token from crypto/rand.
func NewToken() (Token, error) {
	var b [tokenSize]byte
	if _, err := rand.Read(b[:]); err != nil {
		return Token{}, err
	}
	return Token{hide(b)}, nil
}

// TokenFrom takes a token's bytes, as a site sends them. The error is [ErrToken].
func TokenFrom(b []byte) (Token, error) {
	if len(b) != tokenSize {
		return Token{}, ErrToken
	}
	return Token{hide([tokenSize]byte(b))}, nil
}

// Bytes returns a copy of the secret, to be sent over [JoinTLS]; nil of the zero
// Token.
func (t Token) Bytes() []byte {
	if t.secret == nil {
		return nil
	}
	b := t.secret()
	return b[:]
}

// Hash is what a coordinator stores in the token's place: SHA-256 with a label. The
// token is uniform in 2^256, so no salt and no stretching is called for, and to look
// a hash up in a table tells a caller nothing of other tokens.
func (t Token) Hash() [32]byte {
	return sha256.Sum256(append([]byte("covey join token v1\x00"), t.Bytes()...))
}

// Format prints [redacted] whatever the verb.
func (t Token) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

// String is [redacted].
func (t Token) String() string { return redacted }

// MarshalText returns [redacted]: encoders that find a Token by reflection get only that.
func (t Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// reveal is the form in a join file.
func (t Token) reveal() string { return base64.RawURLEncoding.EncodeToString(t.Bytes()) }

// parseToken takes the one form that reveal gives.
func parseToken(s string) (Token, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(s) != base64.RawURLEncoding.EncodedLen(tokenSize) {
		return Token{}, ErrToken // the decoder skips line breaks: the length shows them
	}
	return TokenFrom(b)
}
