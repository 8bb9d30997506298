package agent

import (
	"crypto/ed25519"
	"errors"
	"sync"

	"covey/internal/chain"
	"covey/internal/study"
	"covey/internal/wire"
)

// The coordinators' log has a hash chain, whose head comes with each query (internal/chain). This
// site keeps every link that it was shown, on the ledger, before it answers, and recomputes the
// links from there on. A coordinator that was restored from a backup, or that tells this site
// another past than before, shows by the next query: it is refused, and the study waits.

// Chain is how this site follows the coordinators' chain, on the present link or the last one.
type Chain struct {
	a *Agent

	mu       sync.Mutex
	follower *chain.Follower // nil before a link, and once a chain was accepted
	why      error           // the last query's refusal on this link
	checked  signedHead      // the last one with a good signature
}

// signedHead is a head of the chain with a signature by a key.
type signedHead struct {
	base, head     chain.Head
	key, signature string
}

// greet begins a link's place in the chain. Of a ledger that fails nothing is said.
func (c *Chain) greet(h *wire.Hello) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, kept, err := chain.Follow(c.a.ledger.Chain())
	if err != nil {
		c.a.failed(err)
	}
	c.follower, c.why, h.Chain = f, nil, kept
}

// take takes what the coordinator shows of its chain, in the order in which it comes.
func (c *Chain) take(m wire.Head) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.follower == nil {
		return
	}
	if err := c.follower.Take(m.Shown); err != nil {
		c.a.failed(err)
	}
}

// Why a head that extends the one that was kept is not taken.
var (
	errUnsigned = errors.New("the head of the coordinator's chain is not signed with the key that the proposal names")
	errUnlinked = errors.New("the coordinator's chain does not hold what it told this site of the study last")
)

// chained has the ledger keep the chain that the coordinator shows, with its next transaction, or
// returns the refusal of a query. Called with mu held.
func (s *session) chained(r wire.Message) (wire.Refusal, bool) {
	c := &s.agent.Chain
	c.mu.Lock()
	defer c.mu.Unlock()
	err := chain.ErrUnshown
	if c.follower != nil {
		err = c.check(s)
	}
	var fresh []chain.Entry
	if err == nil {
		fresh, err = c.follower.Fresh()
	}
	if err == nil {
		if c.why != nil {
			s.agent.log.Info("the coordinator's chain extends what this site kept again")
			c.why = nil
		}
		shown, _ := c.follower.Shown()
		s.agent.ledger.ShownChain(fresh, shown)
		return wire.Refusal{}, true
	}
	if s.agent.ledger.Err() != nil {
		return refuse(r, s.store(err)), false
	}
	if c.why == nil {
		c.broken(s.plan, err)
	}
	c.why = err
	return refuse(r, study.CodeBrokenChain), false
}

// check is nil if the chain that was shown extends what was kept, is signed, and holds a
// study's last release, or else its proposal: it is not any chain, but that of what sites are told.
func (c *Chain) check(s *session) error {
	if err := c.follower.Check(); err != nil {
		return err
	}
	shown, _ := c.follower.Shown()
	key := ed25519.PublicKey(s.plan.Proposal.Coordinator)
	if of := (signedHead{shown.Base, shown.Head, string(key), string(shown.Signature)}); of != c.checked {
		if !ed25519.Verify(key, shown.SigningInput(), shown.Signature) {
			return errUnsigned
		}
		c.checked = of // the messages of one query come under the same head
	}
	own, err := s.results.lastStep()
	if err != nil {
		return err
	}
	has, err := c.follower.Has(own)
	if err == nil && !has {
		err = errUnlinked
	}
	return err
}

