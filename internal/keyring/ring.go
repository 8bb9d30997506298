// Package keyring makes and keeps a site's keys of one study: its part in the setup, each answer of
// which is on the ledger before it leaves, and what each slot then holds.
//
// # Rules
//
// The rules of docs/protocol.md about a site's part of the setup, at length.
//
//   - AG-6: An agent MUST deal for one set of announcements, with its own in it. It refuses
//     another set with the announcement on record of the first other site that differs (R20).
//   - AG-7: It MUST take part in one setup a study. Asked again, before or after a restart, a
//     confirmation or the setup's end, it MUST answer with the announcement on record and MUST NOT
//     make another. What a study's masks are made of is so drawn once.
//   - AG-8: It MUST check every share and key before it signs its confirmation, and MUST store in
//     one step what it holds of each slot (its secret, shares and keys are one item that dies with
//     the slot), what later answers show, deposits, statement and confirmation. X25519 key, ML-KEM
//     seed and nonce are erased then, by a new process if need be, before it says anything.
//   - AG-60: A box that is its sender's and does not hold MUST be refused with `bad_share`, the
//     sender, the setup's X25519 key and ML-KEM seed, and the box. Before those leave it MUST be
//     on record that the setup is closed, which a confirmed one never is: it is never confirmed,
//     and its secrets are erased. What is not its sender's is `bad_box` of nobody.
//   - AG-61: After it confirmed, every Confirm gets the stored bytes; but one with a box of an
//     owner that has other tags MUST be refused with `bad_box`, the owner, and what it signed of
//     the first: SHA-256 of ct and sealed, signature, tags.
//   - AG-62: Recall MUST be answered from the boxes and deposits on record, after the
//     confirmation.
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

	Setup *secagg.Setup // confirmed by all; nil before

	bound secagg.Config // validated once
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

// config is what the setup of a study binds. It is validated once: with thousands of keys that
// takes a good part of a second. An invalid one is refused where it is used.
func (s *Ring) config() secagg.Config {
	if len(s.bound.Identity) == 0 {
		s.bound, _ = s.plan.Setup().Checked()
	}
	return s.bound
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
func (s *Ring) Witness() (*secagg.Setup, error) {
	if ready, err := s.Ready(); err != nil || ready {
		return s.Setup, err
	}
	if _, ok, err := s.journal.Setup(setupConfirmation); err != nil || !ok {
		return nil, err
	}
	return s.verified()
}

// Public returns what this site's later answers show of what was dealt, from its confirmation on.
func (s *Ring) Public() ([]byte, error) { return s.stored(setupPublic) }

// Confirmations returns everyone's, once Setup is there.
func (s *Ring) Confirmations() ([][]byte, error) { return s.storedList(setupConfirmed) }
