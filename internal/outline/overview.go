package outline

import (
	"time"

	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// Overview is what this coordinator knows at a moment, for people who watch. A
// coordinator that follows has it from the log; links, deadlines and who is awaited are the
// leader's alone. Nothing in it is un-noised.
type Overview struct {
	Leading    bool         `json:"leading"`
	Studies    []View       `json:"studies"` // the newest first
	Sites      []SiteStatus `json:"sites"`   // by name
	Happenings []Happening  `json:"happenings"`
	// Key and CA are fingerprints: of the key that signs results, and of the CA certificate.
	Key string `json:"key"`
	CA  string `json:"ca"`
	// Expires is the end of this coordinator's own certificate.
	Expires time.Time `json:"expires"`
	// QuantumSafe reports whether this coordinator demands quantum-safe links, Refused how many
	// callers offered none since this process began.
	QuantumSafe bool `json:"quantum_safe_links,omitempty"`
	Refused     int  `json:"links_refused,omitempty"`
}

// SiteStatus is a site, whatever studies it is in.
type SiteStatus struct {
	Name        string    `json:"name"`
	Fingerprint string    `json:"fingerprint"`
	Joined      time.Time `json:"joined"`
	Revoked     bool      `json:"revoked,omitempty"`
	Connected   bool      `json:"connected"`
	Late        bool      `json:"late"` // awaited by a study past its deadline
	BrokenChain bool      `json:"broken_chain,omitempty"`
	Refused     string    `json:"refused,omitempty"` // why its program is, which shares no protocol
	Sighting
}

// Sighting is what a site or an analyst last showed this coordinator; it outlives the link.
type Sighting struct {
	At       time.Time `json:"at,omitzero"` // of its last message
	Software string    `json:"software,omitempty"`
	// end of the certificate that it showed, or was given since
	Expires time.Time `json:"expires,omitzero"`
	// Authority is the CA that its certificate is of, by fingerprint, as it last told.
	Authority string `json:"authority,omitempty"`
	// KeyExchange is of the last link, or of an analyst's last connection.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
	// Faults are its messages that failed a check, since this coordinator was started.
	Faults map[study.Code]int `json:"faults,omitempty"`
}

// Story is one study so far.
type Story struct {
	View
	Plan   *study.Plan
	Rounds []round.View // released, in order
	// Method is decided, X in force: the components after the last step.
	Method string
	X      []float64
}

// RevokedStudy is a study that a revoked site was in. Nobody can come back in its place: the roster
// has its key.
type RevokedStudy struct {
	Digest proposal.Digest `json:"digest"`
	Name   string          `json:"name"`
	Status round.Status    `json:"status"`
	// GoesOn reports whether the study no longer needs the site: it runs, its on_dropout is
	// "continue", and enough of its sites are not revoked. Any other study waits until it is ended.
	// It needs no proposer: that of an analyst goes on.
	GoesOn bool `json:"goes_on"`
}

// SignedDecision is one site's decision for people and programs to check.
type SignedDecision struct {
	Site        string       `json:"site"`
	Identity    proposal.Key `json:"identity"`
	Fingerprint string       `json:"fingerprint"`
	Word
}