// broken logs what was found, once a link, with all that it takes to show it to others: the
// head that was kept and the one that was shown, with the coordinator's signatures.
func (c *Chain) broken(plan *study.Plan, why error) {
	log := c.a.log.With("study", plan.Digest, "why", why)
	if kept, ok, err := c.a.ledger.SignedHead(); ok && err == nil {
		log = log.With("kept", kept)
	}
	if c.follower != nil {
		if shown, ok := c.follower.Shown(); ok {
			log = log.With("shown", shown)
		}
	}
	log.Error("THE COORDINATOR'S CHAIN DOES NOT EXTEND WHAT THIS SITE KEPT: its log was restored from a backup, or it tells sites different pasts. " +
		"No query is answered until the chain goes on from there. Ask the coordinator's operator; if a backup was restored, see \"agent chain show\"")
}

// holds reports whether the chain that was shown on this link, and that extends what was kept,
// has a head, and it is a step's.
func (c *Chain) holds(h chain.Head, s chain.Step) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.follower == nil {
		return false
	}
	ok, err := c.follower.Holds(h, s)
	return ok && err == nil
}

// ChainView is how this site stands to the coordinators' chain.
type ChainView struct {
	Kept  *chain.Signed `json:"kept,omitempty"`  // nil before the first query
	Shown *chain.Signed `json:"shown,omitempty"` // on this link; nil before a query
	// Broken says why the shown chain does not extend the kept one; empty if it does, or nothing
	// was shown.
	Broken string `json:"broken,omitempty"`
}

// View returns how this site stands to the coordinators' chain.
func (c *Chain) View() (v ChainView, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.view()
}

func (c *Chain) view() (v ChainView, err error) {
	last, _, err := c.a.ledger.Chain().Last()
	if err != nil {
		return v, err
	}
	if last.Number > 0 {
		v.Kept = &chain.Signed{Head: last}
		if signed, ok, _ := c.a.ledger.SignedHead(); ok && signed.Head == last {
			v.Kept = &signed
		}
	}
	if c.why != nil {
		v.Broken = c.why.Error()
	}
	if c.follower == nil {
		return v, nil
	}
	if shown, ok := c.follower.Shown(); ok {
		v.Shown = &shown
		if err := c.follower.Check(); err != nil {
			v.Broken = err.Error()
		}
	}
	return v, nil
}

// ChainError is a head that cannot be accepted.
type ChainError struct{ Reason string }

func (e *ChainError) Error() string { return e.Reason }

// Accept takes the operator's word that the chain with the given head, which the coordinator
// shows and which does not extend the kept one, is the federation's: what was kept is forgotten but
// for that head, and the coordinator is asked for all of it on a new link. The error is a
// *ChainError, or the ledger's.
func (c *Chain) Accept(link chain.Link) (ChainView, error) {
	v, err := c.accept(link)
	if err == nil {
		c.a.uplink.Again()
	}
	return v, err
}

func (c *Chain) accept(link chain.Link) (ChainView, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, err := c.view()
	switch {
	case err != nil:
		return v, err
	case v.Shown == nil || !acceptable(c.follower.Check()):
		return v, &ChainError{"there is nothing to accept: the coordinator's chain extends what this site kept, or no consistent chain was shown on this link"}
	case v.Shown.Link != link:
		return v, &ChainError{"the coordinator now shows another head, " + v.Shown.Head.String() + "; \"agent chain show\" shows it"}
	}
	if err := c.a.ledger.PinChain(v.Shown.Head); err != nil {
		c.a.failed(err)
		return v, err
	}
	was := chain.Head{}
	if v.Kept != nil {
		was = v.Kept.Head
	}
	c.a.log.Warn("the operator accepts a chain of the coordinators' log that does not extend the one that was kept", "kept", was, "accepted", v.Shown.Head, "why", v.Broken)
	c.follower = nil // the next link begins anew
	return ChainView{Kept: &chain.Signed{Head: v.Shown.Head}}, nil
}

// acceptable reports whether a chain is whole, and another one than the one that was kept.
func acceptable(why error) bool {
	_, fork := errors.AsType[*chain.ForkError](why)
	_, behind := errors.AsType[*chain.BehindError](why)
	return fork || behind
}
