// Package keyring makes and keeps a site's keys of one study: its part in the setup, each answer of
// which is on the ledger before it leaves, and what each slot then holds.
package keyring

import (
	"crypto/ed25519"
	"errors"
	"log/slog"

	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// Ring is this process's memory of a study's setup at one site. Everything in it can be made again
// from the ledger. It is not safe for use by several goroutines.
type Ring struct {
	plan     *study.Plan
	self     int // roster index
	identity ed25519.PrivateKey
	journal  *ledger.Journal
	log      *slog.Logger
	owner    Owner

	Setup   *secagg.Setup // confirmed by all; nil before
	Attempt uint32        // of Setup

	bound secagg.Config // of attempt 0, validated once
	// of the announcements on record, while setup is under way; nil if not looked at yet
	checked *secagg.Setup
	board   *secagg.Board // of the sparse graph, before it is drawn; nil if not looked at yet
}

// Owner is the study at this site, whose setup it is.
type Owner interface {
	// Store returns the code of a ledger's error, which may end the agent.
	Store(error) study.Code
	// RolledBack leaves the study, since the ledger is older than what this site has sent, and
	// returns the refusal.
	RolledBack(r wire.Message, evidence string) wire.Message
	// Beyond logs a sign, but no proof, that the ledger lost the study as a whole.
	Beyond(sign string)
}

// New returns a ring of a study that its site is in, with the site's identity key.
func New(plan *study.Plan, self int, identity ed25519.PrivateKey, journal *ledger.Journal, log *slog.Logger, owner Owner) *Ring {
	return &Ring{plan: plan, self: self, identity: identity, journal: journal, log: log, owner: owner}
}

// refuse makes the refusal of a request.
func refuse(r wire.Message, code study.Code) wire.Refusal {
	return wire.Refusal{Header: r.About(), Code: code}
}

// config is what the setup of a study binds. It is validated once: with thousands of keys that
// takes a good part of a second. An invalid one is refused where it is used.
func (s *Ring) config(attempt uint32) secagg.Config {
	if len(s.bound.Identity) == 0 {
		s.bound, _ = s.plan.Setup(0).Checked()
	}
	c := s.bound
	c.Attempt = attempt
	return c
}

// Internal returns the code of an error that no message can cause.
func (s *Ring) Internal(err error) study.Code {
	if _, ok := errors.AsType[*ledger.StoreError](err); ok {
		return s.owner.Store(err)
	}
	s.log.Error("internal consistency check failed", "study", s.plan.Digest, "error", err)
	return study.CodeInternal
}

// Witness returns the setup that certificates are for: the one that all confirmed or, before this
// site is told so, the one that it confirmed itself; nil if there is none.
func (s *Ring) Witness() (*secagg.Setup, uint32, error) {
	if ready, err := s.Ready(); err != nil || ready {
		return s.Setup, s.Attempt, err
	}
	for k := range uint32(MaxAttempts) {
		if _, ok, err := s.journal.Setup(k, setupConfirmation); err != nil || ok {
			setup, ok, err := s.verified(k)
			if err == nil && !ok {
				err = errSecretsGone
			}
			return setup, k, err
		}
	}
	return nil, 0, nil
}

// Confirmations returns everyone's, once Setup is there.
func (s *Ring) Confirmations() ([][]byte, error) { return s.storedList(s.Attempt, setupConfirmed) }
