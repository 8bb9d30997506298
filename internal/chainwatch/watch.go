// Package chainwatch checks for a site the hash chain of the coordinators' log (internal/chain),
// whose head arrives with each query. The site keeps every link that it was shown, on the ledger,
// before it answers, and recomputes the links from there on. A coordinator that was restored from a
// backup, or that tells this site another past than before, shows by the next query: it is refused,
// and the study waits, until the chain goes on from there or the operator accepts another.
package chainwatch

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"sync"

	"covey/internal/chain"
	"covey/internal/ledger"
	"covey/internal/study"
	"covey/internal/wire"
)

// Watch is how a site stands to the coordinators' chain, on the present link or the last one.
type Watch struct {
	ledger *ledger.Ledger
	log    *slog.Logger
	failed func(error)
	again  func()

	mu       sync.Mutex
	follower *chain.Follower // nil before a link, and once a chain was accepted
	why      error           // the last query's refusal on this link
	checked  signedHead      // the last one with a good signature
}

// New returns the watch of a site. It tells failed each error of the ledger, which may have failed
// for good, and calls again for a new link once a chain was accepted.
func New(ledger *ledger.Ledger, log *slog.Logger, failed func(error), again func()) *Watch {
	return &Watch{ledger: ledger, log: log, failed: failed, again: again}
}

// signedHead is a head of the chain with a signature by a key.
type signedHead struct {
	base, head     chain.Head
	key, signature string
}

// Greet begins a link's place in the chain. Of a ledger that fails nothing is said.
func (w *Watch) Greet(h *wire.Hello) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, kept, err := chain.Follow(w.ledger.Chain())
	if err != nil {
		w.failed(err)
	}
	w.follower, w.why, h.Chain = f, nil, kept
}

// Take takes what the coordinator shows of its chain, in the order in which it comes.
func (w *Watch) Take(m wire.Head) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.follower == nil {
		return
	}
	if err := w.follower.Take(m.Shown); err != nil {
		w.failed(err)
	}
}

// Why a head that extends the one that was kept is not taken.
var (
	errUnsigned = errors.New("the head of the coordinator's chain is not signed with the key that the proposal names")
	errUnlinked = errors.New("the coordinator's chain does not hold what it told this site of the study last")
)

// Extend has the ledger keep the chain that the coordinator shows, with its next transaction. The
// error says why no query of the study may be answered: the chain does not extend what was kept, is
// not signed, or does not hold told, what the coordinator told this site of the study last.
func (w *Watch) Extend(plan *study.Plan, told func() (chain.Step, error)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := chain.ErrUnshown
	if w.follower != nil {
		err = w.check(plan, told)
	}
	var fresh []chain.Entry
	if err == nil {
		fresh, err = w.follower.Fresh()
	}
	if err == nil {
		if w.why != nil {
			w.log.Info("the coordinator's chain extends what this site kept again")
			w.why = nil
		}
		shown, _ := w.follower.Shown()
		w.ledger.ShownChain(fresh, shown)
		return nil
	}
	if w.ledger.Err() != nil {
		return err
	}
	if w.why == nil {
		w.broken(plan, err)
	}
	w.why = err
	return err
}

// check is nil if the chain that was shown extends what was kept, is signed, and holds a
// study's last release, or else its proposal: it is not any chain, but that of what sites are told.
func (w *Watch) check(plan *study.Plan, told func() (chain.Step, error)) error {
	if err := w.follower.Check(); err != nil {
		return err
	}
	shown, _ := w.follower.Shown()
	key := ed25519.PublicKey(plan.Proposal.Coordinator)
	if of := (signedHead{shown.Base, shown.Head, string(key), string(shown.Signature)}); of != w.checked {
		if !ed25519.Verify(key, shown.SigningInput(), shown.Signature) {
			return errUnsigned
		}
		w.checked = of // the messages of one query come under the same head
	}
	own, err := told()
	if err != nil {
		return err
	}
	has, err := w.follower.Has(own)
	if err == nil && !has {
		err = errUnlinked
	}
	return err
}

