package agent

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"errors"

	"covey/internal/aggregate"
	"covey/internal/clip"
	"covey/internal/holding"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/secagg"
	"covey/internal/study"
	"covey/internal/uplink"
	"covey/internal/wire"
)

// answers are a session's to the queries of its study, of which one is open at a time.
type answers struct {
	s      *session
	open   *openQuery // nil until a query is answered
	adding *adding    // of the query under way; nil if none was begun
}

// upload answers a query with this site's masked sum. Nothing is computed unless
// the query is the approved plan's next one, its ρ may be charged, and the slot was
// never used; the charge and what is computed are on disk, together, before it is sent.
func (q *answers) upload(r wire.Query, approval ledger.Approval) wire.Message {
	// the answer is the result that is being written
	if w := q.s.results.recording; w != nil && r.Ask.Query <= w.query {
		if err := q.s.results.written(); err != nil {
			return refuse(r, q.s.store(err))
		}
	}
	if no, ok := q.s.agent.finalRefusal(r); ok {
		return no
	}
	if ready, err := q.s.ring.Ready(); err != nil {
		return refuse(r, q.s.store(err))
	} else if !ready {
		return refuse(r, study.CodeOutOfOrder)
	}
	ask := q.s.plan.Queries.Fill(r.Ask)
	if err := q.s.plan.Check(ask); err != nil {
		q.s.agent.log.Error("a query does not fit the approved plan", "study", q.s.plan.Digest, "error", err)
		return refuse(r, study.CodePlanMismatch)
	}
	if no, ok := q.s.lawful(r, ask); !ok {
		return no
	}
	open := &openQuery{ask: ask, query: q.s.plan.Summed(q.s.ring.Setup.Transcript(), ask)}
	// A file that changed is no charge. An upload on record is sent even so: it
	// was made of the approved rows.
	data := q.s.pinned(approval)
	if no, ok := q.s.chained(r); !ok {
		return no
	}
	if data == "" {
		q.add(open) // goes on while the result before is written; what it gives leaves only after it
		defer q.abandonSum()
	}
	if err := q.s.results.written(); err != nil {
		return refuse(r, q.s.store(err))
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
		return refuse(r, data)
	case err != nil:
		return q.s.forbidden(r, err)
	}
	// What the upload has not written: it was on record.
	if err := q.s.agent.ledger.KeepChain(); err != nil {
		return refuse(r, q.s.store(err))
	}
	q.open = open
	sent := wire.Upload{Header: wire.Header{Study: q.s.plan.Digest, Query: ask.Query, Slot: ask.Slot}, Masked: masked}
	if fresh {
		return sent
	}
	// The coordinator asks again for a slot in which this site signed a survivor
	// set, or sent shares: it may have lost that (a restored backup), and must hear of it before it
	// can choose another set, or another slot.
	signed, held := q.s.journal.Signed(ask.Slot)
	opened, shared, err := q.s.journal.SharedIn(ask.Query, ask.Slot)
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
func (s *session) waits() bool { return s.plan.Proposal.Spec.OnDropout == proposal.DropoutWait }

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
		o.Sign = func() ([]byte, error) { return q.s.ring.Setup.SignRelease(q.s.self, q.s.agent.identity, open.query, u) }
	}
	return []ledger.Opening{o}
}

// shares are this site's for a survivor set, which leave on a checked certificate alone.
func (q *answers) shares(open *openQuery, u secagg.Survivors) ([]byte, error) {
	own, held, err := q.s.ring.Slot(open.ask.Slot)
	if err != nil {
		return nil, err
	}
	return q.s.ring.Setup.CertifiedShares(q.s.self, own, held, open.query, u)
}

// sign answers with a signature on a survivor set of the open slot: at most one
// set a slot, and only all sites where on_dropout = "wait".
func (q *answers) sign(r wire.Release) wire.Message {
	if no, ok := q.s.agent.finalRefusal(r); ok {
		return no
	}
	if q.open == nil || q.open.ask.Query != r.Query || q.open.ask.Slot != r.Slot {
		return refuse(r, study.CodeOutOfOrder)
	}
	if no, ok := q.s.chained(r); !ok {
		return no
	}
	u := secagg.Survivors(r.Survivors)
	if q.s.ring.Setup.Graph().Acceptable(u) != nil {
		return refuse(r, study.CodeTooFewSurvivors)
	}
	signed, err := q.s.journal.Sign(r.Query, r.Slot, q.open.query.Context, u.Bytes(), func() ([]byte, error) {
		return q.s.ring.Setup.SignRelease(q.s.self, q.s.agent.identity, q.open.query, u)
	})
	if err != nil {
		return q.s.forbidden(r, err)
	}
	// What a signature, or shares, that were on record have not written.
	if err := q.s.agent.ledger.KeepChain(); err != nil {
		return refuse(r, q.s.store(err))
	}
	return wire.Signature{Header: r.Header, Signature: signed}
}

