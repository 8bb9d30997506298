package keyring

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"maps"
	"slices"

	"covey/internal/ledger"
	"covey/internal/wire"
)

// The evidence that the ledger is older than what this site has sent, as the log names it.
const (
	FoundAnnouncement = "an announcement with this site's signature that is not on record"
	FoundConfirmation = "a confirmation with this site's signature that is not on record"
)

// announcementLabel begins every announcement; the graph's name and the study's digest follow it
// (docs/protocol.md).
const announcementLabel = "covey secagg announcement v3\x00"

// madeAnnouncement reports whether raw is an announcement for this study (on the sparse graph, its
// head) that has this site's signature and is not on record.
func (s *Ring) madeAnnouncement(raw []byte) (bool, error) {
	graph := "complete\x00"
	if s.plan.Thresholds.Sparse() {
		graph = "sparse\x00"
	}
	n := len(raw) - ed25519.SignatureSize
	if n < 0 || !bytes.HasPrefix(raw, append([]byte(announcementLabel+graph), s.plan.Digest[:]...)) ||
		!ed25519.Verify(s.identity.Public().(ed25519.PublicKey), raw[:n], raw[n:]) {
		return false, nil
	}
	on, ok, err := s.journal.Setup(setupAnnouncement)
	return err == nil && !(ok && bytes.Equal(s.head(on), raw)), err
}

// lostConfirmation reports whether the confirmations of a setup that this site has not confirmed
// hold a signature of its own. Anything else in its place is the coordinator's word and costs the
// site nothing. Without the announcements the transcript is not known, and no signature
// on it can be checked: the log then reports what that may mean, and the study waits for the
// operator.
func (s *Ring) lostConfirmation(r wire.Confirmed) (bool, error) {
	if len(r.Signatures) != len(s.plan.Proposal.Roster) {
		return false, nil
	}
	setup, err := s.verified()
	if errors.Is(err, errGone) {
		s.owner.Beyond(ToldConfirmed)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return setup.CheckConfirmation(s.self, r.Signatures[s.self]) == nil, nil
}

// ToldConfirmed is a sign of it that proves nothing.
const ToldConfirmed = "the coordinator says that this site confirmed a setup of which the ledger holds nothing"

// recorded is what is on record of each message of a setup that left, by the names of egress.jsonl.
var recorded = map[string]string{"announcement": setupAnnouncement, "nonce": setupAnnouncements, "boxes": setupBoxes,
	"confirmation": setupConfirmation, "recalled": setupDeposits}

// Kinds are the messages of a setup that a site sends, by the names of egress.jsonl.
func Kinds() []string { return slices.Sorted(maps.Keys(recorded)) }

// Recorded reports whether a message of a kind is on record.
func (s *Ring) Recorded(kind string) (bool, error) {
	_, ok, err := s.journal.Setup(recorded[kind])
	return ok, err
}

// Begun reports whether this site has sent anything in a study's setup. From its announcement on,
// others may rely on it.
func Begun(journal *ledger.Journal) (bool, error) {
	_, ok, err := journal.Setup(setupAnnouncement)
	return ok, err
}