// broken logs what was found, once a link, with all that it takes to show it to others: the
// head that was kept and the one that was shown, with the coordinator's signatures.
func (w *Watch) broken(plan *study.Plan, why error) {
	log := w.log.With("study", plan.Digest, "why", why)
	if kept, ok, err := w.ledger.SignedHead(); ok && err == nil {
		log = log.With("kept", kept)
	}
	if w.follower != nil {
		if shown, ok := w.follower.Shown(); ok {
			log = log.With("shown", shown)
		}
	}
	log.Error("THE COORDINATOR'S CHAIN DOES NOT EXTEND WHAT THIS SITE KEPT: its log was restored from a backup, or it tells sites different pasts. " +
		"No query is answered until the chain goes on from there. Ask the coordinator's operator; if a backup was restored, see \"agent chain show\"")
}

// Holds reports whether the chain that was shown on this link, and that extends what was kept, has
// the head h, and s is the step that led to it.
func (w *Watch) Holds(h chain.Head, s chain.Step) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.follower == nil {
		return false
	}
	ok, err := w.follower.Holds(h, s)
	return ok && err == nil
}

// View is how this site stands to the coordinators' chain.
type View struct {
	Kept  *chain.Signed `json:"kept,omitempty"`  // nil before the first query
	Shown *chain.Signed `json:"shown,omitempty"` // on this link; nil before a query
	// Broken says why the shown chain does not extend the kept one; empty if it does, or nothing
	// was shown.
	Broken string `json:"broken,omitempty"`
}

// View returns how the site stands to the coordinators' chain.
func (w *Watch) View() (v View, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view()
}

func (w *Watch) view() (v View, err error) {
	last, _, err := w.ledger.Chain().Last()
	if err != nil {
		return v, err
	}
	if last.Number > 0 {
		v.Kept = &chain.Signed{Head: last}
		if signed, ok, _ := w.ledger.SignedHead(); ok && signed.Head == last {
			v.Kept = &signed
		}
	}
	if w.why != nil {
		v.Broken = w.why.Error()
	}
	if w.follower == nil {
		return v, nil
	}
	if shown, ok := w.follower.Shown(); ok {
		v.Shown = &shown
		if err := w.follower.Check(); err != nil {
			v.Broken = err.Error()
		}
	}
	return v, nil
}

// Error is a head that cannot be accepted.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

// Accept takes the operator's word that the chain with the given head, which the coordinator
// shows and which does not extend the kept one, is the federation's: what was kept is forgotten but
// for that head, and the coordinator is asked for all of it on a new link. The error is a
// *Error, or the ledger's.
func (w *Watch) Accept(link chain.Link) (View, error) {
	v, err := w.accept(link)
	if err == nil {
		w.again()
	}
	return v, err
}

func (w *Watch) accept(link chain.Link) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, err := w.view()
	switch {
	case err != nil:
		return v, err
	case v.Shown == nil || !acceptable(w.follower.Check()):
		return v, &Error{"there is nothing to accept: the coordinator's chain extends what this site kept, or no consistent chain was shown on this link"}
	case v.Shown.Link != link:
		return v, &Error{"the coordinator now shows another head, " + v.Shown.Head.String() + "; \"agent chain show\" shows it"}
	}
	if err := w.ledger.PinChain(v.Shown.Head); err != nil {
		w.failed(err)
		return v, err
	}
	was := chain.Head{}
	if v.Kept != nil {
		was = v.Kept.Head
	}
	w.log.Warn("the operator accepts a chain of the coordinators' log that does not extend the one that was kept", "kept", was, "accepted", v.Shown.Head, "why", v.Broken)
	w.follower = nil // the next link begins anew
	return View{Kept: &chain.Signed{Head: v.Shown.Head}}, nil
}

// acceptable reports whether a chain is whole, and another one than the one that was kept.
func acceptable(why error) bool {
	_, fork := errors.AsType[*chain.ForkError](why)
	_, behind := errors.AsType[*chain.BehindError](why)
	return fork || behind
}
