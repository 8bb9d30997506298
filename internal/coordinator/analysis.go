package coordinator

import (
	"context"
	"errors"
	"reflect"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/admission"
	"covey/internal/analysis"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
	"covey/internal/wire"
)

// What calls of analysts cost of their pace: a proposal is read whole and planned, an offer may be
// written to the log.
const (
	costPropose = 500.0
	costOffer   = 100.0
)

// errNoStudy answers an analyst about an unknown study and one of others alike.
var errNoStudy = status.Error(codes.NotFound, wire.NoStudy)

// analysts answers analysts. All that it tells of a study is leader.tell's.
type analysts struct{ server }

// caller is server's, where this node leads: the next offer and the next proposal are the leader's.
func (s analysts) caller(ctx context.Context, cost float64) (admission.Client, error) {
	who, err := s.server.caller(ctx)
	if err != nil {
		return who, err
	}
	if !s.c.Leading() {
		return who, s.c.notLeader()
	}
	return who, admission.Pause(ctx, nil, s.c.paceOf(who.Name).Spend(time.Now(), cost))
}

// partyOf returns an analyst as proposals name it.
func partyOf(who admission.Client) proposal.Party {
	return proposal.Party{Name: who.Name, Identity: proposal.Key(who.Identity)}
}

// List returns the caller's studies and those that it may read, as proposed.
func (s analysts) List(ctx context.Context) ([]wire.Told, error) {
	who, err := s.caller(ctx, costHello)
	if err != nil {
		return nil, err
	}
	m := s.c.machine.lock()
	defer s.c.machine.unlock()
	return audience{m, who, s.c.now()}.all(), nil
}

// Watch tells of a study now and whenever what is told of it has changed.
func (s analysts) Watch(ctx context.Context, digest proposal.Digest, once bool, see func(wire.Told) error) error {
	who, err := s.caller(ctx, costHello)
	if err != nil {
		return err
	}
	began, _ := s.c.machine.holder(who.Role, who.Name)
	expired := admission.Expiry(ctx, s.c.now)
	var last wire.Told
	for first := true; ; first = false {
		m := s.c.machine.lock()
		leading, changed, now := m.leading, m.changed, s.c.now()
		told, ok := audience{m, who, now}.of(digest)
		is := m.who.Holders(who.Role)[who.Name] // a watch is long: it may have been revoked since
		s.c.machine.unlock()
		switch {
		case !leading:
			return s.c.notLeader()
		case is.Revoked || is.Token != began.Token:
			return status.Errorf(codes.PermissionDenied, "the %s is revoked", who.Role)
		case !ok:
			return errNoStudy
		}
		if first || !reflect.DeepEqual(told, last) {
			if err := see(told); err != nil {
				return err
			}
			last = told
		}
		if once || over(told) {
			return nil
		}
		select {
		case <-time.After(now.Truncate(analysis.Tick).Add(analysis.Tick).Sub(now)):
		case <-expired:
			return admission.ErrExpired
		case <-changed: // the registry, or who leads
		case <-ctx.Done():
			return ctx.Err()
		case <-s.c.stopping:
			return status.Error(codes.Unavailable, "the coordinator stops")
		}
	}
}

// Withdraw ends a study of the caller's own. One that is over, and does not show so yet, is left as
// it is.
func (s analysts) Withdraw(ctx context.Context, digest proposal.Digest) error {
	who, err := s.caller(ctx, costOffer)
	if err != nil {
		return err
	}
	m := s.c.machine.lock()
	told, ok := audience{m, who, s.c.now()}.of(digest)
	s.c.machine.unlock()
	switch {
	case !ok || !told.Own:
		return errNoStudy
	case over(told):
		return status.Error(codes.FailedPrecondition, "the study is over")
	}
	err = s.c.apply(entry{Round: &round.Entry{Study: digest, Kind: round.EntryEnded, Code: study.CodeRetracted}})
	if _, stale := errors.AsType[*round.StaleError](err); err != nil && !stale {
		return s.failed(err, "withdraw", who)
	}
	m = s.c.machine.lock()
	delete(m.shown, digest) // it is the analyst's own doing
	s.c.machine.unlock()
	s.c.log.Info("an analyst has withdrawn a study", "analyst", who.Name, "study", digest)
	return nil
}

// failed returns the status of a request that the log did not take.
func (s analysts) failed(err error, call string, who admission.Client) error {
	if errors.Is(err, ErrNotLeader) {
		return s.c.notLeader()
	}
	s.c.log.Error("a call of an analyst failed", "call", call, "analyst", who.Name, "error", err)
	return status.Error(codes.Unavailable, "the coordinator could not record it; look before you repeat it")
}
