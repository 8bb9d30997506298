package chainwatch

import (
	"crypto/ed25519"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"covey/internal/chain"
	"covey/internal/ledger"
	"covey/internal/proposal"
	"covey/internal/study"
	"covey/internal/wire"
	"covey/test/must"
	"covey/test/texts"
)

// site is a watch with its ledger, and what it was told besides.
type site struct {
	*Watch
	ledger *ledger.Ledger
	log    strings.Builder
	failed []error
	links  int // that were asked for
	plan   *study.Plan
}

func newSite(t *testing.T) *site {
	s := &site{ledger: must.Get(ledger.Open(t.TempDir()))(t), plan: &study.Plan{Digest: proposal.Digest{1}}}
	t.Cleanup(func() { s.ledger.Close() })
	s.plan.Proposal.Coordinator = proposal.Key(texts.Signer.Public().(ed25519.PublicKey))
	s.Watch = New(s.ledger, slog.New(slog.NewTextHandler(&s.log, nil)), func(err error) { s.failed = append(s.failed, err) }, func() { s.links++ })
	return s
}

// onLink begins a link on which a chain is shown that a key signed, and a query's part of it.
func (s *site) onLink(l *chain.Log, key ed25519.PrivateKey) error {
	var h wire.Hello
	s.Greet(&h)
	base := min(h.Chain.Number, l.Head().Number)
	shown := chain.Signed{Head: l.Head(), Base: l.At(base)}
	s.Take(wire.Head{Shown: chain.Shown{Base: shown.Base, Steps: l.Since(base), Signature: ed25519.Sign(key, shown.SigningInput())}})
	err := s.Extend(s.plan, func() (chain.Step, error) { return chain.Proposed(s.plan.Digest), nil })
	if err == nil {
		err = s.ledger.KeepChain()
	}
	return err
}

// TestWatch: a chain that goes on is kept, and no other: not one that somebody else signed, that
// lacks what the site was told, or that forks. A fork is kept once the operator accepts its head.
func TestWatch(t *testing.T) {
	s := newSite(t)
	if s.Holds(chain.Head{}, chain.Step{}) {
		t.Error("a chain is held before any link")
	}
	var mine, other chain.Log
	other.Append(chain.Step{7})
	if err := s.onLink(&other, texts.Signer); err != errUnlinked {
		t.Errorf("a chain without the proposal: %v", err)
	}
	other.Append(chain.Proposed(s.plan.Digest))
	mine.Append(chain.Proposed(s.plan.Digest))
	if err := s.onLink(&mine, texts.Keys(2)[1]); err != errUnsigned {
		t.Errorf("a chain that another key signed: %v", err)
	}
	if err := s.onLink(&mine, texts.Signer); err != nil {
		t.Fatal(err)
	}
	mine.Append(chain.Step{2})
	if err := s.onLink(&mine, texts.Signer); err != nil {
		t.Error(err)
	}
	if _, err := s.Accept(mine.Head().Link); err == nil {
		t.Error("a chain that goes on is accepted in place of itself")
	}
	s.log.Reset()
	for range 2 {
		if err := s.onLink(&other, texts.Signer); err == nil {
			t.Error("a fork is taken")
		}
	}
	if n := strings.Count(s.log.String(), "DOES NOT EXTEND"); n != 2 {
		t.Errorf("the log tells of it %d times on two links", n)
	}
	if v, err := s.View(); err != nil || v.Kept == nil || v.Kept.Head != mine.Head() || v.Shown == nil || v.Shown.Head != other.Head() || v.Broken == "" {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := s.Accept(other.Head().Link); err != nil || v.Kept.Head != other.Head() || s.links != 1 {
		t.Errorf("%+v, %v, %d links", v, err, s.links)
	}
	if err := s.onLink(&other, texts.Signer); err != nil || !s.Holds(other.Head(), chain.Proposed(s.plan.Digest)) || s.Holds(mine.Head(), chain.Step{2}) {
		t.Errorf("the accepted chain: %v", err)
	}
	if len(s.failed) > 0 {
		t.Errorf("the ledger failed: %v", s.failed)
	}
}

// TestFailedLedger: of a ledger that fails no head is told, and no chain is taken.
func TestFailedLedger(t *testing.T) {
	s := newSite(t)
	if err := s.ledger.Close(); err != nil {
		t.Fatal(err)
	}
	var h wire.Hello
	s.Greet(&h)
	s.Take(wire.Head{})
	if _, err := s.View(); !errors.Is(err, ledger.ErrClosed) || h.Chain != (chain.Head{}) || len(s.failed) == 0 {
		t.Errorf("%v, %v, %v", h.Chain, err, s.failed)
	}
	if s.Holds(chain.Head{}, chain.Step{}) {
		t.Error("a chain is held")
	}
	// it is this site's fault, not the coordinator's
	err := s.Extend(s.plan, func() (chain.Step, error) { return chain.Step{}, nil })
	if !errors.Is(err, ledger.ErrClosed) || strings.Contains(s.log.String(), "DOES NOT EXTEND") {
		t.Errorf("%v, and the log says %q", err, s.log.String())
	}
}
