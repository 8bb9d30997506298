package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	shared "covey/cmd/internal/cli"
	"covey/internal/coordinator"
	"covey/internal/operator"
	"covey/internal/outline"
	"covey/internal/round"
	"covey/internal/study"
)

// TestProgressFits: on a terminal every line is shorter than the terminal is wide, so that the next
// one writes over it, and says for whom the study waits and until when before what can be cut off.
func TestProgressFits(t *testing.T) {
	noise := 0.009
	v := outline.View{
		Status: round.StatusRunning, Kind: study.KindPower, Round: 2, Rounds: 12, Released: 4, Queries: 21, Epsilon: 1, Rho: 0.07, RhoPlanned: 1,
		NoiseToSignal: &noise, Waiting: []string{"good"}, Deadline: time.Now().Add(time.Hour),
		Sites: []outline.SiteView{{Name: "fair", Connected: true}, {Name: "good"}, {Name: "very-good", Connected: true}},
	}
	until := "waiting for good, due by " + v.Deadline.Local().Format(time.TimeOnly)
	for _, width := range []int{1, 20, 60, 80, 200} {
		var out bytes.Buffer
		p := &progress{&shared.Progress{Out: &out, Width: func() int { return width }}}
		p.see(v)
		line := strings.TrimSuffix(strings.TrimPrefix(out.String(), "\r"), "\x1b[K")
		if n := utf8.RuneCountInString(line); n >= max(width, 2) || strings.ContainsAny(line, "\r\n") {
			t.Errorf("%d columns: a line of %d: %q", width, n, line)
		}
		if width >= 80 && !strings.Contains(line, until) {
			t.Errorf("%d columns: %q lacks %q", width, line, until)
		}
		out.Reset()
		if p.Clear(); out.String() != "\r\x1b[K" {
			t.Errorf("%d columns: cleared by %q", width, out.String())
		}
	}
}

// TestDescribeWaits: whoever is awaited is named, with the end of the wait or that it has none.
func TestDescribeWaits(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	sites := []outline.SiteView{{Name: "north", Connected: true}, {Name: "south"}, {Name: "refuses", Connected: true, Unsigned: study.CodeBadResult},
		{Name: "east", Connected: true, Refused: study.CodeData}, {Name: "west", Barred: "revoked"}}
	for _, c := range []struct {
		view outline.View
		want string
	}{
		{outline.View{Status: round.StatusProposed, Waiting: []string{"north"}}, "waiting for approval by north, with no deadline"},
		{outline.View{Status: round.StatusSetup, Waiting: []string{"north", "south"}}, "waiting for south, until approvals expire"},
		{outline.View{Status: round.StatusRunning, Waiting: []string{"south"}, Deadline: at}, "waiting for south, overdue since 03:04:05"},
		{outline.View{Status: round.StatusRunning, Waiting: []string{"north"}, Deadline: at, Overdue: true}, "waiting for north, overdue since 03:04:05"},
		{outline.View{Status: round.StatusRunning, Waiting: []string{"south"}}, "waiting for south, without refuses (bad_result), east (data), west (revoked), 3/5 sites"},
		{outline.View{Status: round.StatusRunning}, "without south (away), refuses (bad_result), east (data), west (revoked), 3/5 sites"},
		{outline.View{Status: round.StatusSigning, Released: 21}, "all 21 queries released, waiting for the sites to sign the result, with no deadline, 3/5 sites"},
		{outline.View{Status: round.StatusSigning, Waiting: []string{"north", "south"}}, "waiting for south to sign"},
		{outline.View{Status: round.StatusSigning, Waiting: []string{"refuses"}}, "waiting for refuses (bad_result) to sign"},
		{outline.View{Status: round.StatusRunning, Waiting: []string{"north", "east"}}, "waiting for east (data), without"},
		{outline.View{Status: round.StatusRunning, Waiting: []string{"north", "west"}}, "waiting for west (revoked, cannot come back: abort the study), without"},
		{outline.View{Status: round.StatusProposed, Waiting: []string{"north", "west"}}, "waiting for approval by north, west (revoked, cannot come back: abort the study), with"},
		{outline.View{Status: round.StatusRunning, Waiting: []string{"north", "east"}, Overdue: true, Deadline: at}, "waiting for north, east (data), overdue"},
		{outline.View{Status: round.StatusEnded, Released: 4, Queries: 21, Rounds: 12}, "ended after 4 of 21 queries"},
		{outline.View{Status: round.StatusEnded, Queries: 21, Epsilon: 1, RhoAsked: 0.25, RhoPlanned: 1}, "ε = 1 (at most 25% charged)"},
		{outline.View{Status: round.StatusEnded, Queries: 21, Epsilon: 1, RhoPlanned: 1}, "ε = 1 (0% charged)"},
		{outline.View{Status: round.StatusEnded, Queries: 21, Epsilon: 1, Rho: 0.004, RhoPlanned: 1}, "ε = 1 (< 1% charged)"},
	} {
		c.view.Sites = sites
		if got := describe(c.view); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q in it", got, c.want)
		}
	}
}

