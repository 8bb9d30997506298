package fed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
)

// Connected waits until every site of the spec offers its rows.
func (f *Federation) Connected(spec proposal.Spec) error {
	_, err := Retry(f, func() ([]proposal.Member, error) {
		leader, err := f.lead()
		if err != nil {
			return nil, err
		}
		return leader.Coordinator.Roster(spec)
	})
	return err
}

// Create proposes a study of the spec's sites, or of all, once they are connected, through whoever
// leads.
func (f *Federation) Create(spec proposal.Spec) (proposal.Digest, error) {
	return f.CreateWithin(spec, f.o.Patience)
}

// CreateWithin is Create with a patience of its own.
func (f *Federation) CreateWithin(spec proposal.Spec, limit time.Duration) (d proposal.Digest, err error) {
	if spec.Sites == nil {
		spec.Sites = f.o.Sites
	}
	var bad *proposal.FieldError
	lost := false // an answer may have been
	d, err = RetryFor(f, limit, func() (proposal.Digest, error) {
		leader, err := f.lead()
		if err != nil {
			return d, err
		}
		if d, err := leader.Coordinator.Find(spec.Name); lost && err == nil {
			return d, nil
		}
		plan, err := leader.Coordinator.Create(spec)
		at, refused := errors.AsType[*proposal.FieldError](err)
		switch lost = lost || !refused; {
		case err == nil:
			return plan.Digest, nil
		case refused && at.Field != "sites": // for more than want of a link
			bad = at
			return d, nil
		}
		return d, err
	})
	if bad != nil {
		return d, bad
	}
	return d, err
}

// Over reports whether a study has ended, in whatever way.
func Over(v outline.View) bool {
	return v.Status == round.StatusCompleted || v.Status == round.StatusEnded
}

// Until waits until something is so of a study, as who leads then sees it.
func (f *Federation) Until(d proposal.Digest, limit time.Duration, what func(outline.View) bool) (v outline.View, err error) {
	return RetryFor(f, limit, func() (outline.View, error) {
		n, err := f.lead()
		if err != nil {
			return v, err
		}
		if v = n.Coordinator.View(d); !what(v) {
			return v, errNotYet
		}
		return v, nil
	})
}

// Study runs a study to its result. began is called when every site has approved, which means that
// all rows are in memory; see, if not nil, with every view from then on and its time.
func (f *Federation) Study(ctx context.Context, spec proposal.Spec, began func(), see func(time.Time, outline.View)) error {
	d, err := f.Create(spec)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(f.ctx, func() { stop(context.Cause(f.ctx)) })()
	var last outline.View
	started := false
	err = f.Leader().Coordinator.Watch(ctx, d, func(v outline.View) error {
		now := time.Now()
		if last = v; v.Status == round.StatusProposed {
			return nil
		}
		if !started {
			started = true
			began()
		}
		if see != nil {
			see(now, v)
		}
		return nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if err == nil && last.Status != round.StatusCompleted {
		err = fmt.Errorf("the study ended: %s %s", last.Code, last.Culprit)
	}
	return err
}
