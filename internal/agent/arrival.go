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
	// verdictEvery is what the time from an analyst's proposal to an automatic verdict on it is a
	// multiple of: how long the rows took to read is not for the analyst. It is counted from the
	// arrival, and not by a clock's minutes: a proposal sent a second before a clock's minute would
	// tell its sender whether reading took that second.
	verdictEvery = time.Minute
)

// arrivals are the analysts' proposals whose verdicts have not left. From its arrival until its
// verdict leaves nothing else is said of such a study, and no hello names it: a coordinator that
// comes back, or asks ahead, learns no sooner that it is approved. A crash forgets when it is due;
// the coordinator asks again, and what was approved is on record.
type arrivals struct {
	mu   sync.Mutex
	held map[proposal.Digest]*arriving
	over bool // the agent is closed
}

type arriving struct {
	proposal proposal.Proposal // brief; none of one that is refused as one too many
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

// admit holds the verdict on an analyst's signed proposal from then on, and returns why the
// proposal is refused if it is one too many. What waits or is on the ledger is no new one.
func (a *Agent) admit(p proposal.Proposal, id proposal.Digest, bytes int) (study.Code, error) {
	a.arriving.mu.Lock()
	defer a.arriving.mu.Unlock()
	one := &arriving{since: time.Now()}
	_, known := a.ledger.Study(id)
	if !known && !a.pending.Has(id) {
		if code, err := a.crowded(p, id, bytes); code != "" {
			a.arriving.held[id] = one
			return code, err
		}
	}
	one.proposal = brief(p)
	a.arriving.held[id] = one
	return "", nil
}

// crowded returns why a new proposal of an analyst is one too many, nil if it is not. Called with
// arriving's mu held.
func (a *Agent) crowded(p proposal.Proposal, id proposal.Digest, bytes int) (study.Code, error) {
	key := p.Proposer.Identity
	if bytes > wire.MaxProposed {
		return study.CodeTooMany, fmt.Errorf("it has %d bytes, an analyst's at most %d", bytes, wire.MaxProposed)
	}
	ok, err := a.seen.Take(key, id, a.now())
	switch {
	case err != nil:
		return study.CodeStore, err
	case !ok:
		return study.CodeTooMany, fmt.Errorf("%d new proposals of its key came in the last 24 hours, and no more are looked at", proposals.MaxDaily)
	}
	open, err := a.openOf(key)
	if err != nil {
		return study.CodeStore, err
	}
	if len(open) >= maxOpen {
		return study.CodeTooMany, fmt.Errorf("%d proposals of its key are open here, and at most %d may be", len(open), maxOpen)
	}
	for _, other := range open {
		if other.Spec.Name == p.Spec.Name && other.Spec.Dataset == p.Spec.Dataset {
			return study.CodeTooMany, errors.New("a proposal of its key, name and data set is open here, and one at a time may be")
		}
	}
	return "", nil
}

// openOf returns the proposals of a key that are being decided, wait for the operator, or are
// approved and not over. Called with arriving's mu held.
func (a *Agent) openOf(key proposal.Key) ([]proposal.Proposal, error) {
	all := map[proposal.Digest]proposal.Proposal{}
	for id, one := range a.arriving.held {
		all[id] = one.proposal
	}
	add := func(id proposal.Digest, body []byte) {
		if p, err := proposal.Parse(body); err == nil {
			all[id] = brief(p)
		}
	}
	pending, err := a.pending.List()
	if err != nil {
		return nil, err
	}
	for _, id := range pending {
		if body, ok := a.pending.Get(id); ok {
			add(id, body)
		}
	}
	for _, e := range a.ledger.Active() {
		if body, ok := a.ledger.Proposal(e.Study); ok {
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
func (a *Agent) verdict(d wire.Decision, unread bool) wire.Message {
	h := &a.arriving
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.held[d.Study]
	if unread {
		delete(h.held, d.Study)
		return a.sign(d)
	}
	if one == nil {
		return nil
	}
	took := time.Since(one.since)
	if !h.over {
		one.timer = time.AfterFunc((took/verdictEvery+1)*verdictEvery-took, func() { a.leave(d) })
	}
	return nil
}

// leave sends a verdict that is due: what is on record by now, since the operator may have
// withdrawn from what the policy approved. Nothing, once the ledger has failed.
func (a *Agent) leave(d wire.Decision) {
	if on, ok := a.decided(d.Study); ok {
		d = on
	}
	if a.arriving.drop(d.Study) && a.ledger.Err() == nil {
		a.post(a.sign(d))
	}
}