// openShares answers a release certificate with this site's shares: for one slot
// and one survivor set a query, ever.
func (q *answers) openShares(r wire.Open) wire.Message {
	if no, ok := q.s.agent.finalRefusal(r); ok {
		return no
	}
	if q.open == nil || q.open.ask.Query != r.Query || q.open.ask.Slot != r.Slot {
		return refuse(r, study.CodeOutOfOrder)
	}
	if no, ok := q.s.chained(r); !ok {
		return no
	}
	u, certificate := secagg.Survivors(r.Survivors), secagg.Certificate(r.Certificate)
	if q.s.ring.Setup.Graph().Acceptable(u) != nil {
		return refuse(r, study.CodeTooFewSurvivors)
	}
	if lost, err := q.s.evidence.lostSignature(u, certificate); err != nil {
		return refuse(r, q.s.store(err))
	} else if lost {
		return q.s.rolledBack(r, foundRelease)
	}
	// In its stored form it comes again with the result; one with signatures among it that do not
	// hold has another.
	if packed := q.s.ring.Setup.Pack(certificate); len(certificate) == len(q.s.plan.Proposal.Roster) && q.s.ring.Setup.CheckReleased(q.open.query, u, packed) == nil {
		q.open.certified = string(u.Bytes()) + string(packed)
	} else if err := q.s.ring.Setup.CheckCertificate(q.open.query, u, certificate); err != nil {
		return refuse(r, study.CodeBadCertificate)
	}
	q.open.checked = true
	sent, err := q.s.journal.OpenShares(r.Query, r.Slot, q.open.query.Context, u.Bytes(), func() ([]byte, error) {
		return q.shares(q.open, u)
	})
	if err != nil {
		return q.s.forbidden(r, err)
	}
	if err := q.s.agent.ledger.KeepChain(); err != nil {
		return refuse(r, q.s.store(err))
	}
	return wire.Shares{Header: r.Header, Shares: sent}
}

// final records a query's released value, if the coordinator signed it and it is
// the plan's. The ledger then erases the slot's secrets and all before it.
func (s *session) final(r wire.Final) wire.Message {
	log := s.agent.log.With("study", s.plan.Digest, "query", r.Query)
	key := ed25519.PublicKey(s.plan.Proposal.Coordinator)
	if !ed25519.Verify(key, study.SigningInput(r.Encoded), r.Signature) {
		log.Warn("a final result's signature is wrong; it is dropped")
		return nil
	}
	setup, err := s.ring.Witness()
	if err != nil {
		s.store(err)
		return nil
	} else if setup == nil {
		log.Warn("a final result came before this site confirmed a setup; it is dropped")
		return nil
	}
	release, err := study.ParseRelease(r.Encoded)
	if err == nil && (release.Query != r.Query || release.Slot != r.Slot) {
		err = errors.New("it belongs to another query or slot")
	}
	if err == nil {
		err = s.plan.CheckRelease(release)
	}
	if err == nil {
		err = s.attestation.certified(setup, r, release)
	}
	if err == nil {
		if held, ok := s.results.final(r.Query); ok && !bytes.Equal(held.Encoded, r.Encoded) {
			// The coordinator's own signatures prove that it released twice on one charge (promise
			// P3). Ours stays.
			log.Error("the coordinator signed two results of one query; the first is kept",
				"held", study.Link(held.Encoded), "shown", study.Link(r.Encoded))
			return nil
		} else if ok {
			r.Signature, r.Certificate = held.Signature, held.Certificate // others may be as good
		}
		err = s.succeeds(release, r.Encoded)
	}
	if err != nil {
		log.Warn("a final result does not fit the plan; it is dropped", "error", err)
		return nil
	}
	if lost, err := s.evidence.lostUpload(release); err != nil {
		s.store(err)
		return nil
	} else if lost {
		return s.rolledBack(r, foundFinal)
	}
	if lost, err := s.evidence.lostOwn(setup, r, release); err != nil {
		s.store(err)
		return nil
	} else if lost {
		return s.rolledBack(r, foundRelease)
	}
	s.results.write(r, release)
	if s.answers.open != nil && s.answers.open.ask.Query <= r.Query {
		s.answers.open = nil
	}
	s.released(release)
	return nil
}

