package responder

import (
	"slices"

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
func (q *answers) prove(r wire.Prove) wire.Message {
	u, no := q.shared(r, r.Survivors)
	if no != nil {
		return no
	}
	public, err := q.s.ring.Public()
	if err != nil {
		return wire.Refuse(r, q.s.owner.Store(err))
	}
	dealer := r.Dealer.Site()
	if _, _, ok := q.s.ring.Setup.Graph().Find(q.s.self, dealer); !ok {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	proof, err := q.s.ring.Setup.Proof(q.s.self, dealer, q.open.query, u, public)
	if err != nil {
		return wire.Refuse(r, q.s.ring.Internal(err))
	}
	return wire.Proof{Header: r.Header, Dealer: r.Dealer, Proof: proof}
}

// keys answers with the keys of this site's pairs with every mask neighbor outside of the
// survivors, of whom this site is one. Nothing of theirs is in the sum, and what unmasks it of
// them is what the shares of their secrets open too: keys stand in for what such a site deposited
// falsely or nobody has any more.
func (q *answers) keys(r wire.Keys) wire.Message {
	u, no := q.shared(r, r.Survivors)
	if no != nil {
		return no
	}
	if q.s.ring.Setup.Config().Whole() || !slices.Contains(u, q.s.self) {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	own, held, err := q.s.ring.Slot(r.Slot)
	if err != nil {
		return q.s.forbidden(r, err)
	}
	keys, err := q.s.ring.Setup.Keys(q.s.self, own, held, q.open.query, u)
	if err != nil {
		return wire.Refuse(r, q.s.ring.Internal(err))
	}
	return wire.PairKeys{Header: r.Header, Keys: keys}
}

// shared returns a survivor set of the open slot for which this site sent its shares and may send
// them again, or the refusal.
func (q *answers) shared(r wire.Message, survivors []int) (secagg.Survivors, wire.Message) {
	if no, ok := q.notOpen(r); ok {
		return nil, no
	}
	at := r.About()
	// Where every site is waited for, shares are on record with the upload, before a certificate.
	if q.s.waits() && !q.open.checked {
		return nil, wire.Refuse(r, study.CodeOutOfOrder)
	}
	u := secagg.Survivors(survivors)
	if q.s.ring.Setup.Graph().Acceptable(u) != nil {
		return nil, wire.Refuse(r, study.CodeTooFewSurvivors)
	}
	if err := q.s.journal.Shared(at.Query, at.Slot, q.open.query.Context, u.Bytes()); err != nil {
		return nil, q.s.forbidden(r, err)
	}
	return u, nil
}
