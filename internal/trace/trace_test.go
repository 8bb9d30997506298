package trace

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"covey/internal/outline"
	"covey/internal/proposal"
	"covey/internal/round"
	"covey/internal/study"
)

// told is a coordinator with a journal that a test writes.
type told struct {
	mu      sync.Mutex
	leading bool
	all     []outline.Happening // the oldest first
	changed chan struct{}
	read    chan int // how many it had when they were read; nil where nobody asks
	window  int      // of what happened, how much an Overview has; 0 for all
	behind  time.Duration
	waits   bool // the study is for all sites
}

func (s *told) Overview(int) outline.Overview {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read != nil {
		s.read <- len(s.all)
	}
	all := slices.Clone(s.all)
	slices.Reverse(all)
	if s.window > 0 {
		all = all[:min(len(all), s.window)]
	}
	return outline.Overview{Leading: s.leading, Happenings: all}
}

func (s *told) Story(d proposal.Digest) (outline.Story, bool) {
	thresholds := proposal.Thresholds{Sites: 5}
	if s.waits {
		thresholds.MinSurvivors = 5
	}
	return outline.Story{
		View: outline.View{Name: "vitals", Released: 2},
		Plan: &study.Plan{Queries: []study.Query{{Kind: study.KindHistogram}, {Index: 1, Kind: study.KindPower, Round: 0}}, Thresholds: thresholds},
	}, true
}

func (s *told) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

func (s *told) add(kind string, h outline.Happening) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.At, h.Kind = time.Now().Add(-s.behind), kind
	s.all = append(s.all, h)
	close(s.changed)
	s.changed = make(chan struct{})
}

var digest = proposal.DigestOf([]byte("a study"))

// tell lets a study happen, a second a step.
func tell(s *told) {
	step := func(kind round.EntryKind, h outline.Happening) {
		time.Sleep(time.Second)
		h.Study = digest
		s.add(string(kind), h)
	}
	step(round.EntryProposed, outline.Happening{})
	step(round.EntryPrepared, outline.Happening{})
	step(round.EntrySurvivors, outline.Happening{Sites: 5})
	step(round.EntryOpening, outline.Happening{})
	step(round.EntryReleased, outline.Happening{})
	step(round.EntrySurvivors, outline.Happening{Query: 1, Slot: 1, Sites: 5})
	step(round.EntryAbandoned, outline.Happening{Query: 1, Slot: 1})
	step(round.EntrySurvivors, outline.Happening{Query: 1, Slot: 2, Sites: 4})
	step(round.EntryOpening, outline.Happening{Query: 1, Slot: 2})
	step(round.EntryReleased, outline.Happening{Query: 1, Slot: 2})
	s.add(outline.HappenedCompleted, outline.Happening{Study: digest, Code: study.CodeCompleted})
}

// named returns spans by name, in the order of their beginning.
func named(spans tracetest.SpanStubs, name string) []tracetest.SpanStub {
	var out []tracetest.SpanStub
	for _, s := range spans {
		if s.Name == name {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	return out
}

func value(s tracetest.SpanStub, key string) string {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// TestSpansOfAStudyThatWaits: no entry commits the survivors, who are all sites and sign as they
// upload.
func TestSpansOfAStudyThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := &told{leading: true, waits: true, changed: make(chan struct{})}, tracetest.NewInMemoryExporter()
		stop := start(s, "1", sdk.NewSimpleSpanProcessor(out))
		defer stop()
		for _, kind := range []round.EntryKind{round.EntryProposed, round.EntryPrepared, round.EntryOpening, round.EntryReleased} {
			time.Sleep(time.Second)
			s.add(string(kind), outline.Happening{Study: digest})
		}
		time.Sleep(time.Minute)
		spans := out.GetSpans()
		queries, parts := named(spans, "query"), named(spans, "upload and sign")
		if len(spans) != 3 || len(queries) != 1 || len(parts) != 1 || value(queries[0], "covey.survivors") != "5" || parts[0].EndTime.Sub(parts[0].StartTime) != time.Second {
			t.Errorf("%+v", spans)
		}
	})
}

