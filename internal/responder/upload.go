package responder

import (
	"errors"

	"covey/internal/aggregate"
	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// upload answers a query with this site's masked sum. Nothing is computed unless
// the query is the approved plan's next one, its ρ may be charged, and the slot was
// never used; the charge and what is computed are on disk, together, before it is sent.
func (q *answers) upload(r wire.Query, approval ledger.Approval) wire.Message {
	// the answer is the result that is being written
	if w := q.s.results.recording; w != nil && r.Ask.Query <= w.query {
		if err := q.s.results.written(); err != nil {
			return wire.Refuse(r, q.s.owner.Store(err))
		}
	}
	if no, ok := FinalRefusal(q.s.ledger, r); ok {
		return no
	}
	if ready, err := q.s.ring.Ready(); err != nil {
		return wire.Refuse(r, q.s.owner.Store(err))
	} else if !ready {
		return wire.Refuse(r, study.CodeOutOfOrder)
	}
	ask := q.s.plan.Queries.Fill(r.Ask)
	if err := q.s.plan.Check(ask); err != nil {
		q.s.log.Error("a query does not fit the approved plan", "study", q.s.plan.Digest, "error", err)
		return wire.Refuse(r, study.CodePlanMismatch)
	}
	if no, ok := q.s.lawful(r, ask); !ok {
		return no
	}
	open := &openQuery{ask: ask, query: q.s.plan.Summed(q.s.ring.Setup.Transcript(), ask)}
	// A file that changed is no charge. An upload on record is sent even so: it
	// was made of the approved rows.
	data := q.s.owner.Pinned(approval)
	if no, ok := q.s.chained(r); !ok {
		return no
	}
	if data == "" {
		q.add(open) // goes on while the result before is written; what it gives leaves only after it
		defer q.abandonSum()
	}
	if err := q.s.results.written(); err != nil {
		return wire.Refuse(r, q.s.owner.Store(err))
	}
	fresh := false
	masked, err := q.s.journal.Upload(ask.Query, ask.Slot, open.query.Context, q.s.plan.Queries[ask.Query].Rho, func() ([]byte, error) {
		if data != "" {
			return nil, holding.ErrChanged
		}
		fresh = true
		return q.masked(open)
	}, q.opening(open)...)
	switch {
	case data != "" && errors.Is(err, holding.ErrChanged):
		return wire.Refuse(r, data)
	case err != nil:
		return q.s.forbidden(r, err)
	}
	// What the upload has not written: it was on record.
	if err := q.s.ledger.KeepChain(); err != nil {
		return wire.Refuse(r, q.s.owner.Store(err))
	}
	q.open = open
	sent := wire.Upload{Header: wire.Header{Study: q.s.plan.Digest, Query: ask.Query, Slot: ask.Slot}, Masked: masked}
	if fresh {
		return sent
	}
	return q.again(r, sent)
}

// again is an upload that was on record. The coordinator asks again for a slot in which this site
// may have signed a survivor set, or sent shares: it may have lost that (a restored backup), and
// must hear of it before it can choose another set, or another slot.
func (q *answers) again(r wire.Query, sent wire.Upload) wire.Message {
	signed, held := q.s.journal.Signed(sent.Slot)
	opened, shared, err := q.s.journal.SharedIn(sent.Query, sent.Slot)
	switch {
	case err != nil:
		return q.s.forbidden(r, err)
	case !held && !shared:
		return sent
	case !held:
		signed = opened
	}
	no := q.s.held(r, signed)
	no.Shared = shared
	return uplink.Pair{Message: no, Second: sent}
}

// masked computes the exact sum over this site's rows and hides it under the slot's masks.
func (q *answers) masked(open *openQuery) ([]byte, error) {
	ask := open.ask
	own, held, err := q.s.ring.Slot(ask.Slot)
	if err != nil {
		return nil, err
	}
	sum, err := q.added(ask)
	if err != nil {
		return nil, err
	}
	return aggregate.Upload(q.s.plan, q.s.ring.Setup, q.s.self, ask, open.query, sum, own, held)
}

// waits reports whether the study waits for every site.
func (s *Responder) waits() bool { return s.plan.Proposal.Spec.OnDropout == proposal.DropoutWait }

// opening is what goes on record with an upload: where every site is waited for, the slot's
// survivors are all sites, whatever the coordinator asks later. The shares leave once a certificate
// was checked. A site whose signature does not count is asked for none.
func (q *answers) opening(open *openQuery) []ledger.Opening {
	if !q.s.waits() {
		return nil
	}
	u := make(secagg.Survivors, len(q.s.plan.Proposal.Roster))
	for i := range u {
		u[i] = i
	}
	o := ledger.Opening{Survivors: u.Bytes(), Shares: func() ([]byte, error) { return q.shares(open, u) }}
	if q.s.ring.Setup.Graph().Signs(q.s.self) {
		o.Sign = func() ([]byte, error) { return q.s.ring.Setup.SignRelease(q.s.self, q.s.identity, open.query, u) }
	}
	return []ledger.Opening{o}
}
