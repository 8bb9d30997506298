package outline

import (
	"time"

	"covey/internal/chain"
	"covey/internal/membership"
	"covey/internal/pki"
)

// SitesReply lists sites.
type SitesReply struct {
	Sites   []ListedSite        `json:"sites"`
	Invited []membership.Invite `json:"invited"`
	Chain   chain.Head          `json:"chain"` // of the log's chain, now
}

// ListedSite is a site as listed.
type ListedSite struct {
	membership.Holder
	Fingerprint string         `json:"fingerprint"`
	Connected   bool           `json:"connected"`
	Datasets    map[string]int `json:"datasets,omitempty"` // units by name
	// KeyExchange is that of the site's link.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
	// Expires is the end of the certificate that this coordinator saw or gave last; zero: unknown.
	Expires time.Time `json:"certificate_expires,omitzero"`
	// BrokenChain says that the site answers no query: the chain does not extend the one it kept.
	BrokenChain bool `json:"broken_chain,omitempty"`
	// Refused is why this coordinator refuses the site's program, which shares no protocol with it.
	Refused string `json:"refused,omitempty"`
}

// AnalystsReply lists analysts.
type AnalystsReply struct {
	Analysts []ListedAnalyst     `json:"analysts"`
	Invited  []membership.Invite `json:"invited"`
}

// ListedAnalyst is an analyst as listed.
type ListedAnalyst struct {
	membership.Holder
	Fingerprint string `json:"fingerprint"`
	Open        int    `json:"open"` // proposals of its own that are not over
	// KeyExchange is that of the last command's connection that this leader has seen.
	KeyExchange pki.KeyExchange `json:"key_exchange,omitzero"`
}
