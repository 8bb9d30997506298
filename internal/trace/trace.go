// Package trace reports to an OpenTelemetry collector how long a study's rounds took: one trace per
// study and one span per query, with the waits for uploads, for signatures and for the opening. It
// reads the journal of what was committed, so that its times are those of the log and its
// attributes are codes and numbers that are public.
//
// Opening, adding noise and committing are one span: how long the sampler took depends on
// what it drew, which is why releases leave on a tick (docs/privacy.md), and a span of its
// own would tell it after all.
package trace

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
)

// Source is the coordinator that is traced. *coordinator.Coordinator is one.
type Source interface {
	Overview(most int) outline.Overview
	Story(proposal.Digest) (outline.Story, bool)
	Changed() <-chan struct{}
}

// instrument is the name of the spans' instrumentation.
const instrument = "covey"

// rest is the shortest time between two looks.
const rest = time.Second

// look is how many happenings are looked at: more than come in between.
const look = 1000

// newReader begins: what was committed before is another's to tell.
func newReader(s Source, t trace.Tracer) *reader {
	r := &reader{s: s, t: t, open: map[proposal.Digest]*progress{}}
	r.read(context.Background(), s.Overview(look).Happenings, false)
	return r
}

// run emits spans while this coordinator leads, until ctx ends: each query's when its
// release is committed, and a study's at its end. What was committed before
// this coordinator led is another's to tell.
func (r *reader) run(ctx context.Context) {
	for {
		changed := r.s.Changed()
		o := r.s.Overview(look)
		r.read(ctx, o.Happenings, o.Leading)
		wait := changed
		if !o.Leading {
			wait = nil
		}
		select {
		case <-wait:
		case <-time.After(rest):
			continue
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return
		}
	}
}

// reader goes over the journal. It takes each line once, in the order of the log, whatever the
// clocks of those who led say, and keeps what it has read of a study: links that come and go all
// day push its beginning out of what is looked at.
type reader struct {
	s    Source
	t    trace.Tracer
	last outline.Happening // that was read
	open map[proposal.Digest]*progress
}

// read reads what is new. It emits spans only where tell is true.
func (r *reader) read(ctx context.Context, newestFirst []outline.Happening, tell bool) {
	var news []outline.Happening
	for _, h := range newestFirst {
		if h == r.last {
			break
		}
		// a fault is this coordinator's own
		if h.Study != (proposal.Digest{}) && h.Kind != outline.HappenedFault && !h.At.IsZero() {
			news = append(news, h)
		}
	}
	for _, h := range slices.Backward(news) {
		r.last = h
		p := r.open[h.Study]
		if p == nil {
			p = &progress{}
			r.open[h.Study] = p
		}
		switch h.Kind {
		case string(round.EntryProposed):
			p.proposed = h.At
		case string(round.EntryPrepared):
			p.begun = h.At
		case string(round.EntrySurvivors):
			p.survivors, p.sites, p.signed = h.At, h.Sites, time.Time{}
		case string(round.EntryOpening):
			p.signed = h.At
		case string(round.EntryAbandoned):
			p.abandoned = append(p.abandoned, h)
			p.survivors, p.signed = time.Time{}, time.Time{}
		case string(round.EntryReleased):
			if tell && !p.begun.IsZero() {
				query(ctx, r.s, r.t, h, *p)
			}
			*p = progress{proposed: p.proposed, begun: h.At}
		case string(round.EntryEnded), outline.HappenedCompleted:
			if tell && !p.proposed.IsZero() {
				whole(ctx, r.s, r.t, h, p.proposed)
			}
		}
	}
}

// progress is what is known of a study's open query; zero times are not known.
type progress struct {
	proposed, begun, survivors, signed time.Time
	sites                              int
	abandoned                          []outline.Happening
}

// query emits a released query's spans.
func query(ctx context.Context, s Source, t trace.Tracer, h outline.Happening, p progress) {
	attributes := []attribute.KeyValue{
		attribute.String("covey.study", h.Study.String()), attribute.Int("covey.query", h.Query), attribute.Int("covey.slot", h.Slot),
		attribute.Int("covey.retried", len(p.abandoned)),
	}
	if story, ok := s.Story(h.Study); ok && h.Query < len(story.Plan.Queries) {
		q := story.Plan.Queries[h.Query]
		if story.Plan.Thresholds.Whole() {
			p.sites = story.Plan.Thresholds.Sites
		}
		attributes = append(attributes, attribute.String("covey.kind", string(q.Kind)), attribute.Int("covey.round", q.Round), attribute.Int("covey.sites", story.Plan.Thresholds.Sites))
	}
	attributes = append(attributes, attribute.Int("covey.survivors", p.sites))
	ctx, span := t.Start(under(ctx, h.Study), "query", trace.WithTimestamp(p.begun), trace.WithAttributes(attributes...))
	for _, a := range p.abandoned {
		span.AddEvent("slot given up", trace.WithTimestamp(a.At), trace.WithAttributes(attribute.Int("covey.slot", a.Slot)))
	}
	part := func(name string, begin, end time.Time) {
		if !begin.IsZero() && !end.IsZero() {
			_, child := t.Start(ctx, name, trace.WithTimestamp(begin))
			child.End(trace.WithTimestamp(end))
		}
	}
	if p.survivors.IsZero() { // all sites, which sign as they upload
		part("upload and sign", p.begun, p.signed)
	}
	part("upload wait", p.begun, p.survivors)
	part("sign", p.survivors, p.signed)
	part("open, noise, commit", p.signed, h.At)
	span.End(trace.WithTimestamp(h.At))
}

// whole emits a study's span, the parent of its queries'.
func whole(ctx context.Context, s Source, t trace.Tracer, h outline.Happening, proposed time.Time) {
	attributes := []attribute.KeyValue{attribute.String("covey.study", h.Study.String()), attribute.String("covey.code", string(h.Code))}
	if story, ok := s.Story(h.Study); ok {
		attributes = append(attributes, attribute.String("covey.name", story.Name), attribute.Int("covey.queries", story.Released), attribute.Int("covey.sites", story.Plan.Thresholds.Sites))
	}
	_, span := t.Start(context.WithValue(ctx, rootKey{}, h.Study), "study", trace.WithNewRoot(), trace.WithTimestamp(proposed), trace.WithAttributes(attributes...))
	if h.Kind != outline.HappenedCompleted {
		span.SetStatus(codes.Error, string(h.Code))
	}
	span.End(trace.WithTimestamp(h.At))
}

// under makes a study's span the parent, whichever coordinator emits that.
func under(ctx context.Context, d proposal.Digest) context.Context {
	id, root := ids(d)
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: root, TraceFlags: trace.FlagsSampled, Remote: true}))
}

// ids of a study's trace and span come from its digest: every coordinator has the same.
func ids(d proposal.Digest) (trace.TraceID, trace.SpanID) {
	return trace.TraceID(d[:16]), trace.SpanID(d[16:24])
}

type rootKey struct{}

// generator gives a study's span its own identifiers, and random ones to all others.
type generator struct{}

func (generator) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	if d, ok := ctx.Value(rootKey{}).(proposal.Digest); ok {
		return ids(d)
	}
	rand.Read(id[:])
	rand.Read(span[:])
	return id, span
}

func (generator) NewSpanID(context.Context, trace.TraceID) (span trace.SpanID) {
	rand.Read(span[:])
	return span
}
