package coordinator

import (
	"context"
	"io"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"covey/internal/admission"
	"covey/internal/pki"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/wire"
)

// costResult is a read of a result, which puts it together: all of its releases, with a setup of
// all sites' keys.
const costResult = 2000.0

// errNoResult answers a site alike about what is not a digest, an unknown study, one of other sites
// and one that has no result, so that a site learns of no study that it is not in. An analyst is
// answered by errNoStudy, to the same end.
var errNoResult = status.Error(codes.NotFound, "there is no result of this study for this site")

// Result returns the result file of a completed study to a client that may read it: a site of its
// roster, its proposer, its readers. Every coordinator has it that has followed the log so far; one
// that has not, and does not lead, says who leads.
func (s server) Result(ctx context.Context, raw []byte) (func(io.Writer) error, error) {
	who, err := s.caller(ctx)
	if err != nil {
		return nil, err
	}
	// before anything is looked up: what it costs to be told no does not tell why
	if err := admission.Pause(ctx, nil, s.c.paceOf(who.Name).Spend(time.Now(), costResult)); err != nil {
		return nil, err
	}
	var digest proposal.Digest
	if len(raw) == len(digest) {
		copy(digest[:], raw)
	}
	if err := s.reads(who, digest); err != nil {
		if !s.c.Leading() {
			return nil, s.c.notLeader()
		}
		s.c.log.Warn("a result was not given out", string(who.Role), who.Name, "study", digest)
		return nil, err
	}
	// A release of it is in memory until the call ends: one of each client's.
	place := s.c.placeOf(who.Name)
	select {
	case place <- struct{}{}:
		context.AfterFunc(ctx, func() { <-place })
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	select {
	case s.c.reading <- struct{}{}:
		defer func() { <-s.c.reading }()
	case <-ctx.Done(): // a caller that hung up takes no place
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	write, err := s.c.ResultFile(digest)
	if err != nil {
		s.c.log.Error("a result cannot be put together", "study", digest, "error", err)
		return nil, status.Error(codes.Internal, "the result cannot be put together")
	}
	return func(to io.Writer) error {
		counted := &counter{to: to}
		err := write(counted)
		log := s.c.log.With(string(who.Role), who.Name, "study", digest, "bytes", counted.n)
		switch {
		case err == nil:
			log.Info("a result was given out")
		case counted.err != nil: // a client that hangs up has read what came before
			log.Info("a result was given out in part", "error", counted.err)
		default:
			log.Info("a result was given out in part", "error", "it cannot be put together")
			err = status.Error(codes.Internal, "the result cannot be put together")
		}
		return err
	}, nil
}

// counter counts the bytes that it passes on, and keeps an error of that.
type counter struct {
	to  io.Writer
	n   int
	err error
}

func (c *counter) Write(p []byte) (n int, err error) {
	n, err = c.to.Write(p)
	c.n, c.err = c.n+n, err
	return n, err
}

// placeOf returns the place of a client's one result at a time. There are no more of them than
// clients that have joined.
func (c *Coordinator) placeOf(client string) chan struct{} {
	m := c.machine.lock()
	defer c.machine.unlock()
	place := m.places[client]
	if place == nil {
		place = make(chan struct{}, 1)
		m.places[client] = place
	}
	return place
}

// reads returns an error unless a client may read the result of a study, and there is one. A site
// stands in the roster, an analyst is the proposer or a reader, by its name and by the identity key
// that it has now, since another party may have joined under the name of one that was revoked.
func (s server) reads(who admission.Client, digest proposal.Digest) error {
	m := s.c.machine.lock()
	defer s.c.machine.unlock()
	r, ok := m.find(digest)
	if who.Role == pki.RoleAnalyst {
		told, ok := audience{m, who, s.c.now()}.of(digest)
		switch {
		case !ok:
			return errNoStudy
		case told.Phase != wire.PhaseCompleted || r.Status() != round.StatusCompleted:
			return status.Error(codes.NotFound, "the study has no result, or not yet")
		}
		return nil
	}
	if !ok || r.Status() != round.StatusCompleted ||
		!slices.ContainsFunc(r.Proposal().Roster, func(member proposal.Member) bool {
			return member.Name == who.Name && slices.Equal(member.Identity, who.Identity)
		}) {
		return errNoResult
	}
	return nil
}
