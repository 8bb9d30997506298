package agent

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"covey/internal/proposal"
	"covey/internal/proposals"
	"covey/internal/study"
	"covey/internal/wire"
)

const (
	// maxOpen is how many proposals of one analyst's key may be open here: wait for the operator,
	// or be approved and not over.
	maxOpen = 5
	// The time from an analyst's proposal to an automatic verdict is a multiple of verdictEvery, so
	// that the analyst does not learn how long reading the rows took. It counts from the arrival,
	// not from full minutes of a clock: otherwise a proposal sent a second before a full minute
	// would tell its sender whether reading took that second.
	verdictEvery = time.Minute
)

// arrivals are the analysts' proposals whose verdicts have not left. From its arrival until its
// verdict leaves nothing else is said of such a study, and no hello names it: a coordinator that
// comes back, or asks ahead, learns no sooner that it is approved. A crash forgets when it is due;
// the coordinator asks again, and what was approved is on record.
type arrivals struct {
	a    *Agent
	seen *proposals.Arrivals

	admitting sync.Mutex // one looks at files, which no message of another study waits for
	mu        sync.Mutex // of the rest
	held      map[proposal.Digest]*arriving
	over      bool // the agent is closed
}

type arriving struct {
	proposal proposal.Proposal // brief; none of one that is, or may yet be, refused as one too many
	since    time.Time
	timer    *time.Timer // nil before the verdict is there
}

// holds reports whether a study's verdict is still to leave.
func (h *arrivals) holds(id proposal.Digest) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held[id] != nil
}

// drop forgets a verdict, which does not leave any more; it reports whether there was one to leave.
func (h *arrivals) drop(id proposal.Digest) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.held[id]
	if one != nil && one.timer != nil {
		one.timer.Stop()
	}
	delete(h.held, id)
	return one != nil
}

// end stops the verdicts that are still to leave.
func (h *arrivals) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	for _, one := range h.held {
		if one.timer != nil {
			one.timer.Stop()
		}
	}
}

