package bench

import (
	"slices"
	"testing"
	"time"

	"covey/internal/outline"
	"covey/internal/round"
)

// trace is where a study's time went, by what its operator can see of it.
type trace struct {
	quorum int // of the study's thresholds
	// setup lasts until the first query is open, and result from the last release until it is
	// signed. queries has an entry for each, from its being open to its release's commit.
	setup, result time.Duration
	queries       []time.Duration
	spent         map[string]time.Duration // on each of phases, over all queries

	at   time.Time // of the last view
	view outline.View
	open time.Time // when the open query was first seen
}

// phases are the parts of a query in order. Where U is known before the uploads (on_dropout =
// "wait"), its commit, the signatures, their certificate and shares go on at the same time as the
// answers; what is left of them when the last answer is in shows here.
var phases = []string{answers, survivors, signatures, certificate, shares, opening}

const (
	answers     = "answers"     // the query's way, kernel, mask, fsync
	survivors   = "survivors"   // their commit
	signatures  = "signatures"  // a trip, fsync
	certificate = "certificate" // its commit
	shares      = "shares"      // a trip, fsync, their checks
	opening     = "opening"     // sum opened, noise, tick, release's commit
)

// see takes a view, and adds the time since the last one to where that was.
func (t *trace) see(now time.Time, v outline.View) {
	before := t.view
	switch {
	case t.at.IsZero():
		t.open = now
	case before.Status == round.StatusSetup:
		t.setup += now.Sub(t.at)
	case before.Status == round.StatusRunning:
		if t.spent == nil {
			t.spent = map[string]time.Duration{}
		}
		t.spent[t.phase(before)] += now.Sub(t.at)
	case before.Status == round.StatusSigning:
		t.result += now.Sub(t.at)
	}
	if before.Status != v.Status || before.Query != v.Query {
		if before.Status == round.StatusRunning {
			t.queries = append(t.queries, now.Sub(t.open))
		}
		t.open = now
	}
	t.at, t.view = now, v
}

// phase returns what a running study is at.
func (t *trace) phase(v outline.View) string {
	enough := len(v.Sites)-len(v.Waiting) >= t.quorum
	away := slices.ContainsFunc(v.Sites, func(s outline.SiteView) bool { return !s.Uploaded })
	switch {
	case v.Phase == "open" && enough:
		return opening
	case v.Phase == "open":
		return shares
	case away:
		return answers
	case v.Phase == "upload":
		return survivors
	case enough:
		return certificate
	}
	return signatures
}

// TestTrace: every moment of a study goes to one phase.
func TestTrace(t *testing.T) {
	start := time.Unix(0, 0)
	seen := trace{quorum: 2}
	sites := func(uploaded ...bool) (out []outline.SiteView) {
		for _, u := range uploaded {
			out = append(out, outline.SiteView{Uploaded: u})
		}
		return out
	}
	none, every := sites(false, false, false), sites(true, true, true)
	all := []string{"a", "b", "c"}
	for i, v := range []outline.View{
		{Status: round.StatusSetup},
		{Status: round.StatusRunning, Phase: "upload", Sites: none, Waiting: all},
		{Status: round.StatusRunning, Phase: "sign", Sites: none, Waiting: all},
		{Status: round.StatusRunning, Phase: "sign", Sites: every, Waiting: all},
		{Status: round.StatusRunning, Phase: "sign", Sites: every, Waiting: all[:1]},
		{Status: round.StatusRunning, Phase: "open", Sites: every, Waiting: all},
		{Status: round.StatusRunning, Phase: "open", Sites: every},
		{Status: round.StatusRunning, Phase: "upload", Sites: every, Query: 1},
		{Status: round.StatusSigning, Query: 2},
		{Status: round.StatusCompleted, Query: 2},
	} {
		seen.see(start.Add(time.Second<<i), v)
	}
	if seen.setup != time.Second || seen.result != 256*time.Second || len(seen.queries) != 2 || seen.queries[0] != 126*time.Second || seen.queries[1] != 128*time.Second {
		t.Errorf("%+v", seen)
	}
	for phase, want := range map[string]time.Duration{answers: 2 + 4, signatures: 8, certificate: 16, shares: 32, opening: 64, survivors: 128} {
		if got := seen.spent[phase]; got != want*time.Second {
			t.Errorf("%s: %v, not %d s", phase, got, want)
		}
	}
}