// TestSpans: one trace a study, each span once, over the times of the log.
func TestSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := &told{leading: true, changed: make(chan struct{})}, tracetest.NewInMemoryExporter()
		stop := start(s, "1", sdk.NewSimpleSpanProcessor(out))
		defer stop()
		tell(s)
		time.Sleep(time.Minute)
		spans := out.GetSpans()
		whole, queries := named(spans, "study"), named(spans, "query")
		if len(whole) != 1 || len(queries) != 2 || len(spans) != 1+2+6 {
			t.Fatalf("%d studies, %d queries, %d spans", len(whole), len(queries), len(spans))
		}
		root := whole[0]
		if root.SpanContext.TraceID() != [16]byte(digest[:16]) || root.Parent.IsValid() || root.EndTime.Sub(root.StartTime) != 9*time.Second || root.Status.Code == codes.Error {
			t.Errorf("the study's: %+v", root)
		}
		for i, q := range queries {
			if q.SpanContext.TraceID() != root.SpanContext.TraceID() || q.Parent.SpanID() != root.SpanContext.SpanID() {
				t.Errorf("query %d is not under its study", i)
			}
		}
		if q := queries[0]; q.EndTime.Sub(q.StartTime) != 3*time.Second || value(q, "covey.kind") != "histogram" || value(q, "covey.survivors") != "5" || value(q, "covey.retried") != "0" {
			t.Errorf("the first: %+v", q)
		}
		if q := queries[1]; q.EndTime.Sub(q.StartTime) != 5*time.Second || value(q, "covey.slot") != "2" || value(q, "covey.survivors") != "4" || value(q, "covey.retried") != "1" || len(q.Events) != 1 {
			t.Errorf("the second: %+v", q)
		}
		for name, want := range map[string][]time.Duration{"upload wait": {time.Second, 3 * time.Second}, "sign": {time.Second, time.Second}, "open, noise, commit": {time.Second, time.Second}} {
			for i, part := range named(spans, name) {
				if part.EndTime.Sub(part.StartTime) != want[i] || part.Parent.SpanID() != queries[i].SpanContext.SpanID() {
					t.Errorf("%s of query %d: %v", name, i, part.EndTime.Sub(part.StartTime))
				}
			}
		}
	})
}

// TestLongStudy: what else happens pushes a study's beginning out of what is looked at, and clocks
// are put back; its spans are told all the same.
func TestLongStudy(t *testing.T) {
	for name, change := range map[string]func(*told, int){
		"a short window": func(s *told, _ int) { s.window = 3 },
		"a clock behind": func(s *told, step int) {
			if step > 3 {
				s.behind = time.Hour
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, out := &told{leading: true, changed: make(chan struct{})}, tracetest.NewInMemoryExporter()
				stop := start(s, "1", sdk.NewSimpleSpanProcessor(out))
				defer stop()
				go tell(s)
				for step := range 12 {
					s.mu.Lock()
					change(s, step)
					s.mu.Unlock()
					time.Sleep(time.Second)
				}
				time.Sleep(time.Minute)
				spans := out.GetSpans()
				if whole, queries := len(named(spans, "study")), len(named(spans, "query")); whole != 1 || queries != 2 || len(spans) != 1+2+6 {
					t.Errorf("%d studies, %d queries, %d spans", whole, queries, len(spans))
				}
			})
		})
	}
}

// TestOnlyTheLeaderTells: and not of what was committed before it led.
func TestOnlyTheLeaderTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := &told{changed: make(chan struct{})}, tracetest.NewInMemoryExporter()
		stop := start(s, "2", sdk.NewSimpleSpanProcessor(out))
		defer stop()
		tell(s)
		time.Sleep(time.Minute)
		if n := len(out.GetSpans()); n != 0 {
			t.Errorf("a follower told %d spans", n)
		}
		s.mu.Lock()
		s.leading = true
		s.mu.Unlock()
		time.Sleep(time.Minute)
		if n := len(out.GetSpans()); n != 0 {
			t.Errorf("%d spans of what was before", n)
		}
		s.add(string(round.EntryEnded), outline.Happening{Study: digest, Code: study.CodeAborted})
		time.Sleep(time.Minute)
		if got := out.GetSpans(); len(got) != 1 || got[0].Status.Code != codes.Error || value(got[0], "covey.code") != "aborted" {
			t.Errorf("%+v", got)
		}
	})
}

// TestExport: to the collector that the environment names; without one there is none.
func TestExport(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "")
	if Wanted() {
		t.Error("wanted without a collector")
	}
	got := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got <- r.URL.Path + " " + r.Header.Get("Content-Type") }))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	s := &told{leading: true, changed: make(chan struct{}), read: make(chan int, 100)}
	stop, err := Start(context.Background(), s, "1", slog.New(slog.DiscardHandler))
	if err != nil || !Wanted() {
		t.Fatal(err)
	}
	// Committed after the start, whatever the clocks' grain.
	s.mu.Lock()
	later := time.Now().Add(time.Hour)
	s.all = []outline.Happening{{At: later, Kind: string(round.EntryProposed), Study: digest}, {At: later.Add(1), Kind: string(round.EntryEnded), Study: digest}}
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	for n := range s.read { // once both are read, stop sends what follows from them
		if n == 2 {
			break
		}
	}
	stop()
	if path := <-got; path != "/v1/traces application/x-protobuf" {
		t.Errorf("the collector got %s", path)
	}
}