// forbidden refuses for a rule of the ledger, with what the site holds.
func (s *session) forbidden(r wire.Message, err error) wire.Message {
	if held, ok := errors.AsType[*ledger.HeldError](err); ok {
		return s.held(r, held.Signed)
	}
	if rule, ok := errors.AsType[*ledger.RuleError](err); ok {
		if rule.Rule == ledger.QueryFinal {
			if no, ok := s.agent.finalRefusal(r); ok {
				return no
			}
		}
		return refuse(r, study.CodeOutOfOrder)
	}
	if _, ok := errors.AsType[*ledger.ConflictError](err); ok {
		// Another query or context under masks that were used.
		return refuse(r, study.CodePlanMismatch)
	}
	if _, ok := errors.AsType[*ledger.ChargeError](err); ok {
		return refuse(r, study.CodeBudget)
	}
	if errors.Is(err, ledger.ErrErased) {
		return refuse(r, study.CodeOutOfOrder)
	}
	if _, ok := errors.AsType[*clip.QueryError](err); ok {
		return refuse(r, study.CodePlanMismatch)
	}
	if errors.Is(err, ledger.ErrAbsent) {
		return refuse(r, study.CodeLeft)
	}
	if s.agent.ledger.Err() != nil {
		return refuse(r, s.store(err))
	}
	return refuse(r, s.ring.Internal(err))
}

// held refuses with the survivor set that this site signed.
func (s *session) held(r wire.Message, signed ledger.Signed) wire.Refusal {
	no := refuse(r, study.CodeHeld)
	no.Query, no.Slot, no.Context, no.Signature = signed.Query, signed.Slot, signed.Context[:], signed.Signature
	// of our own store; empty if it does not read
	no.Survivors, _ = decodeSurvivors(signed.Survivors)
	return no
}

// finalRefusal answers a question about a query that is over with its signed
// result; also after the study is over here.
func (a *Agent) finalRefusal(r wire.Message) (wire.Refusal, bool) {
	no := refuse(r, study.CodeFinal)
	stored, ok := a.ledger.Journal(r.About().Study).FinalResult(no.Query)
	if !ok {
		return wire.Refusal{}, false
	}
	held, err := decodeFinal(stored)
	if err != nil {
		return wire.Refusal{}, false
	}
	if release, err := study.ParseHead(held.Encoded); err == nil {
		no.Slot = release.Slot
	}
	no.Final = &held
	return no, true
}

var errStored = errors.New("agent: what is stored does not parse")

// encodeFinal is the stored form of a signed release: its signature, its certificate behind its
// length, the release.
func encodeFinal(f wire.Final) []byte {
	out := binary.BigEndian.AppendUint32(append([]byte(nil), f.Signature...), uint32(len(f.Certificate)))
	return append(append(out, f.Certificate...), f.Encoded...)
}

func decodeFinal(b []byte) (wire.Final, error) {
	const head = ed25519.SignatureSize + 4
	if len(b) < head {
		return wire.Final{}, errStored
	}
	size := int(binary.BigEndian.Uint32(b[ed25519.SignatureSize:]))
	if size > len(b)-head {
		return wire.Final{}, errStored
	}
	return wire.Final{Signature: b[:ed25519.SignatureSize], Certificate: b[head : head+size], Encoded: b[head+size:]}, nil
}

// decodeSurvivors reads the stored form, secagg.Survivors.Bytes: a count, then the
// indices, two bytes each.
func decodeSurvivors(b []byte) ([]int, error) {
	if len(b) < 2 || len(b) != 2+2*int(binary.BigEndian.Uint16(b)) {
		return nil, errStored
	}
	var out []int
	for b = b[2:]; len(b) > 0; b = b[2:] {
		out = append(out, int(binary.BigEndian.Uint16(b)))
	}
	return out, nil
}
