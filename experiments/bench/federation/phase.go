package federation

import (
	"slices"
	"time"

	"covey/internal/coordinator"
	"covey/internal/round"
)

// Trace says where a study's time went, by what its operator can see of it.
type Trace struct {
	Quorum int // of the study's thresholds
	// Setup is until the first query is open, Queries one an entry: from its being open to its
	// release's commit.
	Setup   time.Duration
	Queries []time.Duration
	// Parts are where all queries' time went, by the names of Parts.
	Parts map[string]time.Duration

	at   time.Time // of the last view
	view coordinator.View
	open time.Time // when the open query was first seen
}

// The parts of a query that everybody answers. Where U is known before the uploads (on_dropout = "wait"), its
// commit and the signatures go on beside the answers.
const (
	Answers     = "answers: the query's way, kernel, mask, fsync"
	Survivors   = "survivors' commit"
	Signatures  = "signatures: a trip, fsync"
	Certificate = "certificate's commit"
	Shares      = "shares: a trip, fsync, their checks"
	Opening     = "sum opened, noise, tick, release's commit"
)

// Parts are those names in order.
var Parts = []string{Answers, Survivors, Signatures, Certificate, Shares, Opening}

// See takes a view and the time since the one before to its account.
func (t *Trace) See(now time.Time, v coordinator.View) {
	before := t.view
	switch {
	case t.at.IsZero():
		t.open = now
	case before.Status == round.StatusSetup:
		t.Setup += now.Sub(t.at)
	case before.Status == round.StatusRunning:
		if t.Parts == nil {
			t.Parts = map[string]time.Duration{}
		}
		t.Parts[t.part(before)] += now.Sub(t.at)
	}
	if before.Status != v.Status || before.Query != v.Query {
		if before.Status == round.StatusRunning {
			t.Queries = append(t.Queries, now.Sub(t.open))
		}
		t.open = now
	}
	t.at, t.view = now, v
}

// part says what a running study is at.
func (t *Trace) part(v coordinator.View) string {
	enough := len(v.Sites)-len(v.Waiting) >= t.Quorum
	away := slices.ContainsFunc(v.Sites, func(s coordinator.SiteView) bool { return !s.Uploaded })
	switch {
	case v.Phase == "open" && enough:
		return Opening
	case v.Phase == "open":
		return Shares
	case away:
		return Answers
	case v.Phase == "upload":
		return Survivors
	case enough:
		return Certificate
	}
	return Signatures
}
