package agent

import (
	"slices"

	"covey/internal/ledger"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/wire"
)

// What a site answers about an opening besides its shares: proofs, and keys of pairs. Both are
// functions of what is stored and of the shares that went out on a certificate, so they carry no
// certificate and need no record of their own, and open nothing that those shares do not.

// prove answers with the proof that the share that this site sent of one dealer's secret is the
// one that the dealer committed to: the hashes of its other shares, which the dealer's commitments
// hold.
func (s *session) prove(r wire.Prove) wire.Message {
	u, no := s.shared(r, r.Survivors)
	if no != nil {
		return no
	}
	public, ok, err := s.journal.Setup(s.ring.Attempt, ledger.SetupPublic)
	if err != nil || !ok {
		return refuse(r, s.store(err))
	}
	dealer := r.Dealer - 1
	if _, _, ok := s.ring.Setup.Graph().Find(s.self, dealer); !ok {
		return refuse(r, study.CodeOutOfOrder)
	}
	proof, err := s.ring.Setup.Proof(s.self, dealer, s.open.query, u, public)
	if err != nil {
		return refuse(r, s.ring.Internal(err))
	}
	return wire.Proof{Header: r.Header, Dealer: r.Dealer, Proof: proof}
}

// keys answers with the keys of this site's pairs with every mask neighbor outside of the
// survivors, of whom this site is one. Nothing of theirs is in the sum, and what unmasks it of
// them is what the shares of their secrets open too: keys stand in for what such a site deposited
// falsely or nobody has any more.
func (s *session) keys(r wire.Keys) wire.Message {
	u, no := s.shared(r, r.Survivors)
	if no != nil {
		return no
	}
	if s.ring.Setup.Config().Whole() || !slices.Contains(u, s.self) {
		return refuse(r, study.CodeOutOfOrder)
	}
	own, held, err := s.ring.Slot(r.Slot)
	if err != nil {
		return s.forbidden(r, err)
	}
	keys, err := s.ring.Setup.Keys(s.self, own, held, s.open.query, u)
	if err != nil {
		return refuse(r, s.ring.Internal(err))
	}
	return wire.PairKeys{Header: r.Header, Keys: keys}
}

// shared returns a survivor set of the open slot for which this site sent its shares and may send
// them again, or the refusal.
func (s *session) shared(r wire.Message, survivors []int) (secagg.Survivors, wire.Message) {
	if no, ok := s.agent.finalRefusal(r); ok {
		return nil, no
	}
	at := r.About()
	if s.open == nil || s.open.ask.Query != at.Query || s.open.ask.Slot != at.Slot {
		return nil, refuse(r, study.CodeOutOfOrder)
	}
	// Where every site is waited for, shares are on record with the upload, before a certificate.
	if s.waits() && !s.open.checked {
		return nil, refuse(r, study.CodeOutOfOrder)
	}
	u := secagg.Survivors(survivors)
	if s.ring.Setup.Graph().Acceptable(u) != nil {
		return nil, refuse(r, study.CodeTooFewSurvivors)
	}
	if err := s.journal.Shared(at.Query, at.Slot, s.open.query.Context, u.Bytes()); err != nil {
		return nil, s.forbidden(r, err)
	}
	return u, nil
}
