package responder

import (
	"errors"

	"covey/internal/clip"
	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// sign answers with a signature on a survivor set of the open slot: at most one
// set a slot, and only all sites where on_dropout = "wait".
func (q *answers) sign(r wire.Release) wire.Message {
	if no, ok := q.notOpen(r); ok {
		return no
	}
	if no, ok := q.s.chained(r); !ok {
		return no
	}
	u := secagg.Survivors(r.Survivors)
	if q.s.ring.Setup.Graph().Acceptable(u) != nil {
		return wire.Refuse(r, study.CodeTooFewSurvivors)
	}
	signed, err := q.s.journal.Sign(r.Query, r.Slot, q.open.query.Context, u.Bytes(), func() ([]byte, error) {
		return q.s.ring.Setup.SignRelease(q.s.self, q.s.identity, q.open.query, u)
	})
	if err != nil {
		return q.s.forbidden(r, err)
	}
	// What a signature, or shares, that were on record have not written.
	if err := q.s.ledger.KeepChain(); err != nil {
		return wire.Refuse(r, q.s.owner.Store(err))
	}
	return wire.Signature{Header: r.Header, Signature: signed}
}

// openShares answers a release certificate with this site's shares: for one slot
// and one survivor set a query, ever.
func (q *answers) openShares(r wire.Open) wire.Message {
	if no, ok := q.notOpen(r); ok {
		return no
	}
	if no, ok := q.s.chained(r); !ok {
		return no
	}
	u, certificate := secagg.Survivors(r.Survivors), secagg.Certificate(r.Certificate)
	if q.s.ring.Setup.Graph().Acceptable(u) != nil {
		return wire.Refuse(r, study.CodeTooFewSurvivors)
	}
	if lost, err := q.s.evidence.lostSignature(u, certificate); err != nil {
		return wire.Refuse(r, q.s.owner.Store(err))
	} else if lost {
		return q.s.owner.RolledBack(r, FoundRelease)
	}
	// In its stored form it comes again with the result; one with signatures among it that do not
	// hold has another.
	if packed := q.s.ring.Setup.Pack(certificate); len(certificate) == len(q.s.plan.Proposal.Roster) && q.s.ring.Setup.CheckReleased(q.open.query, u, packed) == nil {
		q.open.certified = string(u.Bytes()) + string(packed)
	} else if err := q.s.ring.Setup.CheckCertificate(q.open.query, u, certificate); err != nil {
		return wire.Refuse(r, study.CodeBadCertificate)
	}
	q.open.checked = true
	sent, err := q.s.journal.OpenShares(r.Query, r.Slot, q.open.query.Context, u.Bytes(), func() ([]byte, error) {
		return q.shares(q.open, u)
	})
	if err != nil {
		return q.s.forbidden(r, err)
	}
	if err := q.s.ledger.KeepChain(); err != nil {
		return wire.Refuse(r, q.s.owner.Store(err))
	}
	return wire.Shares{Header: r.Header, Shares: sent}
}

// notOpen refuses a request about another query or slot than the open one.
func (q *answers) notOpen(r wire.Message) (wire.Refusal, bool) {
	if no, ok := FinalRefusal(q.s.ledger, r); ok {
		return no, true
	}
	at := r.About()
	if q.open == nil || q.open.ask.Query != at.Query || q.open.ask.Slot != at.Slot {
		return wire.Refuse(r, study.CodeOutOfOrder), true
	}
	return wire.Refusal{}, false
}

// shares are this site's for a survivor set, which leave on a checked certificate alone.
func (q *answers) shares(open *openQuery, u secagg.Survivors) ([]byte, error) {
	own, held, err := q.s.ring.Slot(open.ask.Slot)
	if err != nil {
		return nil, err
	}
	return q.s.ring.Setup.CertifiedShares(q.s.self, own, held, open.query, u)
}

// forbidden refuses for a rule of the ledger, with what the site holds.
func (s *Responder) forbidden(r wire.Message, err error) wire.Message {
	if held, ok := errors.AsType[*ledger.HeldError](err); ok {
		return s.held(r, held.Signed)
	}
	if rule, ok := errors.AsType[*ledger.RuleError](err); ok {
		if rule.Rule == ledger.QueryFinal {
			if no, ok := FinalRefusal(s.ledger, r); ok {
				return no
			}
		}
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	if _, ok := errors.AsType[*ledger.ConflictError](err); ok {
		// Another query or context under masks that were used.
		return wire.Refuse(r, study.CodePlanMismatch)
	}
	if _, ok := errors.AsType[*ledger.ChargeError](err); ok {
		return wire.Refuse(r, study.CodeBudget)
	}
	if errors.Is(err, ledger.ErrErased) {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	if _, ok := errors.AsType[*clip.QueryError](err); ok {
		return wire.Refuse(r, study.CodePlanMismatch)
	}
	if errors.Is(err, ledger.ErrAbsent) {
		return wire.Refuse(r, study.CodeLeft)
	}
	if s.ledger.Err() != nil {
		return wire.Refuse(r, s.owner.Store(err))
	}
	return wire.Refuse(r, s.ring.Internal(err))
}

// held refuses with the survivor set that this site signed.
func (s *Responder) held(r wire.Message, signed ledger.Signed) wire.Refusal {
	no := wire.Refuse(r, study.CodeHeld)
	no.Query, no.Slot, no.Context, no.Signature = signed.Query, signed.Slot, signed.Context[:], signed.Signature
	// of our own store; empty if it does not read
	no.Survivors, _ = decodeSurvivors(signed.Survivors)
	return no
}
