package analyst

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc"

	"covey/internal/proposal"
	"covey/internal/wire"
)

// List returns this analyst's studies and those that it may read.
func (c *Client) List(ctx context.Context) (all []wire.Told, err error) {
	err = c.call(ctx, callTime, func(ctx context.Context, conn *grpc.ClientConn) (err error) {
		all, err = wire.CallList(ctx, conn)
		return err
	})
	return all, err
}

// Find returns the study that a person's word means: a whole digest, the beginning of one of at
// least 4 digits, or a name. Of several studies of one's own it means the one that is not over, or
// else the one that completed: who proposes again what failed uses the same name. The error is an
// [*UnknownStudyError] or a call's.
func (c *Client) Find(ctx context.Context, ref string) (wire.Told, error) {
	all, err := c.List(ctx)
	if err != nil {
		return wire.Told{}, err
	}
	var found []wire.Told
	var digests []proposal.Digest
	for _, t := range all {
		if proposal.Refers(ref, t.Study, t.Name) {
			found, digests = append(found, t), append(digests, t.Study)
		}
	}
	if len(found) > 1 && !slices.ContainsFunc(found, func(t wire.Told) bool { return !t.Own }) {
		over := func(t wire.Told) bool { return t.Phase == wire.PhaseEnded || t.Phase == wire.PhaseCompleted }
		ended := func(t wire.Told) bool { return t.Phase == wire.PhaseEnded }
		for _, out := range []func(wire.Told) bool{over, ended} {
			if left := slices.DeleteFunc(slices.Clone(found), out); len(left) == 1 {
				return left[0], nil
			}
		}
	}
	if len(found) != 1 {
		return wire.Told{}, &UnknownStudyError{Ref: ref, Matches: digests, Signed: c.signed(ref)}
	}
	return found[0], nil
}

// Study returns what the coordinator says of a study now.
func (c *Client) Study(ctx context.Context, id proposal.Digest) (told wire.Told, err error) {
	err = c.call(ctx, callTime, func(ctx context.Context, conn *grpc.ClientConn) error {
		return wire.CallWatch(ctx, conn, id, true, func(t wire.Told) error {
			told = t
			return about(t, id)
		})
	})
	if err == nil && told.Study != id {
		err = &AnswerError{"it says nothing of the study"}
	}
	return told, c.unknown(err, id)
}

// about refuses an answer about another study.
func about(t wire.Told, id proposal.Digest) error {
	if t.Study != id {
		return &AnswerError{"it is about study " + t.Study.String() + ", not " + id.String()}
	}
	return nil
}

// unknown names the study that a coordinator does not know.
func (c *Client) unknown(err error, id proposal.Digest) error {
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Unknown {
		return &UnknownStudyError{Ref: id.String(), Signed: c.signed(id.String())}
	}
	return err
}

// watchPatience is how long a watch looks for a coordinator that leads.
const watchPatience = time.Minute

// watchTime bounds one stream of a watch: studies wait for people, so that it is long.
const watchTime = 365 * 24 * time.Hour

// Watch calls see with a study now and after each change until it is over, through changes of the
// coordinator that leads: gone hears that one was lost and until when the next one is looked for.
// The error of see ends it.
func (c *Client) Watch(ctx context.Context, id proposal.Digest, see func(wire.Told) error, gone func(until time.Time)) error {
	var since time.Time // of the loss; zero: none
	over, reached := false, false
	var mine error // see's
	for {
		err := c.call(ctx, watchTime, func(ctx context.Context, conn *grpc.ClientConn) error {
			return wire.CallWatch(ctx, conn, id, false, func(t wire.Told) error {
				if mine = about(t, id); mine != nil {
					return mine
				}
				since, reached = time.Time{}, true
				over = Over(t.Phase)
				mine = see(t)
				return mine
			})
		})
		switch {
		case mine != nil:
			return mine
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && over:
			return nil
		case err == nil:
			err = errors.New("the coordinator ended the watch before the study was over")
		case !reached || !passing(err):
			return c.unknown(err, id)
		}
		if since.IsZero() {
			since = c.now()
			gone(since.Add(watchPatience))
		}
		if c.now().Sub(since) > watchPatience {
			return err
		}
		select {
		case <-time.After(4 * between):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Over reports whether a phase is a study's last.
func Over(p wire.Phase) bool { return p == wire.PhaseCompleted || p == wire.PhaseEnded }

// Withdraw ends a study of this analyst's own. What was charged stays charged.
func (c *Client) Withdraw(ctx context.Context, id proposal.Digest) error {
	err := c.call(ctx, callTime, func(ctx context.Context, conn *grpc.ClientConn) error {
		return wire.CallWithdraw(ctx, conn, id)
	})
	return c.unknown(err, id)
}