// admit holds back the verdict on an analyst's signed proposal, and returns why the proposal is
// refused if it is one too many. A proposal that waits or is on the ledger does not count as new.
func (h *arrivals) admit(p proposal.Proposal, id proposal.Digest, bytes int) (study.Code, error) {
	one := &arriving{since: time.Now()}
	h.mu.Lock()
	h.held[id] = one // before the look, since its study may end meanwhile
	h.mu.Unlock()
	h.admitting.Lock()
	defer h.admitting.Unlock()
	_, known := h.a.ledger.Study(id)
	if !known && !h.a.pending.Has(id) {
		if code, err := h.crowded(p, id, bytes); code != "" {
			return code, err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one.proposal = brief(p)
	return "", nil
}

// crowded returns why a new proposal of an analyst is one too many, nil if it is not. Called with
// admitting held.
func (h *arrivals) crowded(p proposal.Proposal, id proposal.Digest, bytes int) (study.Code, error) {
	key := p.Proposer.Identity
	if bytes > wire.MaxProposed {
		return study.CodeTooMany, fmt.Errorf("it has %d bytes; an analyst's proposal may have at most %d", bytes, wire.MaxProposed)
	}
	ok, err := h.seen.Take(key, id, h.a.now())
	switch {
	case err != nil:
		return h.a.unkept(err)
	case !ok:
		return study.CodeTooMany, fmt.Errorf("%d new proposals of its key came in the last 24 hours, which is the limit", proposals.MaxDaily)
	}
	open, err := h.openOf(key)
	if err != nil {
		return h.a.unkept(err)
	}
	if len(open) >= maxOpen {
		return study.CodeTooMany, fmt.Errorf("%d proposals of its key are open here; at most %d may be", len(open), maxOpen)
	}
	for _, other := range open {
		if other.Spec.Name == p.Spec.Name && other.Spec.Dataset == p.Spec.Dataset {
			return study.CodeTooMany, errors.New("a proposal of its key, name and data set is already open here")
		}
	}
	return "", nil
}

// openOf returns the proposals of a key that are being decided, wait for the operator, or are
// approved and not over.
func (h *arrivals) openOf(key proposal.Key) ([]proposal.Proposal, error) {
	all := map[proposal.Digest]proposal.Proposal{}
	h.mu.Lock()
	for id, one := range h.held {
		all[id] = one.proposal
	}
	h.mu.Unlock()
	add := func(id proposal.Digest, body []byte) {
		if p, err := proposal.Parse(body); err == nil {
			all[id] = brief(p)
		}
	}
	pending, err := h.a.pending.List()
	if err != nil {
		return nil, err
	}
	for _, id := range pending {
		if body, ok := h.a.pending.Get(id); ok {
			add(id, body)
		}
	}
	for _, e := range h.a.ledger.Active() {
		if body, ok := h.a.ledger.Proposal(e.Study); ok {
			add(e.Study, body)
		}
	}
	var out []proposal.Proposal
	for _, p := range all {
		if p.Proposer != nil && bytes.Equal(p.Proposer.Identity, key) {
			out = append(out, p)
		}
	}
	return out, nil
}

// verdict sends an analyst's proposal its verdict: nil where it leaves later, or where the study
// ended meanwhile. One for which no rows were read, since it was on record before or is left to the
// operator, tells nothing of them and leaves at once.
func (h *arrivals) verdict(d wire.Decision, unread bool) wire.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.held[d.Study]
	if unread {
		delete(h.held, d.Study)
		return h.a.Decisions.sign(d)
	}
	if one == nil {
		return nil
	}
	took := time.Since(one.since)
	if !h.over {
		one.timer = time.AfterFunc((took/verdictEvery+1)*verdictEvery-took, func() { h.leave(d) })
	}
	return nil
}

// leave sends a verdict that is due: the one on record now, since the operator may have withdrawn
// an approval of the policy. It sends nothing once the ledger has failed.
func (h *arrivals) leave(d wire.Decision) {
	if on, ok := h.a.Decisions.decided(d.Study); ok {
		d = on
	}
	if h.drop(d.Study) && !h.a.silent() {
		h.a.post(h.a.Decisions.sign(d))
	}
}

// offered answers a proposal: with what was decided, by policy, or by leaving
// it to the operator. A rejection that the operator did not make is not put on
// record: the study ends with it, and a corrected one has another digest. It is nil where the
// verdict leaves later.
func (h *arrivals) offered(offer wire.Proposal) wire.Message {
	body, id := offer.Body, proposal.DigestOf(offer.Body)
	if h.holds(id) {
		return nil
	}
	h.a.sessions.making.Lock()
	s, code, why := h.a.sessions.parse(body)
	p := proposalOf(s, body)
	h.a.sessions.making.Unlock()
	refused := func(code study.Code, why error) wire.Decision {
		h.a.log.Warn("a proposal is refused", "study", id, "code", code, "error", why)
		h.a.endings.refused(body, code, why)
		return wire.Decision{Header: wire.Header{Study: id}, Verdict: study.VerdictRejected, Code: code}
	}
	// What is kept or approved here was signed when it came: bytes altered since have another
	// digest, which nobody signed.
	if err := p.CheckSignature(id, offer.Signature); err != nil && (s != nil || p.Proposer != nil) {
		return h.a.Decisions.sign(refused(study.CodeBadSignature, err))
	}
	_, before := h.a.Decisions.decided(id)
	waited := h.a.pending.Has(id)
	if p.Proposer != nil {
		if no, err := h.admit(p, id, len(body)); no != "" {
			code, why = no, err
		}
	}
	send := func(d wire.Decision) wire.Message { // what nobody signed is answered at once
		if p.Proposer == nil {
			return h.a.Decisions.sign(d)
		}
		// What the policy's approval left to the operator was read meanwhile.
		return h.verdict(d, before || d.Verdict == study.VerdictPending && (waited || s == nil || !s.unattended))
	}
	if code != "" {
		return send(refused(code, why))
	}
	s = h.a.sessions.keep(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.decide()
	if d.Verdict == study.VerdictRejected {
		h.a.sessions.forget(id)
	}
	return send(d)
}

// proposalOf returns the proposal of which a session was made, or could not be; none of bytes that
// are no proposal.
func proposalOf(s *session, body []byte) (p proposal.Proposal) {
	if s != nil {
		return s.plan.Proposal
	}
	if len(body) <= proposals.MaxProposal {
		p, _ = proposal.Parse(body)
	}
	return p
}