// TestWatchInterrupted: whoever stops watching is told that the study goes on, and not that the
// coordinator stopped.
func TestWatchInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	dir := serveSocket(t, func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(outline.View{Status: round.StatusProposed, Waiting: []string{"north"}})
		http.NewResponseController(w).Flush()
		interrupt()
		<-r.Context().Done()
	})
	var out bytes.Buffer
	watch := watchCmd{studyRef{Study: "weights"}}
	err := watch.Run(&terminal{&shared.Terminal{Ctx: ctx, Out: io.Discard, Err: &out}, dir})
	if err == nil || !strings.Contains(err.Error(), "the study goes on") || strings.Contains(err.Error(), "coordinator stopped") || badInput(err) || shared.Is[*shared.InputError](err) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestWatchBeforeALeader: a watch that has seen no leader yet waits for one, too.
func TestWatchBeforeALeader(t *testing.T) {
	asked := 0
	dir := serveSocket(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; asked == 1 {
			operator.Reply(w, nil, coordinator.ErrNotLeader)
			return
		}
		json.NewEncoder(w).Encode(outline.View{Status: round.StatusCompleted})
	})
	var out bytes.Buffer
	watch := watchCmd{studyRef{Study: "weights"}}
	if err := watch.Run(&terminal{&shared.Terminal{Ctx: t.Context(), Out: io.Discard, Err: &out}, dir}); err != nil || !strings.Contains(out.String(), "no coordinator leads; looking for one until") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestListNeverGoesBack: what the list shows of a study's course only grows, where rounds begin
// anew for the next component and queries without rounds follow them.
func TestListNeverGoesBack(t *testing.T) {
	course := []outline.View{
		{Status: round.StatusRunning, Kind: study.KindPower, Round: 11, Rounds: 12, Runs: 2, Released: 11, Queries: 25},
		{Status: round.StatusRunning, Kind: study.KindPower, Run: 1, Rounds: 12, Runs: 2, Released: 12, Queries: 25},
		{Status: round.StatusRunning, Kind: study.KindVariance, Rounds: 12, Runs: 2, Released: 24, Queries: 25},
		{Status: round.StatusSigning, Rounds: 12, Released: 25, Queries: 25},
		{Status: round.StatusCompleted, Round: 24, Rounds: 12, Released: 25, Queries: 25},
		{Status: round.StatusEnded, Released: 3, Queries: 25},
	}
	dir := serveSocket(t, func(w http.ResponseWriter, r *http.Request) { json.NewEncoder(w).Encode(course) })
	var out bytes.Buffer
	if err := new(studiesCmd).Run(&terminal{&shared.Terminal{Ctx: t.Context(), Out: &out, Err: io.Discard}, dir}); err != nil {
		t.Fatal(err)
	}
	if got, want := regexp.MustCompile(`\d+/\d+`).FindAllString(out.String(), -1), []string{"11/25", "12/25", "24/25", "25/25", "25/25", "3/25"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v of\n%s", got, want, out.String())
	}
}
